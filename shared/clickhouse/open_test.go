package clickhouse_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
)

func TestOpen_WhatIsWrongWithTheAddress(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ url, want string }{
		"native":             {"clickhouse://user:canary@host:9440/db?secure=true", "native protocol; write that of HTTP instead: https://user:password@host:8443/database"},
		"tcp":                {"tcp://user:canary@host:9000/db", "native protocol"},
		"no address":         {"https://user:canary@host:port/db", "cannot be read"},
		"no host":            {"https://user:canary@/db", "another form than https://user:password@host:8443/database"},
		"no scheme":          {"host:8443/canary", "another form"},
		"another scheme":     {"postgres://user:canary@host/db", "another form"},
		"parameters":         {"https://user:pw@host:8443/db?password=canary", "another form"},
		"a path":             {"https://user:canary@host:8443/db/canary", "another form"},
		"a line's end in it": {"https://user:canary%0d%0a@host:8443/db", "control characters"},
		"none":               {"", "another form"},
	} {
		_, err := clickhouse.Open(clickhouse.Config{URL: env.NewSecret(test.url)})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "CLICKHOUSE_URL") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error %v, want one with %q that repeats no password", name, err, test.want)
		}
	}
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"CLICKHOUSE_URL": "https://host/db", "CLICKHOUSE_CLUSTER": "c", "CLICKHOUSE_CA": "/ca.pem"}
	e := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	want := clickhouse.Config{URL: env.NewSecret("https://host/db"), Cluster: "c", CA: "/ca.pem"}
	if got := clickhouse.ConfigFrom(e); got != want || e.Err() != nil {
		t.Errorf("got %+v, %v", got, e.Err())
	}
}

// A managed ClickHouse has a certificate that no machine trusts by itself.
func TestOpen_CertificateOfItsOwn(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	srv.Config.ErrorLog = nobody
	srv.StartTLS()
	t.Cleanup(srv.Close)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	file := func(name string, data []byte) string {
		name = filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(name, data, 0o600))
		return name
	}
	url := env.NewSecret(strings.Replace(srv.URL, "https://", "https://user:canary@", 1))
	for name, ca := range map[string]string{"a file": file("ca.pem", text), "the text": string(text)} {
		if err := open(t, clickhouse.Config{URL: url, CA: ca}).Exec(ctx, "SELECT 1"); err != nil {
			t.Errorf("with its certificate, %s: %v", name, err)
		}
	}
	db := open(t, clickhouse.Config{URL: url})
	if err := db.Exec(ctx, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "canary") {
		t.Errorf("without: error %v", err)
	}
	for _, bad := range []string{"missing.pem", file("empty.pem", nil), file("half.pem", text[:60]), string(text[:60])} {
		if _, err := clickhouse.Open(clickhouse.Config{URL: url, CA: bad}); err == nil || !strings.Contains(err.Error(), "CLICKHOUSE_CA") || strings.Contains(err.Error(), "canary") {
			t.Errorf("error %v, want one that names the variable", err)
		}
	}
}

func open(t *testing.T, cfg clickhouse.Config) *clickhouse.DB {
	t.Helper()
	db, err := clickhouse.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
