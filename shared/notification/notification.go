// Package notification is the HTTP API of broadcasts: create, watch, pause, correct; of
// the metrics that analysts look at; of the jobs that wait for an operator; and of what is known of a customer, to be handed out or
// erased. It is JSON over /v1; openapi.json describes it, and is served by it.
//
// A caller is a program with an API key (X-API-Key) or a person with a session of
// the console (X-Session): the cloud's gateway passes neither Authorization nor
// Cookie on to a function. What would be done twice if it were repeated wants an
// Idempotency-Key: the same key and body give the same answer, the same key with
// another body is refused (422). Errors are problems as in RFC 9457, with one entry
// per field that is wrong.
package notification

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/catalogue"
	"supportbot/shared/gauge"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/metric"
	"supportbot/shared/person"
)

// Store is what the API needs of the database. Errors: job.ErrNotFound, when there
// is no such thing or its state does not allow this; job.ErrMismatch for a key that
// was used for something else.
type Store interface {
	CreateBroadcast(ctx context.Context, n broadcast.New) (b broadcast.Broadcast, created bool, jobs []job.Inserted, err error)
	// BroadcastByKey gives what CreateBroadcast would find instead of creating.
	BroadcastByKey(ctx context.Context, by, key, fingerprint string) (b broadcast.Broadcast, ok bool, err error)
	UpdateDraft(ctx context.Context, id int64, s broadcast.Spec) (broadcast.Broadcast, error)
	StartBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, []job.Inserted, error)
	PauseBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, error)
	ResumeBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, []job.Inserted, error)
	CancelBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, error)
	SetBroadcastRate(ctx context.Context, id int64, perSecond float64) (broadcast.Broadcast, error)
	ResendUncertain(ctx context.Context, id int64) (n int, jobs []job.Inserted, err error)
	Broadcast(ctx context.Context, id int64) (broadcast.Broadcast, error)
	Broadcasts(ctx context.Context, states []broadcast.State, before int64, limit int) (list []broadcast.Broadcast, next int64, err error)
	Batches(ctx context.Context, id int64) ([]broadcast.Batch, error)
	Recipients(ctx context.Context, id int64, outcome broadcast.Outcome, after string, limit int) (list []broadcast.Listed, next string, err error)
	Estimate(ctx context.Context, a broadcast.Audience, k broadcast.Kind, bots broadcast.Bots, tickets []messenger.Address) (map[messenger.Name]int, error)
	Jobs(ctx context.Context, f job.Filter) ([]job.Record, error)
	// Now is the time by which jobs end.
	Now(ctx context.Context) (time.Time, error)
	JobRecord(ctx context.Context, id int64) (job.Record, error)
	Replay(ctx context.Context, id int64, by string) (job.Inserted, error)
	// ReplayUntil leaves alone what went into review after until.
	ReplayUntil(ctx context.Context, id int64, by string, until time.Time) (job.Inserted, error)
	Cancel(ctx context.Context, id int64, by string) (job.State, error)
	SettleReview(ctx context.Context, id int64, by, remark string) error
	// Backlog counts the due jobs of a queue that nobody has begun.
	Backlog(ctx context.Context, queue string) (int, error)
	DeadLetters(ctx context.Context, before int64, limit int) ([]job.DeadLetter, error)
	// Gauges gives the last reading, and the time by the clock that it was taken by.
	Gauges(ctx context.Context) (r gauge.Reading, now time.Time, err error)
	Health(ctx context.Context) (gauge.Health, error)
	PersonByID(ctx context.Context, id int64) (*person.Person, error)
	PersonOfUser(ctx context.Context, m messenger.Name, user string) (int64, error)
	Insert(ctx context.Context, jobs []job.New) ([]job.Inserted, error)
	Find(ctx context.Context, key string) (*job.Job, error)
	KeyByHash(ctx context.Context, hash []byte) (*person.APIKey, error)
	// Load says how far a load of analytics has come; nil when there is none.
	Load(ctx context.Context, name string) (*analytics.Load, error)
}

// Live is where the progress of broadcasts is shown; its loss costs a query.
type Live interface {
	Progress(ctx context.Context, id int64) (p broadcast.Progress, ok bool, err error)
	Put(ctx context.Context, b broadcast.Broadcast, batches []broadcast.Batch) error
	SetState(ctx context.Context, id int64, s broadcast.State) error
}

// Sessions are the console's sign-ins.
type Sessions interface {
	// Open exchanges a one-time code for a session; ok is false for a code that was
	// used, has expired or never was.
	Open(ctx context.Context, code string) (s person.Session, token string, ok bool, err error)
	Session(ctx context.Context, token string) (s person.Session, ok bool, err error)
	Keep(ctx context.Context, token string, s person.Session) error
	Close(ctx context.Context, token string) error
}

// Pacer tells how many calls per second broadcasts may make.
type Pacer interface {
	BroadcastLimit(m messenger.Name) float64
}

// Deps are what an API works with.
type Deps struct {
	Store     Store
	Live      Live
	Sessions  Sessions
	Pacer     Pacer
	Publisher interface {
		Publish(ctx context.Context, jobs []job.Inserted)
	}
	Bots    broadcast.Bots
	Senders func(m messenger.Name, bot string) (broadcasting.Sender, bool)
	Buttons func(k broadcast.Kind, locale string) []messenger.Button
	Tickets func(ctx context.Context) ([]messenger.Address, error)
	Locales []string // that texts may be in
	// BacklogMost is how many jobs of a queue may wait before calls that make more are
	// refused; 0: DefaultBacklog.
	BacklogMost int
	// Metrics are what there is to look at. Analytics is where their rows are; nil:
	// nowhere. Zone is whose days a report has unless told.
	Metrics   *metric.Catalogue
	Analytics metric.Store
	Catalogue *catalogue.Catalogue
	Zone      *time.Location
	// Privacy hands out what is known of a customer.
	Privacy interface {
		Dossier(ctx context.Context, id int64) (person.Dossier, error)
	}
	Now func() time.Time
	Log *slog.Logger
}

// API is the handler of /v1.
type API struct {
	d      Deps
	routes []route
}

// New makes the API.
func New(d Deps) *API {
	d.BacklogMost = cmp.Or(d.BacklogMost, DefaultBacklog)
	a := &API{d: d}
	a.routes = a.table()
	return a
}

// table lists what there is. Roles: any of them; none: nobody has to sign in.
func (a *API) table() []route {
	admin := []person.Role{person.Admin}
	watch := []person.Role{person.Admin, person.Operator}
	anyone := []person.Role{person.Admin, person.Operator, person.Analyst}
	analyst := []person.Role{person.Admin, person.Analyst}
	return []route{
		{http.MethodGet, "/v1/openapi.json", nil, a.document, nil},
		{http.MethodPost, "/v1/session", nil, a.signIn, nil},
		{http.MethodGet, "/v1/session", anyone, a.session, nil},
		{http.MethodDelete, "/v1/session", anyone, a.signOut, nil},
		{http.MethodPost, "/v1/broadcasts", admin, a.create, nil},
		{http.MethodGet, "/v1/broadcasts", watch, a.list, []string{"state", "before", "limit"}},
		{http.MethodGet, "/v1/broadcasts/{id}", watch, a.get, nil},
		{http.MethodPut, "/v1/broadcasts/{id}", admin, a.update, nil},
		{http.MethodPatch, "/v1/broadcasts/{id}", admin, a.setRate, nil},
		{http.MethodGet, "/v1/broadcasts/{id}/progress", watch, a.progress, nil},
		{http.MethodGet, "/v1/broadcasts/{id}/recipients", watch, a.recipients, []string{"outcome", "after", "limit"}},
		{http.MethodPost, "/v1/broadcasts/{id}/start", admin, a.start, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/pause", watch, a.pause, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/resume", admin, a.resume, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/cancel", watch, a.cancel, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/correct", admin, a.correct, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/test", admin, a.test, nil},
		{http.MethodPost, "/v1/broadcasts/{id}/resend-uncertain", admin, a.resend, nil},
		{http.MethodPost, "/v1/preview", admin, a.preview, nil},
		{http.MethodPost, "/v1/audience/estimate", admin, a.estimate, nil},
		{http.MethodPost, "/v1/messages", admin, a.message, nil},
		{http.MethodGet, "/v1/jobs", watch, a.listJobs, []string{"state", "kind", "lane", "request", "error", "before", "limit"}},
		{http.MethodPost, "/v1/jobs/replay", watch, a.replayJobs, nil},
		{http.MethodGet, "/v1/jobs/{id}", watch, a.getJob, nil},
		{http.MethodPost, "/v1/jobs/{id}/replay", watch, a.replayJob, nil},
		{http.MethodPost, "/v1/jobs/{id}/cancel", watch, a.cancelJob, nil},
		{http.MethodPost, "/v1/jobs/{id}/settle", watch, a.settleJob, nil},
		{http.MethodGet, "/v1/dead-letters", watch, a.listDead, []string{"before", "limit"}},
		{http.MethodGet, "/v1/gauges", watch, a.gauges, []string{"format"}},
		{http.MethodGet, "/v1/health", watch, a.health, nil},
		{http.MethodGet, "/v1/customers", admin, a.findCustomer, []string{"messenger", "user"}},
		{http.MethodGet, "/v1/customers/{id}/export", admin, a.exportCustomer, nil},
		{http.MethodPost, "/v1/customers/{id}/erase", admin, a.eraseCustomer, nil},
		{http.MethodGet, "/v1/metrics", analyst, a.metrics, []string{"locale"}},
		{http.MethodGet, "/v1/metrics/{name}", analyst, a.metric, []string{"from", "to", "tz", "locale", "format", metric.Messenger, metric.Category}},
	}
}
