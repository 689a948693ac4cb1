package news_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/postgres"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
	"supportbot/shared/wiring/wiringtest"
)

// scroll is what UpdatedSince shows: issues, then perhaps an error.
type scroll struct {
	issues []tracker.Issue
	since  time.Time
	err    error
}

func (s *scroll) UpdatedSince(_ context.Context, since time.Time, _ ...string) iter.Seq2[tracker.Issue, error] {
	s.since = since
	return func(yield func(tracker.Issue, error) bool) {
		for _, i := range s.issues {
			if !yield(i, nil) {
				return
			}
		}
		if s.err != nil {
			yield(tracker.Issue{}, s.err)
		}
	}
}

func issueAt(n int, at time.Time) tracker.Issue {
	a := messenger.Address{Messenger: messenger.Telegram, Bot: "1", Chat: "2"}
	return tracker.Issue{ID: fmt.Sprint("i", n), Version: 3, Unique: ticket.Unique(a, fmt.Sprint("d", n)), UpdatedAt: at}
}

func poll(r *wiringtest.Rig, s *scroll, now time.Time) *news.Poll {
	return &news.Poll{Tracker: s, Store: dated{r.DB, now}, Publisher: r.Publisher, Queues: []string{"SUP"}}
}

// dated is the store with a test's clock.
type dated struct {
	*postgres.DB
	now time.Time
}

func (d dated) Now(context.Context) (time.Time, error) { return d.now, nil }

// The process's clock, which may be ahead, hides nothing: the first poll begins by that
// of the store.
func TestPoll_BeginsByTheStoresClock(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	ctx := r.Context()
	s, behind := &scroll{}, time.Now().Add(-time.Hour)
	if _, err := poll(r, s, behind).Run(ctx); err != nil {
		t.Fatal(err)
	}
	s.issues = append(s.issues, issueAt(1, behind.Add(time.Minute)))
	if n, err := poll(r, s, behind.Add(2*time.Minute)).Run(ctx); n != 1 || err != nil {
		t.Errorf("%d looks, %v, want the issue that changed then", n, err)
	}
	unskewed := &news.Poll{Tracker: s, Store: r.DB, Publisher: r.Publisher, Queues: []string{"SUP"}}
	s.issues = append(s.issues, issueAt(2, time.Now().Add(time.Hour)))
	if _, err := unskewed.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if ahead := r.Text(`SELECT (at > clock_timestamp())::text FROM watermarks WHERE name = 'tracker'`); ahead != "false" {
		t.Error("the watermark is ahead of the store's clock")
	}
}

func TestPoll_ThousandsWithOneTimestampAndABreak(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	ctx := r.Context()
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := &scroll{}
	if n, err := poll(r, s, now.Add(-time.Hour)).Run(ctx); n != 0 || err != nil {
		t.Fatalf("the first poll: %d, %v", n, err)
	}
	at := now.Add(-time.Minute)
	for i := range 3000 {
		s.issues = append(s.issues, issueAt(i, at))
	}
	all := s.issues
	s.issues, s.err = all[:1234], errors.New("the snapshot has expired")
	if n, err := poll(r, s, now).Run(ctx); n != 1234 || err == nil {
		t.Errorf("the interrupted poll: %d, %v, want 1234 and the error", n, err)
	}
	s.issues, s.err = all, nil
	if n, err := poll(r, s, now).Run(ctx); n != 3000-1234 || err != nil {
		t.Errorf("the next poll: %d, %v, want %d", n, err, 3000-1234)
	}
	if n, err := poll(r, s, now).Run(ctx); n != 0 || err != nil {
		t.Errorf("the same again: %d, %v, want none", n, err)
	}
	if want := at.Add(-2 * time.Minute); !s.since.Equal(want) {
		t.Errorf("it begins at %v, want %v", s.since, want)
	}
	if got := r.Text(`SELECT count(*)::text FROM jobs WHERE kind = $1`, ticket.KindLook); got != "3000" {
		t.Errorf("%s looks, want 3000", got)
	}
}

// More issues may change within the overlap (somebody edits a queue in bulk) than a slow
// Tracker shows in one poll: the next poll that is late enough goes on where that one was.
func TestPoll_MoreWithinTheOverlapThanAPollReads(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	ctx := r.Context()
	now := time.Now().UTC().Truncate(time.Millisecond)
	begin := now.Add(-time.Hour)
	if _, err := poll(r, &scroll{}, begin).Run(ctx); err != nil {
		t.Fatal(err)
	}
	var all []tracker.Issue
	for i := range 900 {
		all = append(all, issueAt(i, begin.Add(time.Duration(i)*100*time.Millisecond)))
	}
	s := &slow{scroll{issues: all}, 250}
	for n := range 5 {
		if _, err := (&news.Poll{Tracker: s, Store: dated{r.DB, now}, Publisher: r.Publisher, Queues: []string{"SUP"}}).Run(ctx); n == 4 && err != nil {
			t.Errorf("the last poll still has not read all: %v, begun at %v", err, s.since)
		}
	}
	if got := r.Text(`SELECT count(*)::text FROM jobs WHERE kind = $1`, ticket.KindLook); got != "900" {
		t.Errorf("%s looks, want 900", got)
	}
}

// slow is a scroll of which one poll can read so many.
type slow struct {
	scroll
	most int
}

func (s *slow) UpdatedSince(_ context.Context, since time.Time, _ ...string) iter.Seq2[tracker.Issue, error] {
	s.since = since
	return func(yield func(tracker.Issue, error) bool) {
		n := 0
		for _, i := range s.issues {
			if i.UpdatedAt.Before(since) {
				continue
			}
			if n++; n > s.most {
				yield(tracker.Issue{}, context.DeadlineExceeded)
				return
			}
			if !yield(i, nil) {
				return
			}
		}
	}
}

// An issue from the future must not hide the others.
func TestPoll_ClockThatIsWrong(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	ctx := r.Context()
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := &scroll{}
	for _, issues := range [][]tracker.Issue{nil, {issueAt(1, now), issueAt(2, now.AddDate(70, 0, 0))}, {issueAt(3, now)}} {
		s.issues = issues
		if n, err := poll(r, s, now).Run(ctx); n != len(issues) || err != nil {
			t.Errorf("%d looks, %v, want %d", n, err, len(issues))
		}
		if s.since.After(now) {
			t.Errorf("it begins at %v, after now, %v", s.since, now)
		}
	}
}

// What Tracker does not name keeps nothing back, and nobody is to look at it.
func TestPoll_WithoutNameOrTime(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	if _, err := poll(r, &scroll{}, now.Add(-time.Hour)).Run(r.Context()); err != nil {
		t.Fatal(err)
	}
	nameless := issueAt(1, now)
	nameless.ID = ""
	s := &scroll{issues: []tracker.Issue{nameless, issueAt(2, now), issueAt(3, time.Time{})}}
	if n, err := poll(r, s, now).Run(r.Context()); n != 1 || err != nil {
		t.Errorf("%d looks, %v, want one", n, err)
	}
	if _, err := poll(r, s, now).Run(r.Context()); err != nil || !s.since.Equal(now.Add(-2*time.Minute)) {
		t.Errorf("it begins at %v, %v, want just before the one that has a time", s.since, err)
	}
}

// Whatever Tracker counts as a new version: what was updated is looked at.
func TestPoll_UpdateWithoutANewVersion(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i, at := range []time.Duration{-time.Hour, 0, time.Second, time.Second} {
		s := &scroll{issues: []tracker.Issue{issueAt(1, now.Add(at))}}
		n, err := poll(r, s, now.Add(time.Minute)).Run(r.Context())
		if want := []int{0, 1, 1, 0}[i]; n != want || err != nil {
			t.Errorf("poll %d: %d looks, %v, want %d", i, n, err, want)
		}
	}
}

// A queue that no category knows calls nobody: the poll finds what was moved there.
func TestPoll_MovedOutOfTheCatalogue(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t, func(cfg *wiringtest.Config) {
		cfg.Tracker.Queues = append(cfg.Tracker.Queues, sandbox.DefaultQueue("DEV"))
	})
	c := wiringtest.Telegrammer()
	r.Met(c)
	k := r.Open(c, "d1")
	p := &news.Poll{Tracker: r.Bot.Tracker, Store: r.DB, Publisher: r.Publisher, Queues: r.Catalogue.Queues()}
	if _, err := p.Run(r.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Move(k.ID, "DEV"); err != nil {
		t.Fatal(err)
	}
	r.Comment(k, "/reply из другой очереди")
	if n, err := p.Run(r.Context()); n != 1 || err != nil {
		t.Fatalf("%d looks, %v, want 1", n, err)
	}
	r.Work()
	wantOrder(t, r, c, "из другой очереди")
}

// The poll and the triggers find the same thing once.
func TestPoll_AgainstTracker(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	p := &news.Poll{Tracker: r.Bot.Tracker, Store: r.DB, Publisher: r.Publisher, Queues: r.Catalogue.Queues()}
	if _, err := p.Run(r.Context()); err != nil {
		t.Fatal(err)
	}
	r.Comment(k, "/reply раз")
	n, err := p.Run(r.Context())
	if n != 1 || err != nil {
		t.Fatalf("%d looks, %v", n, err)
	}
	r.Work()
	r.Look(k.ID, "late trigger")
	wantOrder(t, r, c, "раз")
}
