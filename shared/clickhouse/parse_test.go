package clickhouse

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		address string
		header  http.Header
	}{
		"https://user:p%40%3Aw@host/base":           {"https://host:8443/", http.Header{"X-Clickhouse-User": {"user"}, "X-Clickhouse-Key": {"p@:w"}, "X-Clickhouse-Database": {"base"}}},
		"http://host":                               {"http://host:8123/", http.Header{}},
		"http://host/":                              {"http://host:8123/", http.Header{}},
		"http://default@[::1]:18123/base":           {"http://[::1]:18123/", http.Header{"X-Clickhouse-User": {"default"}, "X-Clickhouse-Database": {"base"}}},
		"https://user:%D0%BF@host.example:443/база": {"https://host.example:443/", http.Header{"X-Clickhouse-User": {"user"}, "X-Clickhouse-Key": {"п"}, "X-Clickhouse-Database": {"база"}}},
	} {
		address, header, err := parse(env.NewSecret(url))
		if diff := cmp.Diff(want.header, header); diff != "" || address != want.address || err != nil {
			t.Errorf("%s: got %s, %v, headers (-want +got):\n%s", url, address, err, diff)
		}
	}
}
