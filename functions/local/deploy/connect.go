package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say how Connect works.
type Options struct {
	DryRun bool // tells what would be changed, and changes nothing
	Force  bool // sets also what services do not tell: secrets
}

// Connect sets up the services and prints each change; a second run prints that
// nothing had to be changed. It goes on behind a service that fails. The error says
// what is still not as it should be.
func (d *Deployment) Connect(ctx context.Context, o Options) error {
	changes := 0
	var problems []error
	for _, s := range d.services {
		d.say("%s", s.name())
		n, err := d.connect(ctx, s, o)
		changes += n
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", s.name(), err))
		}
	}
	switch {
	case o.DryRun && changes > 0:
		d.say("Dry run: %s would be made, none was.", counted(changes, "change"))
	case changes > 0:
		d.say("%s made.", counted(changes, "change"))
	case len(problems) == 0:
		d.say("Nothing had to be changed.")
	}
	return errors.Join(problems...)
}

// connect sets up one service and looks whether that took effect.
func (d *Deployment) connect(ctx context.Context, s service, o Options) (changes int, err error) {
	settings, err := s.settings(ctx)
	if err != nil {
		return 0, err
	}
	changes, err = d.apply(ctx, settings, o)
	if o.DryRun || changes == 0 {
		if changes == 0 && err == nil {
			d.say("  as it should be")
		}
		return changes, err
	}
	if err == nil {
		err = d.took(ctx, s)
	}
	return changes, err
}

// looks is how often it is looked whether something took effect: listings of a
// service may be behind what was written by a second or two.
const looks = 4

// took is the error of a service that is still not as it was set.
func (d *Deployment) took(ctx context.Context, s service) error {
	for n := 1; ; n++ {
		settings, err := s.settings(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(settings, func(s Setting) bool { return s.Set != nil && s.Level == Failure && !s.right() })
		switch {
		case i < 0:
			return nil
		case n == looks:
			return fmt.Errorf("%s was set and is still %s", settings[i].Name, settings[i].now())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.tick):
		}
	}
}

// apply sets whatever differs, and what is not told together with it.
func (d *Deployment) apply(ctx context.Context, settings []Setting, o Options) (changes int, err error) {
	var untold []Setting
	var problems []error
	set := func(s Setting, why string) {
		if !o.DryRun {
			if err := s.Set(ctx); err != nil {
				d.say("  %s: not set", s.Name)
				problems = append(problems, fmt.Errorf("set %s: %w", s.Name, err))
				return
			}
		}
		changes++
		d.say("  %s: %s", s.Name, why)
	}
	for _, s := range settings {
		switch {
		case s.right() && s.Untold != "":
			untold = append(untold, s)
		case s.right():
		case s.Set == nil:
			d.say("  %s: %s. %s", s.Name, s.difference(), s.Advice)
			if s.Level == Failure {
				problems = append(problems, fmt.Errorf("%s is %s", s.Name, s.now()))
			}
		default:
			set(s, s.difference())
		}
	}
	if changes > 0 || o.Force {
		for _, s := range untold {
			set(s, "set again: "+s.Untold+" is not told, so it may have been another")
		}
	}
	return changes, errors.Join(problems...)
}

func (s Setting) now() string {
	if s.Now == "" {
		return "missing"
	}
	return s.Now
}

func (s Setting) difference() string {
	if s.Set == nil {
		return s.now() + ", not " + s.Want
	}
	return s.now() + " -> " + s.Want
}

func (d *Deployment) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, format+"\n", args...)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
