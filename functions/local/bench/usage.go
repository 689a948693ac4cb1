package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// usage is what a process has taken so far.
type usage struct {
	CPU  time.Duration `json:"cpu"`
	Peak float64       `json:"peak"` // of its resident memory, megabytes
	Heap float64       `json:"heap"` // in use now, megabytes
}

// serveUsage says what this process has taken.
func serveUsage(w http.ResponseWriter, _ *http.Request) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_ = json.NewEncoder(w).Encode(usage{
		CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Peak: peak(r), Heap: float64(m.HeapInuse) / (1 << 20),
	})
}

// peak gives the most resident memory in megabytes. What Linux accounts (getrusage(2))
// begins with that of the process which started this one; proc(5) has this one's own.
func peak(r syscall.Rusage) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kilobytes float64
			if _, err := fmt.Sscan(after, &kilobytes); err == nil {
				return kilobytes / 1024
			}
		}
	}
	return float64(r.Maxrss) / 1024
}

// usage asks a measured process.
func (f *function) usage(ctx context.Context) (u usage, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/usage", nil)
	if err != nil {
		return u, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return u, fmt.Errorf("ask for usage: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&u); err != nil {
		return u, fmt.Errorf("ask for usage: %w", err)
	}
	return u, nil
}
