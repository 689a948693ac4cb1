package conversation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/conversation"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

func TestAccept_RedisWiped(t *testing.T) {
	t.Parallel()
	server := backendtest.RedisServer(t, backend.Options{})
	b := newBenchAt(t, server.URL())
	s := b.service(nil)
	confirm := b.filled(s)
	b.records.person.Locale = "en"
	b.sender.forget()
	if err := b.client.FlushAll(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	b.do(s, confirm)
	want := dialog.Text("en", "stale.form") // the person is read again from Postgres
	if got := b.sender.texts(); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.records.kinds(); got != nil {
		t.Errorf("jobs: got %v", got)
	}
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	b.do(s, b.message("text"))
	if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindComment}) {
		t.Errorf("jobs: got %v", got)
	}
}

func TestAccept_PostgresAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	away := errors.New("connection refused")
	b.records.set(away)
	if _, err := s.Accept(context.Background(), b.message("/new")); !errors.Is(err, conversation.ErrUnavailable) {
		t.Fatalf("a stranger: got %v, want ErrUnavailable", err)
	}
	b.records.set(nil)
	confirm := b.filled(s)
	b.records.set(away)
	b.sender.forget()
	if _, err := s.Accept(context.Background(), confirm); !errors.Is(err, conversation.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	p := b.snapshot().Pending
	if len(p) != 1 || p[0].Begun {
		t.Fatalf("the entry is not there or its replies count as begun: %+v", p)
	}
	// A later event cannot overtake it.
	if _, err := s.Accept(context.Background(), b.message("/menu")); !errors.Is(err, conversation.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if _, err := s.CompleteStale(context.Background(), 0); err == nil {
		t.Error("CompleteStale: got no error")
	}
	b.records.set(nil)
	b.do(s, confirm)
	b.wantTexts("form.sent", "menu")
	if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
		t.Errorf("jobs: got %v", got)
	}
	b.wantNothingPending()
	if strings.Contains(b.log.String(), "once more after a crash") {
		t.Error("replies that were never begun count as sent twice")
	}
	// What makes no job works without Postgres.
	b.records.set(away)
	b.do(s, b.message("/help"))
}

// lostAnswer is a Redis that does what it is told to commit, once without saying so.
type lostAnswer struct {
	conversation.Store
	lost bool
}

func (l *lostAnswer) Commit(ctx context.Context, w dialog.Write) (dialog.Snapshot, error) {
	snap, err := l.Store.Commit(ctx, w)
	if !l.lost {
		l.lost = true
		return dialog.Snapshot{}, errors.Join(err, errors.New("i/o timeout"))
	}
	return snap, err
}

// Whoever could not go on after the state was written leaves the conversation to
// whom it is repeated to: the replies wait for no lease that nobody uses.
func TestAccept_EndsAfterTheCommit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"the answer got lost", "the call was over"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.service(nil)
			confirm := b.filled(s)
			b.sender.forget()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			broken := b.service(func(at conversation.Stage) {
				if at == conversation.StageCommitted {
					cancel()
				}
			})
			if name == "the answer got lost" {
				broken = b.serviceOn(&lostAnswer{Store: b.store}, nil)
			}
			if _, err := broken.Accept(ctx, confirm); !errors.Is(err, conversation.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
			b.do(s, confirm)
			b.wantTexts("form.sent")
			if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
				t.Errorf("jobs: got %v, want one ticket", got)
			}
			b.wantNothingPending()
			if strings.Contains(b.log.String(), "once more after a crash") {
				t.Error("replies that were never begun count as sent twice")
			}
		})
	}
}

// The reply lease is taken before Postgres is asked. When that takes long the lease
// is taken anew, and nobody waits for their reply.
func TestAccept_SlowPostgres(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	confirm := b.filled(b.service(nil))
	b.sender.forget()
	slow := b.service(func(at conversation.Stage) {
		if at == conversation.StageCommitted {
			b.wait(dialog.LeaseTime - time.Second)
		}
	})
	b.do(slow, confirm)
	b.wantTexts("form.sent")
	b.wantNothingPending()
}

// A time that JSON cannot express costs only itself.
func TestAccept_HostileTimes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	for _, seconds := range []int64{1<<62 - 1, 1 << 45, -1 << 62} {
		ev := b.message("text")
		ev.Time = time.Unix(seconds, 0)
		b.do(s, ev)
		if raw := string(payloadOf(t, b.records, ev.Key)); !strings.Contains(raw, b.clock().UTC().Format("2006-01-02")) {
			t.Errorf("%d: got %s, want the time of the call", seconds, raw)
		}
	}
}

func TestAccept_HostileCharacters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	ev := b.message("a\x00b\xffc")
	ev.User.Name, ev.Markdown, ev.Notes = "n\x00", "\x00*", []string{"\x00"}
	ev.Attachments = []messenger.Attachment{{Kind: messenger.Document, Ref: "r\x00", Name: "f\x00.txt"}}
	ev.Quotes = []messenger.Quote{{Kind: "reply", Author: "\x00", Text: "\x00", Attachments: []messenger.Attachment{{Name: "\x00"}}}}
	ev.Location, ev.Contact = &messenger.Location{Title: "\x00"}, &messenger.Contact{Name: "\x00", Phone: "\x00"}
	b.do(s, ev)
	raw := string(payloadOf(t, b.records, ev.Key))
	if strings.Contains(raw, `\u0000`) || !strings.Contains(raw, "ab\ufffdc") {
		t.Errorf("got %s", raw)
	}
}

// Names of any length and of any characters become keys that an index takes, the
// same for a repetition.
func TestAccept_HostileNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	long := strings.Repeat("\x00\xffй", 10_000)
	for _, album := range []string{"", long} {
		ev := b.message("text")
		ev.Key, ev.Album, ev.MessageID, ev.User.ID = ev.Key+long, album, long, long
		b.do(s, ev)
		if got := b.do(s, ev); got != conversation.Repeated {
			t.Errorf("a repetition was %s", got)
		}
	}
	if len(b.records.order) != 2 {
		t.Errorf("got %d jobs, want 2", len(b.records.order))
	}
	for _, key := range b.records.order {
		if len(key) > 500 || strings.Contains(key, "\x00") {
			t.Errorf("got a key of %d bytes", len(key))
		}
	}
}
