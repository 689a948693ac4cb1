package conversation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"supportbot/shared/conversation"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// killed is what a dying process leaves behind: nothing runs after the hook.
type killed struct{ at conversation.Stage }

// dies lets a process handle ev until the stage, and reports whether it got there.
func (b *bench) dies(at conversation.Stage, ev messenger.Event) (died bool) {
	b.t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if k, ok := p.(killed); !ok || k.at != at {
				panic(p)
			}
			died = true
		}
	}()
	s := b.service(func(stage conversation.Stage) {
		if stage == at {
			panic(killed{at})
		}
	})
	a, err := s.Accept(context.Background(), ev)
	if err != nil {
		b.t.Fatal(err)
	}
	a.Finish(context.Background())
	return false
}

// TestCrash_AtEachStage kills the process at every stage, with every way of being
// found again: one job, and every reply sent.
func TestCrash_AtEachStage(t *testing.T) {
	t.Parallel()
	ways := map[string]func(b *bench, s *conversation.Service, ev messenger.Event){
		"redelivery": func(b *bench, s *conversation.Service, ev messenger.Event) { b.do(s, ev) },
		"next event": func(b *bench, s *conversation.Service, ev messenger.Event) {
			b.do(s, b.message("/menu"))
			b.do(s, ev) // the messenger repeats what it has no answer to
		},
		"reconciler": func(b *bench, s *conversation.Service, ev messenger.Event) {
			if _, err := s.CompleteStale(context.Background(), 0); err != nil {
				b.t.Error(err)
			}
			b.do(s, ev)
		},
	}
	for _, stage := range conversation.Stages {
		for way, found := range ways {
			t.Run(fmt.Sprint(stage, " ", way), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				s := b.service(nil)
				confirm := b.filled(s)
				b.sender.forget()
				if !b.dies(stage, confirm) {
					t.Fatalf("stage %s was not reached", stage)
				}
				b.afterLease()
				found(b, s, confirm)
				if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
					t.Errorf("jobs: got %v, want one ticket", got)
				}
				want := 1
				if stage == conversation.StageReplied || stage == conversation.StageSent {
					want = 2 // it was sent, and nobody had written that down
				}
				if got := b.sender.keys()["reply:"+confirm.Key+":0"]; got != want {
					t.Errorf("the reply was sent %d times, want %d", got, want)
				}
				resent := strings.Contains(b.log.String(), "once more after a crash")
				if want == 2 && !resent {
					t.Error("the repetition is not in the log")
				}
				b.wantNothingPending()
			})
		}
	}
}

func TestCrash_AmongSeveralReplies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/menu"))
	b.sender.forget()
	b.lister.history = nil
	// A press has an answer and a message; two parts come of one text.
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Title: "one\fhalf", Phase: ticket.PhaseOpen})
	ev := b.press("v:o:dabc")
	if !b.dies(conversation.StageReplied, ev) {
		t.Fatal("no reply was sent")
	}
	if got := len(b.sender.texts()); got != 1 {
		t.Fatalf("sent %d before the crash, want half of it", got)
	}
	b.afterLease()
	b.do(s, ev)
	keys := b.sender.keys()
	if keys["reply:"+ev.Key+":0"] != 2 || keys["reply:"+ev.Key+":1"] != 1 {
		t.Errorf("got %v, want the first part twice and the second once", keys)
	}
	b.wantNothingPending()
}

func TestCrash_LeaseStillHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	confirm := b.filled(s)
	b.sender.forget()
	b.dies(conversation.StageCommitted, confirm)
	b.do(s, confirm) // inserts the job; the dead one still has the lease
	if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
		t.Errorf("jobs: got %v", got)
	}
	if got := b.sender.texts(); got != nil {
		t.Errorf("sent without the lease: %q", got)
	}
	if n, err := s.CompleteStale(context.Background(), 0); n != 0 || err != nil {
		t.Errorf("CompleteStale: got %d, %v", n, err)
	}
	b.afterLease()
	if n, err := s.CompleteStale(context.Background(), 0); n != 1 || err != nil {
		t.Errorf("CompleteStale: got %d, %v", n, err)
	}
	b.wantTexts("form.sent")
	b.wantNothingPending()
}

func payloadOf(t *testing.T, r *records, key string) json.RawMessage {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	jobs := r.jobs[key]
	if len(jobs) == 0 {
		t.Fatalf("no job %s", key)
	}
	raw, ok := jobs[0].Payload.(json.RawMessage)
	if !ok {
		t.Fatalf("payload of %s is a %T", key, jobs[0].Payload)
	}
	return raw
}
