package conversation_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/conversation"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticket"
)

func (b *bench) missed(s *conversation.Service, ev messenger.Event) {
	b.t.Helper()
	if err := s.Missed(context.Background(), ev, ""); err != nil {
		b.t.Fatalf("take %s: %v", ev.Key, err)
	}
}

func TestMissed_IsHandledOnceWhoeverBringsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	first, second := b.message("/menu"), b.message("/menu")
	b.do(s, first)
	b.missed(s, first) // it was not missed
	b.missed(s, second)
	b.missed(s, second)
	if got := b.do(s, second); got != conversation.Repeated {
		t.Errorf("what was missed and is brought after all: got %q", got)
	}
	b.wantTexts("menu", "menu")
	lines := strings.Count(b.log.String(), `"msg":"event"`)
	if quiet := strings.Count(b.log.String(), `"level":"DEBUG","msg":"event"`); lines < 3 || quiet != 2 {
		t.Errorf("%d lines, %d of them of what was not missed: %s", lines, quiet, b.log)
	}
}

// Nobody knows of what was handled before Redis was emptied: a message that the history
// has is not handled once more, whenever that was.
func TestMissed_MemoryIsLost(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]conversation.Stage{"before": "", "amid": conversation.StageLoaded} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx, memory := context.Background(), redisdb.NewMemory(b.client)
			wipe := func(now conversation.Stage) {
				if now != at {
					return
				}
				if err := b.client.FlushDB(ctx).Err(); err != nil {
					t.Error(err)
				}
			}
			s, ev := b.service(nil), b.message("/menu")
			if err := memory.Mark(ctx, "m"); err != nil {
				t.Fatal(err)
			}
			if err := s.Missed(ctx, ev, "m"); err != nil {
				t.Fatal(err)
			}
			wipe("")
			if err := b.service(wipe).Missed(ctx, b.message("/menu"), "m"); !errors.Is(err, dialog.ErrForgotten) {
				t.Errorf("got %v, want ErrForgotten", err)
			}
			b.wantTexts("menu")
			if lines := strings.Count(b.log.String(), `"msg":"event"`); lines != 1 {
				t.Errorf("%d lines of events, want one", lines)
			}
			if n, err := b.client.DBSize(ctx).Result(); n != 0 || err != nil {
				t.Errorf("%d keys were written, %v", n, err)
			}
		})
	}
}

// Whoever wrote a lot while nobody came to fetch it does not flood.
func TestMissed_ManyAtOnceAreNoFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.flood = conversation.Flood{Burst: 3, Every: time.Hour}
	s := b.service(nil)
	for range 8 {
		b.missed(s, b.message("/menu"))
	}
	if got := len(b.sender.texts()); got != 8 {
		t.Errorf("%d replies, want 8", got)
	}
}

// What was refused stays so: the history is no way around a limit or a ban.
func TestMissed_WhatWasRefusedStaysSo(t *testing.T) {
	t.Parallel()
	t.Run("flood", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.flood = conversation.Flood{Burst: 3, Every: time.Hour}
		s := b.service(nil)
		var all []messenger.Event
		for range 8 {
			all = append(all, b.message("/menu"))
			b.do(s, all[len(all)-1])
		}
		for _, ev := range all {
			b.missed(s, ev)
		}
		b.wantTexts("menu", "menu", "menu", "flood")
	})
	t.Run("ban, all at once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.records.person.Banned = true
		const n = 8
		var loaded, done sync.WaitGroup
		loaded.Add(n)
		s := b.service(func(at conversation.Stage) {
			if at == conversation.StageLoaded {
				loaded.Done()
				loaded.Wait() // so that each but one writes too late
			}
		})
		var all []messenger.Event
		for range n {
			all = append(all, b.message("/menu"))
		}
		for _, ev := range all {
			done.Add(1)
			go func() { defer done.Done(); b.do(s, ev) }()
		}
		done.Wait()
		b.records.person.Banned = false
		if err := b.store.ForgetPerson(context.Background(), b.a); err != nil {
			t.Fatal(err)
		}
		s = b.service(nil)
		for _, ev := range all {
			b.missed(s, ev)
		}
		b.wantTexts()
	})
	t.Run("ban", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.service(nil)
		b.records.person.Banned = true
		all := []messenger.Event{b.message("/menu"), b.message("/menu"), b.message("/menu")}
		for _, ev := range all {
			b.do(s, ev)
		}
		b.records.person.Banned = false
		if err := b.store.ForgetPerson(context.Background(), b.a); err != nil {
			t.Fatal(err)
		}
		for _, ev := range all {
			b.missed(s, ev)
		}
		b.wantTexts()
	})
}

// A message older than the last one seen goes where that one went and advances no
// form.
func TestMissed_OlderThanTheLastSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/new"))
	b.do(s, b.press(b.sender.find("Вопрос")))
	missed := b.message("canary-text")
	missed.Time = b.clock().Add(-time.Hour)
	b.do(s, b.message("canary-subject"))
	b.sender.forget()
	b.missed(s, missed)
	form := b.snapshot().State.Form
	if form == nil || form.Step != dialog.StepDescription || form.Subject != "canary-subject" || len(form.Parts) != 1 || !form.Parts[0].Late {
		t.Fatalf("form %+v, want the message kept and the description still asked for", form)
	}

	other := newBench(t)
	other.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	s = other.service(nil)
	missed = other.message("canary-earlier")
	other.do(s, other.message("canary-later"))
	other.missed(s, missed)
	if raw := string(payloadOf(t, other.records, missed.Key)); !strings.Contains(raw, `"late":true`) {
		t.Errorf("the comment does not say that it is late: %s", raw)
	}
}

func TestMissed_StoresAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	ev := b.message("/menu")
	b.records.set(errors.New("away"))
	if err := s.Missed(context.Background(), ev, ""); !errors.Is(err, conversation.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	b.records.set(nil)
	b.missed(s, ev)
	b.wantTexts("menu")
}
