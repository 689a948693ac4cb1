package platform

import "supportbot/shared/job"

// Workers are the workers on the queues.
func (p *Platform) Workers() []*job.Worker {
	return []*job.Worker{p.tickets, p.deliveries, p.broadcasts}
}
