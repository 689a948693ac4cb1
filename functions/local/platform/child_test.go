package platform_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
)

// childConfig is the variable that makes a test process a child: a platform, whole,
// on the parent's databases and services, with a queue of its own.
const childConfig = "PLATFORM_TEST_CHILD"

type childSetup struct {
	Env   map[string]string
	Point string // where it kills itself...
	Arm   string // ...once, if this file is there
}

func child() {
	var s childSetup
	if err := json.Unmarshal([]byte(os.Getenv(childConfig)), &s); err != nil {
		panic(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends, whatever it dies of
		os.Exit(0)
	}()
	p, err := platform.New(platform.Config{
		Lookup: func(name string) (string, bool) { v, ok := s.Env[name]; return v, ok },
		Log:    func(f string) *slog.Logger { return obs.NewLogger(os.Stderr, f, slog.LevelDebug) },
		Tick:   time.Second,
		Hook:   s.hook,
	})
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { panic(http.Serve(l, p.Handler)) }()
	fmt.Printf("http://%s\n", l.Addr())
	p.Run(context.Background())
}

// hook is the end of the process: nothing that it has not written is kept.
func (s childSetup) hook(point string) {
	if point != s.Point || os.Remove(s.Arm) != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// crash runs the platform in a child. When the child has killed itself, time
// passes, and another child takes its place.
type crash struct {
	w     *world
	setup childSetup
	hit   chan struct{} // closed when the first child is dead

	mu      sync.Mutex
	stopped bool
	kill    func() // the present child
}

func crashAt(t *testing.T, point string) option {
	return func(w *world) {
		w.crash = &crash{w: w, hit: make(chan struct{}), setup: childSetup{
			Env: w.env, Point: point, Arm: filepath.Join(t.TempDir(), "arm"),
		}}
	}
}

// arm lets the child die the next time that it comes to its point.
func (c *crash) arm() {
	c.w.t.Helper()
	if err := os.WriteFile(c.setup.Arm, nil, 0o600); err != nil {
		c.w.t.Fatal(err)
	}
}

func (c *crash) start() {
	c.w.t.Helper()
	url, over := c.child()
	done := make(chan struct{})
	c.w.t.Cleanup(func() {
		c.mu.Lock()
		c.stopped = true
		c.kill()
		c.mu.Unlock()
		<-done
	})
	go func() {
		defer close(done)
		c.supervise(url, over)
	}()
}

// supervise is what the cloud does: it starts the functions again.
func (c *crash) supervise(url string, over <-chan error) {
	for {
		err := <-over
		c.w.front.remove(url)
		c.mu.Lock()
		if c.stopped {
			c.mu.Unlock()
			return
		}
		select {
		case <-c.hit:
			c.w.t.Errorf("a child ended: %v", err)
			c.mu.Unlock()
			return
		default:
			close(c.hit)
		}
		if err := c.w.tryPass(2 * time.Minute); err != nil {
			c.w.t.Errorf("let time pass: %v", err)
		}
		url, over = c.child()
		c.mu.Unlock()
		c.w.telegram.Retry()
		c.w.vk.Kick()
	}
}

// child starts a child, and gives its address when it serves.
func (c *crash) child() (url string, over <-chan error) {
	raw, _ := json.Marshal(c.setup)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childConfig+"="+string(raw))
	cmd.Stderr = c.w.log
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		c.w.t.Error(err1, err2)
	}
	ended := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		c.w.t.Error(err)
		ended <- err
		return "", ended
	}
	c.kill = func() { _ = in.Close(); _ = cmd.Process.Kill() }
	url, _ = bufio.NewReader(out).ReadString('\n')
	url = strings.TrimSpace(url)
	c.w.front.add(url)
	go func() { ended <- cmd.Wait() }()
	return url, ended
}

// died says whether the child came to its point.
func (c *crash) died() bool {
	select {
	case <-c.hit:
		return true
	default:
		return false
	}
}
