// Package alarm tells operators when something needs a person: once when it begins,
// with what to do, and once when it is over.
package alarm

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/phrase"
)

//go:embed texts
var files embed.FS

var book = phrase.Open(files, "texts")

// Thresholds. Work is late well after what a lease, a pass of the reconciler and an
// outage of a minute explain; analytics are loaded every hour.
const (
	lateFrom   = 5 * time.Minute
	loadedFrom = 3 * time.Hour
)

// Reading is what is looked at.
type Reading struct {
	Now     time.Time
	Reviews int           // jobs that wait for a person
	Dead    int           // dead letters of the last hour
	Late    time.Duration // see gauge.Health
	Loaded  time.Time     // when analytics were last loaded; zero: never, so nobody waits
}

// Store remembers what operators know.
type Store interface {
	Alarms(ctx context.Context) (raised map[string]bool, err error)
	SetAlarm(ctx context.Context, name string, raised bool) error
}

// Service is a duty of the reconciler.
type Service struct {
	Read  func(ctx context.Context) (Reading, error)
	Store Store
	// Send writes to the operators' chat; nil: there is none, and only the log has it. The
	// key is another one when the same is told again, be it in the same words: a messenger
	// that keeps keys would swallow it.
	Send   func(ctx context.Context, key, text string) error
	Locale string
	Log    *slog.Logger
}

// condition is something that may need a person.
type condition struct {
	name  string
	holds bool
	pairs []string // of its text
}

func conditions(r Reading) []condition {
	idle := time.Duration(0)
	if !r.Loaded.IsZero() {
		idle = r.Now.Sub(r.Loaded)
	}
	return []condition{
		{"reviews", r.Reviews > 0, []string{"count", strconv.Itoa(r.Reviews)}},
		{"dead", r.Dead > 0, []string{"count", strconv.Itoa(r.Dead)}},
		{"late", r.Late > lateFrom, []string{"minutes", strconv.Itoa(int(r.Late.Minutes()))}},
		{"analytics", idle > loadedFrom, []string{"hours", strconv.Itoa(int(idle.Hours()))}},
	}
}

// doubt, behind a condition's name, notes that nobody knows whether the operators heard of it.
const doubt = "?"

// Run tells what has changed and gives how much of it. What could not be told is told
// by the next run; what may have been told once more, like an answer to a customer. A crash
// between the telling and its note tells twice.
func (s *Service) Run(ctx context.Context) (told int, err error) {
	r, err := s.Read(ctx)
	if err != nil {
		return 0, err
	}
	known, err := s.Store.Alarms(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range conditions(r) {
		doubted := known[c.name+doubt]
		if c.holds == known[c.name] && !doubted {
			continue
		}
		unsure, err := s.tell(ctx, c, r.Now)
		if err != nil {
			return told, err
		}
		if err := s.note(ctx, c, doubted, unsure && (!doubted || c.holds != known[c.name])); err != nil {
			return told, err
		}
		told++
	}
	return told, nil
}

// tell says whether something began or is over; unsure: the messenger may have brought it.
func (s *Service) tell(ctx context.Context, c condition, now time.Time) (unsure bool, err error) {
	name := c.name
	if !c.holds {
		name += ".over"
	}
	if s.Send != nil {
		key := "alarm:" + name + now.UTC().Format(" 2006-01-02T15:04")
		err := s.Send(ctx, key, book.Text(s.Locale, name, c.pairs...))
		var e *messenger.Error
		if unsure = errors.As(err, &e) && e.Kind == messenger.Uncertain; err != nil && !unsure {
			return false, fmt.Errorf("tell operators of %s: %w", name, err)
		}
	}
	s.Log.WarnContext(ctx, "alarm", slog.String("alarm", c.name), slog.Bool("raised", c.holds), slog.Bool("unsure", unsure))
	return unsure, nil
}

// noteTime is for what has to be noted when the time of the duty went with the telling.
const noteTime = 3 * time.Second

// note keeps what the operators know, and before it whether that is in doubt.
func (s *Service) note(ctx context.Context, c condition, doubted, doubtful bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if doubted != doubtful {
		if err := s.Store.SetAlarm(ctx, c.name+doubt, doubtful); err != nil {
			return err
		}
	}
	return s.Store.SetAlarm(ctx, c.name, c.holds)
}
