package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"supportbot/shared/job"
)

func (o *Operator) ban(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: whom?", ErrUsage)
	}
	return o.setBan(ctx, args[0], true, strings.Join(args[1:], " "))
}

func (o *Operator) unban(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%w: whom?", ErrUsage)
	}
	return o.setBan(ctx, args[0], false, "")
}

// setBan writes the ban down and takes the copies away that conversations keep of
// the person, so that the next event is held against what is written.
func (o *Operator) setBan(ctx context.Context, user string, banned bool, reason string) error {
	m, id, err := parseUser(user)
	if err != nil {
		return err
	}
	db, kept, err := o.stores()
	if err != nil {
		return err
	}
	defer db.Close()
	defer kept.close()
	chats, err := db.BanUser(ctx, m, id, banned, reason)
	if errors.Is(err, job.ErrNotFound) {
		return fmt.Errorf("nobody has written as %s", user)
	}
	if err != nil {
		return err
	}
	what := "is banned"
	if !banned {
		what = "is not banned any more"
	}
	if err = kept.forget(ctx, chats); err == nil {
		o.say("%s %s. Chats of this person: %d.", user, what, len(chats))
		// A call that was under way has read the person before, and may keep that.
		wait(ctx, o.Settle)
		err = kept.forget(ctx, chats)
	}
	if err != nil {
		return fmt.Errorf("%s %s, which holds in an hour at the latest; at once it does not: %w", user, what, err)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
