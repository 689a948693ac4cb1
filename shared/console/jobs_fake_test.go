package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/gauge"
	"supportbot/shared/job"
	"supportbot/shared/notification"
	"supportbot/shared/person"
)

// ledger is the database that the API of jobs works with, and what the test may ask of it.
type ledger struct {
	notification.Store // there is nothing else in it

	mu   sync.Mutex
	jobs []job.Record  // by id, the first is 1
	held chan struct{} // closed when lists may go
	down bool
	age  time.Duration // of the gauges
	gone int64         // was deleted
}

// sessions are the sign-ins: codes and tokens are roles.
type sessions struct{}

var roles = []person.Role{person.Admin, person.Operator, person.Analyst} // of the persons 1, 2, 3

func newLedger() *ledger {
	l := &ledger{jobs: bookedJobs(), held: make(chan struct{})}
	close(l.held)
	return l
}

func (l *ledger) api() http.Handler {
	return notification.New(notification.Deps{Store: l, Sessions: sessions{}, Publisher: l, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// bookedJobs are one of each sort: what ended well, then what did not.
func bookedJobs() (all []job.Record) {
	at := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	add := func(r job.Record) {
		r.ID = int64(len(all) + 1)
		r.CreatedAt, r.RunAt, r.StartedAt = at.Add(time.Duration(r.ID)*time.Minute), at.Add(time.Duration(r.ID)*time.Minute), at.Add(time.Duration(r.ID)*time.Minute)
		if r.State == job.Completed || r.State == job.Cancelled || r.State == job.NeedsReview {
			r.FinishedAt = r.CreatedAt.Add(20 * time.Second)
		}
		if r.Lane == "" {
			r.Lane = "in:telegram:109:7001"
		}
		if r.CorrelationID == "" {
			r.CorrelationID = fmt.Sprintf("telegram:109:%d", 500+r.ID)
		}
		r.Key, r.Failures = r.CorrelationID, append([]job.Failure{}, r.Failures...)
		all = append(all, r)
	}
	failed := func(n int, what, stage, text string) (list []job.Failure) {
		for i := range n {
			list = append(list, job.Failure{At: at.Add(time.Duration(i) * 7 * time.Minute), What: what, Stage: stage, Error: text})
		}
		return list
	}
	for range 60 {
		add(job.Record{Queue: "tickets", Kind: "ticket.comment", State: job.Completed, Stage: "done comment"})
	}
	add(job.Record{Queue: "broadcasts", Kind: "broadcast.batch", Lane: "broadcast:vk:209", State: job.Running, Stage: "begin send"})
	add(job.Record{Queue: "deliveries", Kind: "deliver.status", Lane: "out:vk:209:3", State: job.Queued, Attempts: 2, LastError: "send message: 503", Failures: failed(2, "failed", "", "send message: 503")})
	all[61].RunAt = time.Now().Add(10 * time.Minute)
	add(job.Record{Queue: "tickets", Kind: "ticket.rate", State: job.Cancelled, Remark: "записали оценку сами", SettledBy: "command line (anna)", Stage: "begin fields"})
	add(job.Record{Queue: "exports", Kind: "export.pack", Lane: "export:1", State: job.NeedsReview, Losses: 5, LastError: "lease lost", Failures: failed(5, "lost", "", "lease lost")})
	add(job.Record{Queue: "tickets", Kind: "ticket.create", State: job.NeedsReview, Stage: "done upload", Attempts: 8, LastError: "create issue: 422 the field priority is required", Failures: failed(8, "failed", "done upload", "create issue: 422 the field priority is required")})
	add(job.Record{Queue: "deliveries", Kind: "deliver.notice", Lane: "out:vk:209:3", State: job.NeedsReview, Stage: "begin send:0", Attempts: 8, Replays: 1, LastError: "send message: timeout", Failures: failed(20, "failed", "begin send:0", "send message: timeout")})
	add(job.Record{Queue: "deliveries", Kind: "deliver.answer", Lane: "out:telegram:109:7001", State: job.NeedsReview, Stage: "begin send:1", Attempts: 2, CorrelationID: "tracker:6a0f:comment:77",
		LastError: "a message may have been sent, twice nobody knows", Failures: append(failed(1, "failed", "begin send:1", "send message: timeout"), failed(1, "review", "begin send:1", "a message may have been sent, twice nobody knows")...)})
	return all
}

// stage does what happens behind the page.
func (l *ledger) stage(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var in struct{ Job int64 }
	_ = json.NewDecoder(r.Body).Decode(&in)
	switch r.URL.Path {
	case "/stage/hold":
		l.held = make(chan struct{})
	case "/stage/go":
		close(l.held)
	case "/stage/down":
		l.down = true
	case "/stage/up":
		l.down = false
	case "/stage/work": // whatever waits is done
		for i, j := range l.jobs {
			if j.State == job.Accepted {
				l.jobs[i].State, l.jobs[i].FinishedAt, l.jobs[i].Stage = job.Completed, time.Now(), "done send:1"
			}
		}
	case "/stage/stop": // the reconciler
		l.age = 10 * time.Minute
	case "/stage/settle": // somebody else was first
		l.settle(in.Job, "person:1", "сделал другой")
	case "/stage/gone":
		l.gone = in.Job
	case "/stage/many": // jobs that ended well
		for range 250 {
			r := l.jobs[0]
			r.ID = int64(len(l.jobs) + 1)
			l.jobs = append(l.jobs, r)
		}
	case "/stage/promise": // an erasure that waits, and a look that is over
		first, r := int64(len(l.jobs)+1), l.jobs[0]
		r.ID, r.Kind, r.State, r.Stage, r.LastError = first, person.KindErase, job.NeedsReview, "begin farewell", "send message: 503"
		look := l.jobs[0]
		look.ID, look.Kind, look.Lane, look.Stage = first+1, "issue.look", "look:6a0f", ""
		l.jobs = append(l.jobs, r, look)
		answer(w, map[string]int64{"first": first})
		return
	case "/stage/review": // the last four wait again
		l.gone = 0
		for i := range 4 {
			j := &l.jobs[len(l.jobs)-1-i]
			j.State, j.SettledBy, j.Remark = job.NeedsReview, "", ""
		}
		l.jobs[len(l.jobs)-1].Stage = "begin send:1"
	case "/stage/job":
		answer(w, l.jobs[in.Job-1])
		return
	}
	answer(w, nil)
}

func (l *ledger) settle(id int64, by, remark string) {
	j := &l.jobs[id-1]
	j.State, j.SettledBy, j.Remark = job.Cancelled, by, remark
}

func (l *ledger) Jobs(ctx context.Context, f job.Filter) (list []job.Record, err error) {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	select {
	case <-held:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the database is away")
	}
	for _, j := range slices.Backward(l.jobs) {
		kind := f.Kind == "" || f.Kind == j.Kind || strings.HasSuffix(f.Kind, ".") && strings.HasPrefix(j.Kind, f.Kind)
		if len(list) < f.Limit && kind && j.ID != l.gone && (f.Before == 0 || j.ID < f.Before) && (len(f.States) == 0 || slices.Contains(f.States, j.State)) && (f.Until.IsZero() || !j.FinishedAt.After(f.Until)) &&
			strings.Contains(j.LastError, f.Error) && (f.Lane == "" || f.Lane == j.Lane) && (f.CorrelationID == "" || f.CorrelationID == j.CorrelationID) {
			list = append(list, j)
		}
	}
	return list, nil
}

func (*ledger) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (l *ledger) JobRecord(_ context.Context, id int64) (job.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id > int64(len(l.jobs)) || id == l.gone {
		return job.Record{}, job.ErrNotFound
	}
	return l.jobs[id-1], nil
}

// change does something to a job in one of the states, as the database guards it.
func (l *ledger) change(id int64, do func(*job.Record), from ...job.State) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id > int64(len(l.jobs)) || !slices.Contains(from, l.jobs[id-1].State) {
		return job.ErrNotFound
	}
	do(&l.jobs[id-1])
	return nil
}

func (l *ledger) Replay(_ context.Context, id int64, by string) (job.Inserted, error) {
	return job.Inserted{ID: id}, l.change(id, func(j *job.Record) {
		j.State, j.Attempts, j.Losses, j.FinishedAt, j.RunAt = job.Accepted, 0, 0, time.Time{}, time.Now().Add(-time.Second)
		j.Replays++
		j.Failures = append(j.Failures, job.Failure{At: time.Now(), What: job.FailureReplayed, Error: by})
	}, job.NeedsReview)
}

func (l *ledger) ReplayUntil(ctx context.Context, id int64, by string, _ time.Time) (job.Inserted, error) {
	return l.Replay(ctx, id, by)
}

func (l *ledger) Cancel(_ context.Context, id int64, by string) (job.State, error) {
	return "", l.change(id, func(j *job.Record) {
		j.Failures = append(j.Failures, job.Failure{At: time.Now(), What: job.FailureCancelled, Error: by})
		if j.State == job.Running {
			j.Cancelling = true
			return
		}
		j.State, j.FinishedAt = job.Cancelled, time.Now()
	}, job.NeedsReview, job.Accepted, job.Queued, job.Running)
}

func (l *ledger) SettleReview(_ context.Context, id int64, by, remark string) error {
	return l.change(id, func(j *job.Record) { j.State, j.SettledBy, j.Remark = job.Cancelled, by, remark }, job.NeedsReview)
}

// Gauges are those of two queues, of which one has lost something.
func (l *ledger) Gauges(context.Context) (r gauge.Reading, now time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = time.Now()
	of := func(queue string) map[string]string { return map[string]string{"queue": queue} }
	return gauge.Reading{At: now.Add(-l.age), Samples: []gauge.Sample{
		{Name: gauge.Reviews, Value: 4}, {Name: gauge.Oldest, Value: 12}, {Name: gauge.Due, Labels: of("tickets"), Value: 2}, {Name: gauge.Due, Labels: of("deliveries"), Value: 5},
		{Name: gauge.Running, Labels: of("tickets"), Value: 1}, {Name: gauge.Messages, Labels: of("tickets"), Value: 3}, {Name: gauge.Held, Value: 0},
		{Name: gauge.Dead, Labels: map[string]string{"hint": "true"}, Value: 1}, {Name: gauge.Dead, Labels: map[string]string{"hint": "false"}, Value: 1},
		{Name: gauge.DutyAge, Labels: map[string]string{"duty": "publish"}, Value: 900}, {Name: gauge.DutyAge, Labels: map[string]string{"duty": gauge.DutyOfPass}, Value: 40},
	}}, now, nil
}

func (*ledger) DeadLetters(context.Context, int64, int) ([]job.DeadLetter, error) {
	at := time.Now().Add(-time.Hour)
	return []job.DeadLetter{
		{ID: 2, Queue: "tickets", Message: "m-2", Body: `{"foreign":"message"}`, KeptAt: at},
		{ID: 1, Queue: "tickets", Message: "m-1", Job: 65, State: job.NeedsReview, Attempts: 3, Receives: 5, CorrelationID: "telegram:109:565", KeptAt: at},
	}, nil
}

func (*ledger) Backlog(context.Context, string) (int, error) { return 0, nil }

func (*ledger) Publish(context.Context, []job.Inserted) {}

func (*ledger) Broadcasts(context.Context, []broadcast.State, int64, int) ([]broadcast.Broadcast, int64, error) {
	return nil, 0, nil
}

func (*ledger) PersonByID(_ context.Context, id int64) (*person.Person, error) {
	return &person.Person{ID: id, Roles: roles[id-1 : id]}, nil
}

func (sessions) Open(_ context.Context, code string) (s person.Session, token string, ok bool, err error) {
	i := slices.Index(roles, person.Role(code))
	return person.Session{Person: int64(i + 1), Expires: time.Now().Add(time.Hour)}, code, i >= 0, nil
}

func (sessions) Session(ctx context.Context, token string) (s person.Session, ok bool, err error) {
	s, _, ok, err = sessions{}.Open(ctx, token)
	return s, ok, err
}

func (sessions) Keep(context.Context, string, person.Session) error { return nil }
func (sessions) Close(context.Context, string) error                { return nil }
