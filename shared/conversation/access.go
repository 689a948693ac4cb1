package conversation

import (
	"context"

	"supportbot/shared/access"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// Access makes codes and takes them; access.Service.
type Access interface {
	LinkCode(ctx context.Context, a messenger.Address) (string, error)
	Link(ctx context.Context, code string, a messenger.Address) (access.Linked, error)
	SignIn(ctx context.Context, a messenger.Address) (string, error)
}

// access does what a page of codes shows, when it is sent: no code is ever kept with
// a reply. ok is false for other pages.
func (a *Accepted) access(ctx context.Context, p dialog.Page) (d dialog.Access, ok bool) {
	var err error
	switch p.Kind {
	case dialog.PageLink:
		d.Code, err = a.s.d.Access.LinkCode(ctx, a.in.Address)
	case dialog.PageLinked:
		var linked access.Linked
		linked, err = a.s.d.Access.Link(ctx, p.Code, a.in.Address)
		d.Linked = string(linked)
		if linked == access.Done {
			a.known, a.forget = nil, true // somebody else by now
		}
	case dialog.PageConsole:
		d.URL, err = a.s.d.Access.SignIn(ctx, a.in.Address)
	default:
		return d, false
	}
	if d.Known = err == nil; err != nil {
		a.s.d.Log.WarnContext(ctx, "a code could not be made or taken", obs.Error, err.Error())
	}
	return d, true
}
