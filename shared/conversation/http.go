package conversation

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

const (
	acceptTime = 8 * time.Second // for all of a call's events, before it is answered
	retryAfter = 5 * time.Second // that a messenger shall wait when a store is away
)

// Webhook is the HTTP side of a conversation, the same for every messenger: it
// answers by what the messenger should do. Stored: what the adapter replies.
// Wrong secret, too large: refused. Content that no repetition would mend: 200.
// A store is away: 503 with Retry-After. The replies are sent after the answer.
func Webhook(receiver messenger.Receiver, s *Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		events, reply, err := receiver.Receive(r)
		if err != nil {
			s.refused(ctx, reply, err)
			write(w, reply)
			return
		}
		var accepted []*closing
		for _, ev := range events {
			c, err := s.accept(ctx, s.input(ev))
			if err != nil {
				reply = s.unavailable(w, ev.Address.Messenger)
				break
			}
			accepted = append(accepted, c)
		}
		write(w, reply)
		for _, c := range accepted {
			c.finish(ctx)
		}
	})
}

// closing ends an event with its one line in the log.
type closing struct {
	*Accepted
	s     *Service
	in    input
	start time.Time
	took  time.Duration // until it was safe
}

func (s *Service) accept(ctx context.Context, in input) (*closing, error) {
	c := &closing{s: s, in: in, start: s.d.Now()}
	ctx = obs.WithCorrelation(ctx, in.Key)
	limited, cancel := context.WithTimeout(ctx, acceptTime)
	defer cancel()
	a, err := s.handle(limited, in)
	c.took = s.d.Now().Sub(c.start)
	if errors.Is(err, dialog.ErrForgotten) { // whoever asked tells it
		return nil, err
	}
	if err != nil {
		c.log(ctx, slog.LevelError, Unavailable, slog.String(obs.Error, err.Error()))
		return nil, err
	}
	c.Accepted = a
	return c, nil
}

func (c *closing) finish(ctx context.Context) {
	ctx = obs.WithCorrelation(ctx, c.in.Key)
	c.Finish(ctx)
	level := slog.LevelInfo
	if c.in.missed && c.Outcome == Repeated {
		level = slog.LevelDebug // it was not missed: the line is there already
	}
	c.log(ctx, level, c.Outcome, slog.Int("sent", c.Sent), slog.Int("queued", c.Queued))
}

func (c *closing) log(ctx context.Context, level slog.Level, o Outcome, more ...slog.Attr) {
	c.s.d.Log.LogAttrs(ctx, level, "event", append([]slog.Attr{
		slog.String(obs.Outcome, string(o)),
		slog.String(obs.Kind, string(c.in.Kind)),
		slog.String(obs.Messenger, string(c.in.Address.Messenger)),
		slog.String(obs.Chat, c.in.Address.Chat),
		slog.Bool("missed", c.in.missed),
		slog.Int64(obs.Duration, c.took.Milliseconds()),
		slog.Int64("total_ms", c.s.d.Now().Sub(c.start).Milliseconds()),
	}, more...)...)
}

// refused logs a call that is no event. The body is not logged: it may be
// anybody's.
func (s *Service) refused(ctx context.Context, reply messenger.Reply, err error) {
	level := slog.LevelWarn
	if errors.Is(err, messenger.ErrMalformed) {
		level = slog.LevelError // the messenger speaks in a way that we do not know
	}
	s.d.Log.LogAttrs(ctx, level, "webhook call refused",
		slog.String(obs.Outcome, "refused"), slog.Int("status", reply.Status), slog.String(obs.Error, err.Error()))
}

// unavailable asks the messenger to deliver again. Telegram reads seconds in
// Retry-After (tdlib/telegram-bot-api, WebhookActor), VK a date (VK Callback API;
// vksdk, callback.RetryAfter).
func (s *Service) unavailable(w http.ResponseWriter, name messenger.Name) messenger.Reply {
	wait := strconv.Itoa(int(retryAfter / time.Second))
	if name == messenger.VK {
		wait = s.d.Now().Add(retryAfter).UTC().Format(http.TimeFormat)
	}
	w.Header().Set("Retry-After", wait)
	return messenger.Reply{Status: http.StatusServiceUnavailable, ContentType: "text/plain", Body: "try again"}
}

// write answers at once where the server can; in Cloud Functions the answer
// leaves when the handler returns, which is why Finish is bounded.
func write(w http.ResponseWriter, reply messenger.Reply) {
	if reply.ContentType != "" {
		w.Header().Set("Content-Type", reply.ContentType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(reply.Body)))
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
