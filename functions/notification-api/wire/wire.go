// Package wire puts the notification API and the console together.
package wire

import (
	"net/http"
	"strings"

	"supportbot/shared/broadcasting"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/console"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/metric"
	"supportbot/shared/notification"
	"supportbot/shared/pace"
	"supportbot/shared/privacy"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
	"supportbot/shared/ycf"
)

// New makes the handler of /v1 and /console.
func New(rt wiring.Runtime) (http.Handler, error) {
	known := all.ConfigFrom(rt.Env)
	zone := rt.Env.Zone("REPORT_TIMEZONE", "Europe/Moscow")
	var stored *clickhouse.Config
	if rt.Env.String("CLICKHOUSE_URL", "") != "" {
		cfg := clickhouse.ConfigFrom(rt.Env)
		stored = &cfg
	}
	metrics, err := metric.New(metric.Files)
	if err != nil {
		return nil, err
	}
	b, err := bot.New(rt)
	if err != nil {
		return nil, err
	}
	messengers, err := all.New(known, rt.Log, b.Pace.Call)
	if err != nil {
		b.DB.Close() // the next call opens all of it anew
		return nil, err
	}
	rows, err := analytics(stored)
	if err != nil {
		b.DB.Close()
		return nil, err
	}
	api := notification.New(notification.Deps{
		Store: b.DB, Live: redisdb.NewLive(b.Redis), Sessions: redisdb.NewSessions(b.Redis), Pacer: b.Pace.Class(pace.Broadcasts),
		Publisher: b.Publisher, Bots: messengers.Bots(), Tickets: b.OpenTickets, Locales: catalogue.Languages,
		Senders: func(m messenger.Name, id string) (broadcasting.Sender, bool) {
			return messengers.For(messenger.Address{Messenger: m, Bot: id})
		},
		Buttons: dialog.UnsubscribeButtons, Now: rt.Clock(), Log: rt.Log,
		Metrics: metrics, Analytics: rows, Catalogue: b.Catalogue, Zone: zone,
		Privacy: b.Privacy(func(a messenger.Address) (privacy.Sender, bool) { return messengers.For(a) }),
	})
	return ycf.Recover(rt.Log, front(console.New(catalogue.Languages), api)), nil
}

// front tells the page's paths from the API's. A ServeMux would redirect those that are
// not clean, to wherever they lead.
func front(page, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; path == console.Path || strings.HasPrefix(path, console.Path+"/") {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// analytics gives where the rows of metrics are; nil without CLICKHOUSE_URL: then there
// are none, and broadcasts go on.
func analytics(cfg *clickhouse.Config) (metric.Store, error) {
	if cfg == nil {
		return nil, nil
	}
	return clickhouse.Open(*cfg)
}
