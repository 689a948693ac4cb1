package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profiled writes a CPU profile of this process until stop is called, if profiles
// are wanted.
func (o options) profiled(name string) (stop func(), err error) {
	if o.profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(filepath.Join(o.profile, name+".pprof"))
	if err != nil {
		return nil, fmt.Errorf("make profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("start profile: %w", err)
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts only
	}
	return string(b)
}
