package deploy

import (
	"context"
	"fmt"

	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/queue/ymq"
	"supportbot/shared/ticket"
)

// piled is how many hints may wait in a queue: a worker takes hundreds a minute.
const piled = 100

// messageQueue is the queues with their dead letters.
type messageQueue struct{ client *ymq.Client }

// queues is nothing without addresses. The key may be the deployer's own, by the
// names that Terraform's provider has for it: the functions' key leaves Lockbox for nobody.
func (p *parts) queues() (service, error) {
	if !p.has("QUEUE_URL_TICKETS") {
		return messageQueue{}, nil
	}
	vars := map[string]string{
		"QUEUE_ACCESS_KEY": p.vars.String("YC_MESSAGE_QUEUE_ACCESS_KEY", ""), "QUEUE_SECRET_KEY": p.vars.String("YC_MESSAGE_QUEUE_SECRET_KEY", ""),
	}
	e := env.NewReaderFrom(func(name string) (string, bool) {
		if v, ok := p.cfg.Lookup(name); v != "" {
			return v, ok
		}
		v, ok := vars[name]
		return v, ok
	})
	cfg := ymq.ConfigFrom(e, ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue)
	if err := e.Err(); err != nil {
		return nil, err
	}
	client, err := ymq.New(cfg)
	return messageQueue{client}, err
}

func (messageQueue) name() string { return "Queues" }

func (messageQueue) settings(context.Context) ([]Setting, error) { return nil, nil }

// check implements service.
func (q messageQueue) check(ctx context.Context) (found []Finding) {
	if q.client == nil {
		return []Finding{{Warning, "the queues were not looked at", "QUEUE_URL_TICKETS, QUEUE_URL_DELIVERIES and QUEUE_URL_BROADCASTS name them; terraform output prints the command."}}
	}
	for _, name := range []string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue} {
		d, err := q.client.Depth(ctx, name)
		switch {
		case err != nil:
			found = append(found, Finding{Failure, "the queue " + name + " could not be asked: " + err.Error(), "Compare its address with that of terraform output; the key needs the role ymq.reader."})
			continue
		case d.Waiting > piled:
			found = append(found, Finding{
				Failure, fmt.Sprintf("%d messages wait in the queue %s (%d taken, %d delayed)", d.Waiting, name, d.Taken, d.Delayed),
				"Its worker is too slow, breaks, or its trigger is paused: see the worker's log, the trigger and the quota of calls at the same time.",
			})
		default:
			found = append(found, fine("queue %s: %d waiting, %d taken, %d delayed", name, d.Waiting, d.Taken, d.Delayed))
		}
		switch {
		case d.DeadName == "":
			found = append(found, Finding{Warning, "the queue " + name + " has no queue of dead letters", "terraform apply makes it."})
		case d.Dead > 0:
			found = append(found, Finding{
				Failure, fmt.Sprintf("%s in %s", counted(d.Dead, "dead letter"), d.DeadName),
				"Calls of the worker broke five times in a row; the jobs themselves are in the database and go on. See the worker's log. The reconciler takes them into the database within a minute (jobs dead): what stays here it cannot read, or it stands still.",
			})
		}
	}
	return found
}
