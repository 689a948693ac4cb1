package notification

import (
	"context"
	"errors"
	"net/http"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/tracker"
)

var errNoCustomer = refuse(http.StatusNotFound, "there is no such customer")

// findCustomer says which customer writes as a messenger's user.
func (a *API) findCustomer(ctx context.Context, c *call) (any, error) {
	q := c.r.URL.Query()
	m, user := messenger.Name(q.Get("messenger")), q.Get("user")
	if _, ok := a.d.Bots[m]; !ok || user == "" {
		return nil, refuse(http.StatusBadRequest, "messenger and user are needed: telegram or vk, and the messenger's number of the user")
	}
	id, err := a.d.Store.PersonOfUser(ctx, m, user)
	if errors.Is(err, job.ErrNotFound) {
		return nil, errNoCustomer
	}
	return struct {
		Customer int64 `json:"customer"`
	}{id}, err
}

// exportCustomer gives all that is known of a customer.
func (a *API) exportCustomer(ctx context.Context, c *call) (any, error) {
	d, err := a.d.Privacy.Dossier(ctx, c.id)
	var away *tracker.Error
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, errNoCustomer
	case errors.As(err, &away):
		return nil, refuse(http.StatusServiceUnavailable, "Tracker, which has the customer's tickets, is away; repeat the call in a moment")
	case err != nil:
		return nil, err
	}
	a.d.Log.InfoContext(ctx, "customer's data exported by hand", "person", c.id, "by", c.caller.name)
	return d, nil
}

// erasing is an erasure as the caller sees it; GET /v1/jobs/{id} shows more.
type erasing struct {
	Job   int64     `json:"job"`
	State job.State `json:"state"`
}

// eraseCustomer begins to erase a customer. Repeating it tells how far that is, also
// when nobody knows the customer any more.
func (a *API) eraseCustomer(ctx context.Context, c *call) (any, error) {
	p, err := a.d.Store.PersonByID(ctx, c.id)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusAccepted
	if p == nil {
		j, err := a.d.Store.Find(ctx, person.EraseKey(c.id))
		if err != nil {
			return nil, err
		}
		if j == nil {
			return nil, errNoCustomer
		}
		return erasing{j.ID, j.State}, nil
	}
	made, err := a.d.Store.Insert(ctx, []job.New{person.EraseJob(p.ID)})
	if err != nil {
		return nil, err
	}
	a.d.Publisher.Publish(ctx, made)
	a.d.Log.InfoContext(ctx, "customer is to be erased", "person", p.ID, "job", made[0].ID, "by", c.caller.name)
	return erasing{made[0].ID, made[0].State}, nil
}
