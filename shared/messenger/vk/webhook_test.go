package vk_test

import (
	"io"
	"net/http"

	"supportbot/shared/messenger"
)

// webhook is the handler that a function makes of the adapter.
func webhook(h *harness, events chan<- messenger.Event) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received, reply, err := h.bot.Receive(r)
		if err != nil {
			h.t.Errorf("receive: %v", err)
		}
		for _, e := range received {
			events <- e
		}
		w.Header().Set("Content-Type", reply.ContentType)
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	})
}
