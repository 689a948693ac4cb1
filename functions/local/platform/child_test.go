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
	"slices"
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
	Env    map[string]string
	Points []string // where it kills itself...
	Arms   string   // ...once each, if this folder has a file for the point
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
	if !slices.Contains(s.Points, point) || os.Remove(s.arm(point)) != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (s childSetup) arm(point string) string {
	return filepath.Join(s.Arms, strings.ReplaceAll(point, "/", "_"))
}

// crash runs the platform in a child. When the child has killed itself, time
// passes, and another child takes its place.
type crash struct {
	w     *world
	setup childSetup

	mu      sync.Mutex
	stopped bool
	armed   bool
	kill    func() // the present child
}

func crashAt(t *testing.T, points ...string) option {
	return func(w *world) {
		w.crash = &crash{w: w, setup: childSetup{Env: w.env, Points: points, Arms: t.TempDir()}}
		w.children = append(w.children, w.crash)
	}
}

// processes runs the platform in so many processes.
func processes(n int) option {
	return func(w *world) {
		for range n {
			w.children = append(w.children, &crash{w: w, setup: childSetup{Env: w.env}})
		}
	}
}

// arm lets a child die the next time that it comes to one of its points.
func (c *crash) arm() {
	c.w.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = true
	for _, point := range c.setup.Points {
		if err := os.WriteFile(c.setup.arm(point), nil, 0o600); err != nil {
			c.w.t.Fatal(err)
		}
	}
}

// missed lists the points to which no child came. The last may be right behind what a
// scenario waits for: it has ten seconds.
func (c *crash) missed() []string {
	over := time.After(10 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		left := c.left()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-over:
			return left
		case <-tick.C:
		}
	}
}

func (c *crash) left() (points []string) {
	for _, point := range c.setup.Points {
		if _, err := os.Stat(c.setup.arm(point)); err == nil || !c.armed {
			points = append(points, point)
		}
	}
	return points
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
	left := len(c.setup.Points)
	for {
		err := <-over
		c.w.front.remove(url)
		c.mu.Lock()
		missed := len(c.missed())
		if c.stopped || missed == left {
			if !c.stopped {
				c.w.t.Errorf("a child ended by itself: %v", err)
			}
			c.mu.Unlock()
			return
		}
		left = missed
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
