package platform

import (
	"context"
	"encoding/json"
	"fmt"

	"supportbot/shared/job"
	"supportbot/shared/ycf"
)

// Invoke hands an event to a function by its name, as the cloud would. The answer is
// the response event of a function that is called over HTTP; others have none. The
// error is the function's own, or says that it is not a part of the platform.
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
	}
	return nil, fmt.Errorf("%s is no function of the local platform as it is configured", function)
}
