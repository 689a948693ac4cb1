package bench

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
)

// What measured processes, and one beside them, are started with: bench serve.
const (
	serveCommand        = "serve"
	serveLoaderCommand  = "serve-loader"
	serveTrackerCommand = "serve-tracker"
)

func processes() map[string]func(ctx context.Context, args []string) error {
	return map[string]func(context.Context, []string) error{
		serveCommand: serve, serveLoaderCommand: serveLoader, serveTrackerCommand: serveTracker,
	}
}

// serve is the measured process: the functions, wired from the environment as in the
// cloud, behind plain HTTP. It prints its address and ends with its standard input.
func serve(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet(serveCommand, flag.ContinueOnError)
	work := flags.Bool("work", false, "run the workers and the timer too")
	queue := flags.String("queue", "", "the `address` of the queue; else it is the process's own")
	flags.StringVar(&o.profile, "profile", "", "a `folder` for a CPU profile")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg := platform.Config{
		Lookup: func(name string) (string, bool) { v, ok := os.LookupEnv(name); return v, ok && v != "" },
		Log:    func(f string) *slog.Logger { return obs.NewLogger(io.Discard, f, slog.LevelInfo) },
		Tick:   time.Second,
	}
	if *queue != "" {
		cfg.Queue = platform.RemoteQueue(*queue)
	}
	p, err := platform.New(cfg)
	if err != nil {
		return err
	}
	stop, err := o.profiled(fmt.Sprintf("serve-%d", os.Getpid()))
	if err != nil {
		return err
	}
	defer stop()
	mux := http.NewServeMux()
	mux.Handle("/telegram", whole(p.Telegram))
	mux.Handle("/vk", whole(p.VK))
	mux.Handle("/", p.Handler)
	mux.HandleFunc("GET /usage", serveUsage)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	if *work {
		running.Add(1)
		go func() { defer running.Done(); p.Run(ctx) }()
	}
	return present(mux, cancel)
}

// present prints an address and answers there until standard input ends.
func present(h http.Handler, ended func()) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended()
		_ = server.Close()
	}()
	fmt.Printf("http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// whole lets no answer leave before the handler returns, as in Cloud Functions: what
// is measured includes the replies to the customer.
func whole(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	})
}

// function is a measured process.
type function struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// startFunction starts this program again as a measured process.
func startFunction(ctx context.Context, vars map[string]string, args ...string) (*function, error) {
	return startProcess(ctx, serveCommand, vars, args...)
}

func startProcess(ctx context.Context, command string, vars map[string]string, args ...string) (*function, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"bench", command}, args...)...)
	for name, value := range vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start function: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start function: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start function: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start function: %w", errors.Join(err, cmd.Wait()))
	}
	return &function{url: strings.TrimSpace(line), cmd: cmd, stdin: stdin}, nil
}

func (f *function) stop() {
	_ = f.stdin.Close()
	_ = f.cmd.Wait()
}
