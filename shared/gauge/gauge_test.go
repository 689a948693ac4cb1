package gauge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"supportbot/shared/gauge"
)

func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := gauge.Reading{At: at, Samples: []gauge.Sample{
		{Name: gauge.Due, Labels: map[string]string{"queue": "tickets"}, Value: 3},
		{Name: gauge.Held, Value: 0.5},
		{Name: gauge.Due, Labels: map[string]string{"queue": "a\"b\\c\nd"}, Value: 1e6},
		{Name: gauge.Ended, Labels: map[string]string{"state": "completed", "queue": "tickets"}, Value: 7},
	}}
	const want = `# HELP supportbot_jobs_due Jobs that may run and that nobody works on, by queue; counted up to a hundred thousand.
# TYPE supportbot_jobs_due gauge
supportbot_jobs_due{queue="a\"b\\c\nd"} 1e+06
supportbot_jobs_due{queue="tickets"} 3
# HELP supportbot_jobs_ended Jobs that ended within the last minute, by queue and state.
# TYPE supportbot_jobs_ended gauge
supportbot_jobs_ended{queue="tickets",state="completed"} 7
# HELP supportbot_jobs_held Jobs that are paused or wait for another one.
# TYPE supportbot_jobs_held gauge
supportbot_jobs_held 0.5
# HELP supportbot_reading_age_seconds Since all of this was measured.
# TYPE supportbot_reading_age_seconds gauge
supportbot_reading_age_seconds 90
`
	if got := r.Text(at.Add(90 * time.Second)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (gauge.Reading{}).Text(at); got != "" {
		t.Errorf("nothing was measured: %q", got)
	}
}

type kept struct {
	samples []gauge.Sample
	err     error
}

func (k *kept) PutGauges(ctx context.Context, s []gauge.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.samples = s
	return k.err
}

// A source that fails costs its own samples; the log has one line with all others.
func TestService(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	away := errors.New("away")
	store := &kept{}
	s := &gauge.Service{Store: store, Log: slog.New(slog.NewJSONHandler(&log, nil)), Sources: []gauge.Source{
		func(context.Context) ([]gauge.Sample, error) {
			return []gauge.Sample{{Name: gauge.Messages, Labels: map[string]string{"queue": "tickets"}, Value: 2}}, away
		},
		func(context.Context) ([]gauge.Sample, error) {
			return []gauge.Sample{{Name: gauge.Held, Value: 1}}, nil
		},
	}}
	if n, err := s.Run(context.Background()); n != 2 || !errors.Is(err, away) || len(store.samples) != 2 {
		t.Errorf("%d samples, kept %+v, %v", n, store.samples, err)
	}
	var line struct {
		Msg    string
		Gauges map[string]float64
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Msg != "gauges" || line.Gauges["queue_messages.tickets"] != 2 || line.Gauges["jobs_held"] != 1 {
		t.Errorf("the log has %s, %v", log.String(), err)
	}
	store.err = errors.New("no database")
	if _, err := s.Run(context.Background()); !errors.Is(err, store.err) {
		t.Errorf("a reading that is not kept: %v", err)
	}
}

// A source that does not answer keeps the others no longer than its own time.
func TestService_OneHangs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	store := &kept{}
	told := func(name string) gauge.Source {
		return func(context.Context) ([]gauge.Sample, error) { return []gauge.Sample{{Name: name}}, nil }
	}
	hangs := func(ctx context.Context) ([]gauge.Sample, error) { <-ctx.Done(); return nil, ctx.Err() }
	s := &gauge.Service{
		Store: store, Sources: []gauge.Source{told("a"), hangs, told("b")}, Limit: time.Millisecond, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if _, err := s.Run(ctx); !errors.Is(err, context.DeadlineExceeded) || len(store.samples) != 2 {
		t.Errorf("kept %+v, %v", store.samples, err)
	}
}
