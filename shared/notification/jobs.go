package notification

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"supportbot/shared/job"
	"supportbot/shared/person"
)

// replayMost is how many reviews one call replays; "more" says that there are others.
const replayMost = 500

// shownJob is a job.Record in JSON. What the job carries is not in it: that is
// people's own words.
type shownJob struct {
	ID         int64         `json:"id"`
	Kind       string        `json:"kind"`
	State      job.State     `json:"state"`
	Stage      string        `json:"stage"`
	Key        string        `json:"key"`
	Queue      string        `json:"queue"`
	Lane       string        `json:"lane"`
	Request    string        `json:"request"` // correlation id
	Attempts   int           `json:"attempts"`
	Losses     int           `json:"losses"`
	Replays    int           `json:"replays"`
	Failures   []job.Failure `json:"failures"`
	Error      string        `json:"error"`
	WaitsFor   string        `json:"waits_for"`
	Cancelling bool          `json:"cancelling"`
	Remark     string        `json:"remark"`
	SettledBy  string        `json:"settled_by"`
	CreatedAt  time.Time     `json:"created_at"`
	RunAt      time.Time     `json:"run_at"`
	StartedAt  *time.Time    `json:"started_at"`
	FinishedAt *time.Time    `json:"finished_at"`
}

func showJob(r job.Record) shownJob {
	return shownJob{
		ID: r.ID, Kind: r.Kind, State: r.State, Stage: r.Stage, Key: r.Key, Queue: r.Queue, Lane: r.Lane, Request: r.CorrelationID,
		Attempts: r.Attempts, Losses: r.Losses, Replays: r.Replays, Failures: r.Failures, Error: r.LastError, WaitsFor: r.HeldFor,
		Cancelling: r.Cancelling, Remark: r.Remark, SettledBy: r.SettledBy, CreatedAt: r.CreatedAt, RunAt: r.RunAt,
		StartedAt: timeOrNull(r.StartedAt), FinishedAt: timeOrNull(r.FinishedAt),
	}
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *API) listJobs(ctx context.Context, c *call) (any, error) {
	q := c.r.URL.Query()
	f := job.Filter{Kind: q.Get("kind"), Lane: q.Get("lane"), CorrelationID: q.Get("request"), Error: q.Get("error")}
	if err := searchable(f); err != nil {
		return nil, err
	}
	for _, s := range strings.FieldsFunc(q.Get("state"), func(r rune) bool { return r == ',' }) {
		if !slices.Contains(job.States, job.State(s)) {
			return nil, refuse(http.StatusBadRequest, "state knows no "+s)
		}
		f.States = append(f.States, job.State(s))
	}
	limit, err := c.number("limit", 50, 200)
	if err != nil {
		return nil, err
	}
	if f.Before, err = c.number("before", 1<<62, 1<<62); err != nil {
		return nil, err
	}
	f.Limit = int(limit)
	list, err := a.d.Store.Jobs(ctx, f)
	if err != nil {
		return nil, err
	}
	out := struct {
		Jobs []shownJob `json:"jobs"`
		Next int64      `json:"next,omitempty"` // "before" of the next page
	}{Jobs: []shownJob{}}
	for _, r := range list {
		out.Jobs = append(out.Jobs, showJob(r))
	}
	if len(list) == f.Limit {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

// searchable refuses what no text in the database can be. Nothing is left out of it in
// silence: what would remain could choose all jobs.
func searchable(f job.Filter) error {
	for _, text := range []string{f.Kind, f.Lane, f.CorrelationID, f.Error} {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return refuse(http.StatusBadRequest, "kind, lane, request and error have to be texts: one has a zero character, or is not UTF-8")
		}
	}
	return nil
}

func (a *API) getJob(ctx context.Context, c *call) (any, error) {
	r, err := a.d.Store.JobRecord(ctx, c.id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, refuse(http.StatusNotFound, "there is no such job")
	}
	return showJob(r), err
}

// decided answers what a person decided of a job: with the job as it is then, or with why it was
// not allowed.
func (a *API) decided(ctx context.Context, c *call, err error, why string) (any, error) {
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	r, ferr := a.getJob(ctx, c)
	if ferr != nil {
		return nil, ferr
	}
	if err != nil {
		return nil, refuse(http.StatusConflict, why+"; this one is "+string(r.(shownJob).State))
	}
	a.d.Log.InfoContext(ctx, "job changed by hand", "job", c.id, "by", c.caller.name, "path", c.r.URL.Path)
	return r, nil
}

func (a *API) replayJob(ctx context.Context, c *call) (any, error) {
	made, err := a.d.Store.Replay(ctx, c.id, c.caller.name)
	if err == nil {
		a.d.Publisher.Publish(ctx, []job.Inserted{made})
	}
	return a.decided(ctx, c, err, "only a job in review can be replayed")
}

// mayEnd refuses to end what was promised to somebody.
func (a *API) mayEnd(ctx context.Context, c *call) error {
	r, err := a.d.Store.JobRecord(ctx, c.id)
	if errors.Is(err, job.ErrNotFound) {
		return refuse(http.StatusNotFound, "there is no such job")
	}
	if err != nil {
		return err
	}
	if why := person.MayEnd(r); why != nil {
		return refuse(http.StatusConflict, why.Error())
	}
	return nil
}

func (a *API) cancelJob(ctx context.Context, c *call) (any, error) {
	if err := a.mayEnd(ctx, c); err != nil {
		return nil, err
	}
	_, err := a.d.Store.Cancel(ctx, c.id, c.caller.name)
	return a.decided(ctx, c, err, "what has ended cannot be cancelled")
}

func (a *API) settleJob(ctx context.Context, c *call) (any, error) {
	var in struct {
		Remark string `json:"remark"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	remark, ok := job.Remark(in.Remark)
	if !ok {
		return nil, invalid([]Field{{"/remark", "required", "what was done about it, up to 1000 characters"}})
	}
	if err := a.mayEnd(ctx, c); err != nil {
		return nil, err
	}
	err := a.d.Store.SettleReview(ctx, c.id, c.caller.name, remark)
	return a.decided(ctx, c, err, "only a job in review can be settled")
}

// replayJobs replays the reviews that the body chooses, or only counts them. Both say until
// when: whoever agreed to what was counted replays nothing that came later.
func (a *API) replayJobs(ctx context.Context, c *call) (any, error) {
	var in struct {
		Kind    string    `json:"kind"`
		Lane    string    `json:"lane"`
		Request string    `json:"request"`
		Error   string    `json:"error"`
		Until   time.Time `json:"until"`
		DryRun  *bool     `json:"dry_run"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.DryRun == nil {
		return nil, invalid([]Field{{"/dry_run", "required", "true counts the reviews, false replays them"}})
	}
	f := job.Filter{
		States: []job.State{job.NeedsReview}, Kind: in.Kind, Lane: in.Lane, CorrelationID: in.Request, Error: in.Error, Until: in.Until, Limit: replayMost + 1,
	}
	if err := searchable(f); err != nil {
		return nil, err
	}
	if f.Until.IsZero() {
		now, err := a.d.Store.Now(ctx)
		if err != nil {
			return nil, err
		}
		f.Until = now
	}
	list, err := a.d.Store.Jobs(ctx, f)
	if err != nil {
		return nil, err
	}
	out := struct {
		Chosen   int       `json:"chosen"`
		Replayed int       `json:"replayed"`
		More     bool      `json:"more"`  // than one call replays
		Until    time.Time `json:"until"` // what went into review later is not chosen
	}{Chosen: min(len(list), replayMost), More: len(list) > replayMost, Until: f.Until}
	if *in.DryRun {
		return out, nil
	}
	list = list[:out.Chosen]
	if err := a.admitWork(ctx, c, queuesOf(list)...); err != nil {
		return nil, err
	}
	for _, r := range list {
		made, err := a.d.Store.ReplayUntil(ctx, r.ID, c.caller.name, f.Until)
		if errors.Is(err, job.ErrNotFound) {
			continue // somebody else has dealt with it meanwhile
		}
		if err != nil {
			return nil, err
		}
		a.d.Publisher.Publish(ctx, []job.Inserted{made})
		out.Replayed++
	}
	a.d.Log.InfoContext(ctx, "jobs replayed by hand", "count", out.Replayed, "by", c.caller.name)
	return out, nil
}

// queuesOf names the queues of jobs, each once.
func queuesOf(list []job.Record) (names []string) {
	for _, r := range list {
		if !slices.Contains(names, r.Queue) {
			names = append(names, r.Queue)
		}
	}
	return names
}
