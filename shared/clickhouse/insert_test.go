package clickhouse_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/env"
)

// One absurd date must not keep everybody else's rows out.
func TestInsert_OutsideOfRanges(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	year := func(y int) time.Time { return time.Date(y, 5, 17, 0, 0, 0, 0, time.UTC) }
	must(t, db.InsertTickets(ctx, []analytics.Ticket{
		{Issue: "early", UpdatedAt: day(0), CreatedAt: day(0), Deadline: year(1), SLAFailsAt: year(1), Rating: -1},
		{Issue: "late", UpdatedAt: day(0), CreatedAt: day(0), Deadline: year(9999), SLAFailsAt: year(9999), Rating: 1000},
	}, day(1)))
	got := clickhousetest.Rows(t, db, "SELECT issue, deadline, sla_fails_at, rating FROM tickets")
	want := []string{
		"('early','1970-01-01','1900-01-01 00:00:00.000',0)",
		"('late','2149-06-06','2262-01-01 00:00:00.000',255)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A table of another schema than this program's is told of; it is not filled with
// what happens to have as many bytes.
func TestInsert_AnotherSchema(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	agents := []analytics.Agent{{ID: "1", Login: "canary", Name: "canary", SeenAt: day(0)}}
	must(t, db.Exec(ctx, "ALTER TABLE agents ADD COLUMN more String COMMENT 'a newer one'"))
	must(t, db.InsertAgents(ctx, agents))
	for _, change := range []string{
		"ALTER TABLE agents MODIFY COLUMN login LowCardinality(String)",
		"ALTER TABLE agents RENAME COLUMN login TO nick",
		"DROP TABLE agents SYNC",
	} {
		must(t, db.Exec(ctx, change))
		err := db.InsertAgents(ctx, agents)
		var refused *clickhouse.Error
		if !errors.As(err, &refused) || refused.Code == 0 || refused.Name == "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("after %s: error %v, want ClickHouse's without the rows", change, err)
		}
	}
}

// recorded is an insert as it went over the line.
type recorded struct {
	header http.Header
	query  string
	body   []byte
}

// record lets a client insert tickets and gives what it sent of the first of its two
// inserts, that into the table tickets.
func record(t *testing.T, tickets []analytics.Ticket, database string) (r recorded) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		if r.body == nil {
			r = recorded{req.Header.Clone(), req.URL.RawQuery, body}
		}
	}))
	t.Cleanup(srv.Close)
	db := open(t, clickhouse.Config{URL: env.NewSecret(strings.Replace(srv.URL, "://", "://default@", 1) + "/" + database)})
	must(t, db.InsertTickets(ctx, tickets, day(1)))
	return r
}

// framings are the ways in which HTTP tells where a body ends. Ours has a length.
var framings = map[string]func(w io.Writer, whole, sent []byte){
	"length": func(w io.Writer, whole, sent []byte) {
		_, _ = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(whole), sent)
	},
	"one chunk": func(w io.Writer, whole, sent []byte) {
		_, _ = fmt.Fprintf(w, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(whole), sent)
	},
	"chunks": func(w io.Writer, _, sent []byte) { // the last one is missing
		_, _ = io.WriteString(w, "Transfer-Encoding: chunked\r\n\r\n")
		for len(sent) > 0 {
			n := min(100, len(sent))
			_, _ = fmt.Fprintf(w, "%x\r\n%s\r\n", n, sent[:n])
			sent = sent[n:]
		}
	},
}

// manyTickets are more than ClickHouse reads (max_query_size, 256 KiB) before it
// begins to make rows of a body.
func manyTickets() (tickets []analytics.Ticket) {
	for n := range 5000 {
		tickets = append(tickets, ticket(fmt.Sprintf("%024d", n), 1))
	}
	return tickets
}

// An insert whose connection breaks is whole or absent: what ClickHouse has read of
// it, also up to the end of a row, is not written.
func TestInsert_BrokenOff(t *testing.T) {
	t.Parallel()
	db, address := clickhousetest.New(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	tickets := manyTickets()
	whole := record(t, tickets, strings.TrimPrefix(u.Path, "/"))
	row := (len(whole.body) - len(record(t, tickets[:1], "").body)) / (len(tickets) - 1)
	size := len(whole.body)
	if size < 2*256<<10 {
		t.Fatalf("%d bytes are too few", size)
	}
	for name, frame := range framings {
		for _, end := range []int{0, 100, size / 2, size - 1000*row, size - 1, size} {
			if end == size && name == "length" {
				continue // that is all of it
			}
			send(t, u.Host, whole, func(w io.Writer) { frame(w, whole.body, whole.body[:end]) })
			if got := clickhousetest.Rows(t, db, "SELECT count() FROM tickets")[0]; got != "(0)" {
				t.Fatalf("%s, %d of %d bytes: %s tickets", name, end, size, got)
			}
		}
	}
	send(t, u.Host, whole, func(w io.Writer) { framings["length"](w, whole.body, whole.body) })
	if got := clickhousetest.Rows(t, db, "SELECT count() FROM tickets")[0]; got != "(5000)" {
		t.Errorf("all of it: %s tickets", got)
	}
}

// send sends a recorded insert again, closes its side of the connection where the
// body ends, and waits until the server has ended it too.
func send(t *testing.T, host string, r recorded, body func(io.Writer)) {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	w := bufio.NewWriter(conn)
	_, _ = fmt.Fprintf(w, "POST /?%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", r.query)
	for _, name := range []string{"X-Clickhouse-Database", "X-Clickhouse-User"} {
		_, _ = fmt.Fprintf(w, "%s: %s\r\n", name, r.header.Get(name))
	}
	body(w)
	if err := errors.Join(w.Flush(), conn.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("the server goes on waiting")
		}
	}
}

// The client sees that its connection broke, and what it does again is there once.
func TestInsert_ConnectionCutByTheWay(t *testing.T) {
	t.Parallel()
	db, address := clickhousetest.New(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	tickets := manyTickets()
	size := len(record(t, tickets, "").body)
	for _, after := range []int{1000, size / 2, size - 1, size} { // the headers come on top
		front := cutting(t, u.Host, after)
		through := *u
		through.Host = front
		cut := clickhousetest.Open(t, through.String())
		if err := cut.InsertTickets(ctx, tickets, day(1)); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", after, size)
		}
		untilIdle(t, db)
		if got := clickhousetest.Rows(t, db, "SELECT count() FROM tickets FINAL")[0]; got != "(0)" && got != "(5000)" {
			t.Errorf("cut after %d of %d bytes: %s tickets, want none or all", after, size, got)
		}
	}
	must(t, db.InsertTickets(ctx, tickets, day(1)))
	if got := clickhousetest.Rows(t, db, "SELECT count() FROM tickets FINAL")[0]; got != "(5000)" {
		t.Errorf("got %s tickets, want all", got)
	}
}

// untilIdle waits until no insert into the database is under way.
func untilIdle(t *testing.T, db *clickhouse.DB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		busy := clickhousetest.Rows(t, db, "SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND query_kind = 'Insert'")
		if len(busy) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("an insert goes on and on")
		}
	}
}

// cutting is a line to a server that breaks, both ways, when so many bytes have gone
// up; it gives its address.
func cutting(t *testing.T, host string, after int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			up, err := l.Accept()
			if err != nil {
				return
			}
			var down net.Conn
			if down, err = (&net.Dialer{Timeout: time.Minute}).DialContext(context.Background(), "tcp", host); err != nil {
				t.Error(err)
				_ = up.Close()
				return
			}
			_, _ = io.CopyN(down, up, int64(after))
			_ = up.Close()
			_ = down.Close()
		}
	}()
	return l.Addr().String()
}
