// Package clickhouse keeps analytics in ClickHouse: its schema and what is loaded.
//
// Tables are ReplacingMergeTree by the facts' own keys and versions, so an insert
// may be repeated after any crash. An insert is one block per table, it is not
// deduplicated by its content, and it is there when the call returns; one that broke
// off is whole or absent.
//
// It speaks ClickHouse's HTTP interface (clickhouse.com/docs/interfaces/http) with the
// standard library. Linking a client of the native protocol makes a function too
// large for the cloud's builder.
package clickhouse

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"supportbot/shared/env"
)

// Config says where the database is.
type Config struct {
	// URL is https://user:password@host:8443/database, or http://. Without a port it
	// is 8443, or 8123; without a database "default".
	URL env.Secret
	// Cluster is the name of the cluster on whose hosts tables are made, replicated;
	// "" for a single host.
	Cluster string
	// CA is certificates (PEM), or a file of them, that are trusted besides the machine's own; ""
	// for none. Those of Managed Service for ClickHouse are signed by the cloud's.
	CA string
}

// ConfigFrom reads CLICKHOUSE_URL, CLICKHOUSE_CLUSTER and CLICKHOUSE_CA.
func ConfigFrom(r *env.Reader) Config {
	return Config{
		URL: r.RequiredSecret("CLICKHOUSE_URL"), Cluster: r.String("CLICKHOUSE_CLUSTER", ""), CA: r.String("CLICKHOUSE_CA", ""),
	}
}

// DB is a client; it is safe for concurrent use.
type DB struct {
	http    *http.Client
	address string // with scheme and port, nothing else
	header  http.Header
	cluster string
}

const (
	dialTimeout = 5 * time.Second
	// idle is shorter than a server waits for the next request (10 s by default), so
	// that a call seldom meets a connection that is about to close.
	idle = 5 * time.Second
)

// Open prepares a client. It connects on first use.
func Open(cfg Config) (*DB, error) {
	address, header, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	trusted, err := trust(cfg.CA)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   dialTimeout,
		ExpectContinueTimeout: time.Second,
		// Instances of functions freeze between calls: an old connection is a dead one.
		MaxConnsPerHost: 4, MaxIdleConnsPerHost: 2, IdleConnTimeout: idle,
	}
	return &DB{http: &http.Client{Transport: transport, CheckRedirect: stay}, address: address, header: header, cluster: cfg.Cluster}, nil
}

// Close drops idle connections.
func (db *DB) Close() error {
	db.http.CloseIdleConnections()
	return nil
}

// stay follows no redirect: it would take the password elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

const form = "https://user:password@host:8443/database, or http://... to a host nearby"

// parse splits the address into what may be seen and what goes into headers. Its
// errors repeat nothing of it.
func parse(secret env.Secret) (address string, header http.Header, err error) {
	u, err := url.Parse(secret.Reveal())
	if err != nil {
		return "", nil, errors.New("CLICKHOUSE_URL cannot be read: it has to be " + form)
	}
	database := strings.TrimPrefix(u.Path, "/")
	port := map[string]string{"https": "8443", "http": "8123"}[u.Scheme]
	switch {
	case u.Scheme == "clickhouse" || u.Scheme == "tcp":
		return "", nil, errors.New("CLICKHOUSE_URL is an address of the native protocol; write that of HTTP instead: " + form)
	case port == "" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(database, "/"):
		return "", nil, errors.New("CLICKHOUSE_URL has another form than " + form)
	case u.Port() != "":
		port = u.Port()
	}
	header = http.Header{}
	if database != "" {
		header.Set("X-ClickHouse-Database", database)
	}
	if name := u.User.Username(); name != "" {
		header.Set("X-ClickHouse-User", name)
	}
	if password, _ := u.User.Password(); password != "" {
		header.Set("X-ClickHouse-Key", password)
	}
	for _, values := range header {
		if strings.ContainsFunc(values[0], func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", nil, errors.New("CLICKHOUSE_URL has control characters in the user, password or database")
		}
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port) + "/", header, nil
}

// trust gives the machine's certificates and those of ca, a text or a file; nil are the
// machine's.
func trust(ca string) (*x509.CertPool, error) {
	if ca == "" {
		return nil, nil
	}
	text, err := env.PEM(ca)
	if err != nil {
		return nil, fmt.Errorf("read CLICKHOUSE_CA: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("CLICKHOUSE_CA has no certificate: it has to be PEM, or a file of it")
	}
	return pool, nil
}
