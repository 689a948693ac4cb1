package deploy

import (
	"context"
	"fmt"
)

// ErrUnwell is the error of an examination that found failures.
var ErrUnwell = fmt.Errorf("the deployment has failures")

// Doctor examines the deployment, prints a line for each finding, and changes
// nothing. The error is ErrUnwell when something does not work.
func (d *Deployment) Doctor(ctx context.Context) error {
	count := map[Level]int{}
	for _, s := range append(d.services[:len(d.services):len(d.services)], d.others...) {
		d.say("%s", s.name())
		for _, f := range examine(ctx, s) {
			count[f.Level]++
			line := fmt.Sprintf("  %-8s %s", f.Level, f.What)
			if f.Advice != "" {
				line += "\n           " + f.Advice
			}
			d.say("%s", line)
		}
	}
	d.say("%s, %s.", counted(count[Failure], "failure"), counted(count[Warning], "warning"))
	if count[Failure] > 0 {
		return ErrUnwell
	}
	return nil
}

// examine lists what is to say of a service.
func examine(ctx context.Context, s service) []Finding {
	settings, err := s.settings(ctx)
	if err != nil {
		return []Finding{{Failure, "could not be asked: " + err.Error(), "Mend that first; the rest of " + s.name() + " was not looked at."}}
	}
	var found []Finding
	right := 0
	for _, setting := range settings {
		if setting.right() {
			right++
			continue
		}
		advice := setting.Advice
		if advice == "" {
			advice = "make connect sets it."
		}
		found = append(found, Finding{setting.Level, setting.Name + ": " + setting.now() + "; should be: " + setting.Want + ".", advice})
	}
	if right > 0 {
		found = append(found, fine("%d of %s are as they should be", right, counted(len(settings), "setting")))
	}
	return append(found, s.check(ctx)...)
}
