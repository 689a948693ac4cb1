package ycf

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"supportbot/shared/obs"
)

const maxRequestID = 64 // of an id that a caller may have made up

// Recover is the outermost handler of an HTTP function: log records of a call
// carry its request id, and a panic is logged and becomes 500, so that the sender
// repeats.
func Recover(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := requestIDOf(r); id != "" {
			ctx := obs.With(r.Context(), slog.String(requestIDAttr, id[:min(len(id), maxRequestID)]))
			r = r.WithContext(ctx)
		}
		err := Guard(func() error { next.ServeHTTP(w, r); return nil })
		if err == nil {
			return
		}
		log.ErrorContext(r.Context(), "handler panicked", slog.String(obs.Error, err.Error()))
		// Without effect if the handler had begun to answer.
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	})
}

// retryAfter is how long a sender is asked to wait for a function that could not
// be built.
const retryAfter = 5 * time.Second

// Unavailable answers for a function that could not be built: the error goes to
// the log, and the sender is asked to repeat after 5 seconds. The wait is named in
// seconds, which is the form that Telegram reads (tdlib/telegram-bot-api,
// WebhookActor).
func Unavailable(w http.ResponseWriter, r *http.Request, err error) {
	unavailable(os.Stdout, w, r, err, strconv.Itoa(int(retryAfter/time.Second)))
}

// UnavailableUntil is Unavailable for a sender that reads a date: VK (Callback
// API; vksdk, callback.RetryAfter).
func UnavailableUntil(w http.ResponseWriter, r *http.Request, err error) {
	unavailable(os.Stdout, w, r, err, time.Now().Add(retryAfter).UTC().Format(http.TimeFormat))
}

// unavailable makes its own logger: the function's is one of the things that
// could not be built.
func unavailable(out io.Writer, w http.ResponseWriter, r *http.Request, err error, retry string) {
	ctx := r.Context()
	log := obs.NewLogger(out, stringValue(ctx, functionNameValue), slog.LevelInfo)
	log.ErrorContext(ctx, "function unavailable",
		slog.String(obs.Error, err.Error()), slog.String(requestIDAttr, requestIDOf(r)))
	w.Header().Set("Retry-After", retry)
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}
