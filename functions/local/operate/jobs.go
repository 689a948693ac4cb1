package operate

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"supportbot/shared/job"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
)

func (o *Operator) cancel(ctx context.Context, args []string) error {
	return o.each(args, "has ended, or there is no such job", func(db *postgres.DB, id int64) error {
		if err := mayEnd(ctx, db, id); err != nil {
			return err
		}
		state, err := db.Cancel(ctx, id, o.by())
		switch {
		case err != nil:
			return err
		case state == job.Running:
			o.say("job %d runs; it ends at its next checkpoint, and what it has done stays done.", id)
		default:
			o.say("job %d is cancelled.", id)
		}
		return nil
	})
}

func (o *Operator) replay(ctx context.Context, args []string) error {
	return o.each(args, "is not in review, or there is no such job", func(db *postgres.DB, id int64) error {
		if _, err := db.Replay(ctx, id, o.by()); err != nil {
			return err
		}
		o.say("job %d gets new attempts; the reconciler starts it within a minute.", id)
		return nil
	})
}

// mayEnd refuses to end what was promised to somebody.
func mayEnd(ctx context.Context, db *postgres.DB, id int64) error {
	r, err := db.JobRecord(ctx, id)
	if err != nil {
		return err
	}
	if err := person.MayEnd(r); err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	return nil
}

// each does something to each of the jobs, also when it fails for another one;
// missing says what job.ErrNotFound means.
func (o *Operator) each(args []string, missing string, do func(*postgres.DB, int64) error) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: which job?", ErrUsage)
	}
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id <= 0 {
			return fmt.Errorf("%w: %q is no job; one is a number, as the log has it under \"job\"", ErrUsage, arg)
		}
		ids[i] = id
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	var problems []error
	for _, id := range ids {
		err := do(db, id)
		if errors.Is(err, job.ErrNotFound) {
			err = fmt.Errorf("job %d %s", id, missing)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
