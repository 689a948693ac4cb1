package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// statement is one statement as it was sent, with its parameters as text.
type statement struct {
	text   string
	params []param
}

type param struct {
	value string
	null  bool
}

// flight is what was sent in one go, up to the client's wait for the answer. Several
// statements in one flight are one transaction unless one was open.
type flight []statement

// ping is what pgxpool sends on a connection that rested for a second: no part of what
// is measured, where none rests.
const ping = "-- ping"

// tap is a way to a Postgres that remembers what clients send.
type tap struct {
	url      string
	target   string // host:port
	listener net.Listener
	conns    sync.WaitGroup

	mu      sync.Mutex
	flights []flight
	err     error
}

// newTap puts a tap before the database at address.
func newTap(address string) (*tap, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("tap: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("tap: %w", err)
	}
	t := &tap{target: u.Host, listener: l}
	u.Host = l.Addr().String()
	t.url = u.String()
	go t.accept()
	return t, nil
}

func (t *tap) close() {
	_ = t.listener.Close()
	t.conns.Wait()
}

func (t *tap) accept() {
	for {
		client, err := t.listener.Accept()
		if err != nil {
			return
		}
		t.conns.Add(1)
		go func() {
			defer t.conns.Done()
			t.serve(client)
		}()
	}
}

func (t *tap) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", t.target)
	if err != nil {
		t.failed(err)
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	t.listen(pgproto3.NewBackend(&passing{from: client, to: server}, io.Discard))
}

// passing passes on what was read when more is asked for: by then it was decoded, so
// nothing is answered that is not remembered.
type passing struct {
	from io.Reader
	to   io.Writer
	read []byte
}

// Read implements io.Reader.
func (p *passing) Read(b []byte) (int, error) {
	if _, err := p.to.Write(p.read); err != nil {
		return 0, fmt.Errorf("tap: %w", err)
	}
	n, err := p.from.Read(b)
	p.read = append(p.read[:0], b[:n]...)
	return n, err
}

// listen decodes what a client sends, before it is passed on.
func (t *tap) listen(b *pgproto3.Backend) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		t.failed(err)
		return
	}
	var under flight
	for {
		m, err := b.Receive()
		if err != nil {
			return // the client has gone
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			if m.String != ping {
				t.add(flight{{text: m.String}})
			}
		case *pgproto3.Parse:
			under = append(under, statement{text: m.Query})
		case *pgproto3.Bind:
			if err := under[len(under)-1].bind(m); err != nil {
				t.failed(err)
				return
			}
		case *pgproto3.Sync:
			t.add(under)
			under = nil
		}
	}
}

func (s *statement) bind(m *pgproto3.Bind) error {
	for _, code := range m.ParameterFormatCodes {
		if code != 0 {
			return fmt.Errorf("tap: a parameter is not text in %.40q", s.text)
		}
	}
	for _, p := range m.Parameters {
		s.params = append(s.params, param{value: string(p), null: p == nil})
	}
	return nil
}

func (t *tap) add(f flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(f) > 0 {
		t.flights = append(t.flights, f)
	}
}

func (t *tap) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// take gives what was sent since the last time.
func (t *tap) take() ([]flight, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.flights
	t.flights = nil
	return list, t.err
}

func statements(flights []flight) (n int) {
	for _, f := range flights {
		n += len(f)
	}
	return n
}
