package backend

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// librarySupported: the library is published for this platform alone.
const librarySupported = true

const launchVariable = "BACKEND_CLICKHOUSE"

// launchArgs is what a process has to know to be the server.
type launchArgs struct {
	Library, Dir, Config string
	HTTP, Native         int // ports
}

func launchText(a launchArgs) string {
	text, _ := json.Marshal(a)
	return string(text)
}

// ServeClickHouse makes this process the server if ClickHouse has started it as
// one, and then never returns. It has to be the first thing that main, or TestMain,
// of a program does that calls ClickHouse.
//
// The library is ClickHouse's own local mode, which listens like a server and
// lives until its standard input ends. It runs in a process of its own because it
// takes the signals and the memory of the one that it is in.
func ServeClickHouse() {
	text := os.Getenv(launchVariable)
	if text == "" {
		return
	}
	var a launchArgs
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		fmt.Fprintln(os.Stderr, launchVariable, "cannot be read:", err)
		os.Exit(1)
	}
	if err := serveClickHouse(a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveClickHouse(a launchArgs) error {
	runtime.LockOSThread()
	if err := untilTerminated(); err != nil {
		return err
	}
	lib, err := purego.Dlopen(a.Library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("load ClickHouse: %w", err)
	}
	var handleSignals func(enabled int32)
	var run func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var failure func(result unsafe.Pointer) string
	purego.RegisterLibFunc(&handleSignals, lib, "chdb_set_signal_handlers_enabled")
	purego.RegisterLibFunc(&run, lib, "chdb_query_cmdline")
	purego.RegisterLibFunc(&failure, lib, "chdb_result_error")
	handleSignals(0)
	argv, free := pointers([]string{
		"clickhouse-local", "--config-file=" + a.Config, "--path=" + a.Dir + "/data",
		"--listen_host=127.0.0.1", "--http_port=" + strconv.Itoa(a.HTTP), "--tcp_port=" + strconv.Itoa(a.Native),
		"--structure=line String", "--input-format=LineAsString",
		"--query=SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; SELECT count() FROM table",
	})
	defer runtime.KeepAlive(free)
	if result := run(int32(len(argv)), unsafe.Pointer(&argv[0])); result != nil {
		if text := failure(result); text != "" {
			return fmt.Errorf("run ClickHouse: %s", text)
		}
	}
	return nil
}

// untilTerminated gives this process a standard input that ends with SIGTERM.
func untilTerminated() error {
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	if err := syscall.Dup2(int(in.Fd()), 0); err != nil {
		return fmt.Errorf("take standard input: %w", err)
	}
	_ = in.Close()
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGTERM)
	go func() {
		<-quit
		_ = out.Close()
	}()
	return nil
}

// pointers gives C's form of texts; kept has to be kept while it is used.
func pointers(texts []string) (argv []*byte, kept [][]byte) {
	for _, text := range texts {
		c := append([]byte(text), 0)
		kept = append(kept, c)
		argv = append(argv, &c[0])
	}
	return argv, kept
}
