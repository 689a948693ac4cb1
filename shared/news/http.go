package news

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/ticket"
)

// SecretHeader carries the trigger's secret.
const SecretHeader = "X-Webhook-Secret"

// BodyMost is the largest body of a trigger's call: it carries an id and a key.
const BodyMost = 64 << 10

// Trigger is the handler of the calls that Tracker's triggers make.
type Trigger struct {
	Secrets []env.Secret // several while rotating; none refuses every call
	Store   interface {
		Look(ctx context.Context, j job.New) (job.Inserted, error)
	}
	Publisher *job.Publisher
	Log       *slog.Logger
}

var (
	issueID  = regexp.MustCompile(`^[0-9a-zA-Z]{1,64}$`)
	issueKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,31}-[0-9]{1,12}$`)
)

// ServeHTTP takes {"id": "...", "key": "SUP-1"}; one of the two is enough, and an
// unknown variable of Tracker's is an empty text. What it cannot read is answered
// 400 and not repeated: Tracker promises no redelivery, the poll finds it.
func (t *Trigger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	if !env.Match(t.Secrets, r.Header.Get(SecretHeader)) {
		t.Log.WarnContext(ctx, "trigger with a wrong secret")
		http.Error(w, "wrong secret", http.StatusForbidden)
		return
	}
	p, status := parse(w, r)
	if status != 0 {
		t.Log.WarnContext(ctx, "trigger refused", slog.Int("status", status))
		http.Error(w, http.StatusText(status), status)
		return
	}
	j := Job(p, newID())
	ctx = obs.WithCorrelation(ctx, j.CorrelationID)
	in, err := t.Store.Look(ctx, j)
	if err != nil {
		t.Log.ErrorContext(ctx, "trigger not stored", slog.Any(obs.Error, err))
		w.Header().Set("Retry-After", "5")
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	t.Publisher.Publish(ctx, []job.Inserted{in})
	t.Log.InfoContext(ctx, "trigger", slog.Int64(obs.Job, in.ID), slog.Bool("joined", !in.New))
	w.WriteHeader(http.StatusOK)
}

func parse(w http.ResponseWriter, r *http.Request) (p ticket.Look, status int) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, BodyMost))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return p, http.StatusRequestEntityTooLarge
	}
	var body struct{ ID, Key json.RawMessage } // one that cannot be read leaves the other
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return p, http.StatusBadRequest
	}
	if id := word(body.ID); issueID.MatchString(id) {
		p.ID = id
	}
	if key := word(body.Key); issueKey.MatchString(key) {
		p.Key = key
	}
	if p.ID == "" && p.Key == "" {
		return p, http.StatusBadRequest
	}
	return p, 0
}

// word reads a text, or a number as Tracker's templates may write one.
func word(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number json.Number
	_ = json.Unmarshal(raw, &number) // of anything else: none
	return number.String()
}

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
