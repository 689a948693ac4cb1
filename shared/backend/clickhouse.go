package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ClickHouse starts a ClickHouse and returns when it answers; its URL is one of
// HTTP, for the user default without a password. It is the library of the lock file
// in testdata/clickhouse, which runs in a copy of this very program (see
// ServeClickHouse), or else a binary named clickhouse on PATH.
//
// Options.Port is that of HTTP. Options.Settings are settings of the server
// (config.xml). Durable changes nothing: ClickHouse leaves it to the machine when
// files reach the disk.
func ClickHouse(ctx context.Context, opts Options) (*Server, error) {
	self := account{}
	run, err := clickHouseProgram()
	if err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	dir, owned, err := place(opts, "clickhouse", self)
	if err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	s := &Server{name: "ClickHouse", dir: dir, owned: owned, quit: syscall.SIGTERM, abort: syscall.SIGKILL}
	on := ports{}
	s.start = func() (*process, error) {
		if on.http != s.port { // another try, for one of the two was taken
			native, err := pickPort(0)
			if err != nil {
				return nil, err
			}
			on = ports{http: s.port, native: native}
		}
		s.url, s.nativeURL = fmt.Sprintf("http://default@127.0.0.1:%d/default", on.http), fmt.Sprintf("clickhouse://default@127.0.0.1:%d/default", on.native)
		config, err := writeClickHouse(dir, on, opts.Settings)
		if err != nil {
			return nil, err
		}
		path, args, env := run(dir, config, on)
		return launchWith(dir, self, syscall.SIGTERM, env, path, args...)
	}
	s.ready = func(ctx context.Context) error { return answersClickHouse(ctx, on) }
	return launchNew(ctx, s, opts.Port)
}

// ports are where it listens.
type ports struct{ http, native int }

// program gives what is to be run for a server with these files and ports.
type program func(dir, config string, on ports) (path string, args, env []string)

const installClickHouse = "npm ci in shared/backend/testdata/clickhouse on Linux (x86-64, glibc); elsewhere a clickhouse binary on PATH, " +
	"or CLICKHOUSE_URL for a server of your own"

func clickHouseProgram() (program, error) {
	lib, err := clickHouseLibrary()
	if err == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		return func(dir, config string, on ports) (string, []string, []string) {
			// A test binary that does not call ServeClickHouse must not run its tests.
			args := []string{"-test.run=^$"}
			return self, args, []string{launchVariable + "=" + launchText(launchArgs{lib, dir, config, on.http, on.native})}
		}, nil
	}
	path, none := exec.LookPath("clickhouse")
	if none != nil {
		return nil, err
	}
	return func(_, config string, _ ports) (string, []string, []string) {
		return path, []string{"server", "--config-file=" + config}, nil
	}, nil
}

// clickHouseLibrary finds the library below this module, from wherever in it the
// process runs.
func clickHouseLibrary() (string, error) {
	missing := fmt.Errorf("ClickHouse is %w: %s", ErrNotInstalled, installClickHouse)
	dir, err := os.Getwd()
	if err != nil || !librarySupported {
		return "", missing
	}
	for {
		installed := filepath.Join(dir, "shared", "backend", "testdata", "clickhouse", "node_modules")
		// npm writes this file when everything is unpacked.
		if _, err := os.Stat(filepath.Join(installed, ".package-lock.json")); err == nil {
			lib := filepath.Join(installed, "@chdb", "lib-linux-x64-gnu", "libchdb.so")
			if _, err := os.Stat(lib); err == nil {
				return lib, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", missing
		}
		dir = filepath.Dir(dir)
	}
}

// clickHouseConfig bounds the memory of a server, which otherwise takes what the
// machine has. The local mode takes address and ports from its arguments instead.
const clickHouseConfig = `<clickhouse>
	<logger><level>warning</level><log>%[1]s/clickhouse.log</log><errorlog>%[1]s/clickhouse.err.log</errorlog></logger>
	<path>%[1]s/data/</path>
	<tmp_path>%[1]s/data/tmp/</tmp_path>
	<listen_host>127.0.0.1</listen_host>
	<http_port>%[2]d</http_port>
	<tcp_port>%[3]d</tcp_port>
	<timezone>UTC</timezone>
	<users_config>%[1]s/users.xml</users_config>
	<max_server_memory_usage>%[4]d</max_server_memory_usage>
	<mark_cache_size>67108864</mark_cache_size>
%[5]s</clickhouse>
`

const clickHouseUsers = `<clickhouse>
	<users><default><password></password><networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
		<profile>default</profile><quota>default</quota></default></users>
	<profiles><default></default></profiles>
	<quotas><default></default></quotas>
</clickhouse>
`

const clickHouseMemory = 4 << 30

func writeClickHouse(dir string, on ports, settings map[string]string) (config string, err error) {
	var more string
	for name, value := range settings {
		more += "\t<" + name + ">" + value + "</" + name + ">\n"
	}
	config = filepath.Join(dir, "config.xml")
	return config, errors.Join(
		os.MkdirAll(filepath.Join(dir, "data"), 0o755),
		os.WriteFile(filepath.Join(dir, "users.xml"), []byte(clickHouseUsers), 0o600),
		os.WriteFile(config, fmt.Appendf(nil, clickHouseConfig, dir, on.http, on.native, clickHouseMemory, more), 0o600))
}

// answersClickHouse: it listens when everything else is done.
func answersClickHouse(ctx context.Context, on ports) error {
	for _, port := range []int{on.http, on.native} {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		_ = conn.Close()
	}
	return nil
}

// FreePort gives a port that is free now, for Options.Port of a server that starts
// later.
func FreePort() (int, error) { return pickPort(0) }
