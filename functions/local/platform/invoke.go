package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	analyticsloader "supportbot/functions/analytics-loader/wire"
	"supportbot/shared/job"
	"supportbot/shared/ycf"
)

// Invoke hands an event to a function by its name, as the cloud would. The answer is
// the response event of a function that is called over HTTP, and the report of a load of
// analytics; others have none. The error is the function's own, or says that it is not a
// part of the platform.
func (p *Platform) Invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	if h := p.http[function]; h != nil {
		return ycf.Serve(ctx, h, event)
	}
	worker := map[string]*job.Worker{"ticket-worker": p.tickets, "tracker-worker": p.deliveries, "notification-worker": p.broadcasts}[function]
	switch {
	case worker != nil:
		var e ycf.QueueEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}
		return nil, ycf.Guard(func() error { return worker.Handle(ctx, &e) })
	case function == "reconciler":
		var e ycf.TimerEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}
		return nil, ycf.Guard(func() error { return p.reconciler.Handle(ctx, &e) })
	case function == "analytics-loader":
		return p.load(ctx, event)
	}
	return nil, fmt.Errorf("%s is no function of the local platform as it is configured", function)
}

// load is a call of the loader of analytics, which is no part of the platform otherwise:
// nothing of it waits for ClickHouse.
func (p *Platform) load(ctx context.Context, event []byte) (report []byte, err error) {
	if !p.has("CLICKHOUSE_URL") {
		return nil, errors.New("analytics-loader needs CLICKHOUSE_URL: a ClickHouse to load into, with the schema of migrate")
	}
	rt := p.runtime("analytics-loader")
	f, err := analyticsloader.New(rt.Env, rt.Log, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = ycf.Guard(func() error {
		r, err := f.Handle(ctx, event)
		if err != nil {
			return err
		}
		report, err = json.Marshal(r)
		return err
	})
	return report, err
}
