//go:build unix && !(linux && amd64)

package backend

// librarySupported: the library is not published for this platform.
const librarySupported = false

const launchVariable = "BACKEND_CLICKHOUSE"

type launchArgs struct {
	Library, Dir, Config string
	HTTP, Native         int
}

func launchText(launchArgs) string { return "" }

// ServeClickHouse does nothing on this platform, where ClickHouse is a program.
func ServeClickHouse() {}
