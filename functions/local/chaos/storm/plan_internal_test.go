package storm

import (
	"slices"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
)

// TestPlan: whatever the seed, every kind of fault is in a plan, a token of every service
// is revoked, and clocks are wrong more than once; and a seed gives the same plan again.
func TestPlan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		for _, storm := range []time.Duration{10 * time.Second, 2 * time.Minute} {
			count, tokens, met, unheard := map[string]int{}, map[int]bool{}, map[string]bool{}, map[string]bool{}
			blows := plan(seed, storm, 15*time.Second)
			for _, b := range blows {
				count[b.kind]++
				if b.kind == revoked {
					tokens[b.who%len(services)] = true
				}
				if b.kind == ailing {
					met[services[b.who%len(services)].name+" "+string(b.rule.Kind)] = true
					unheard[b.rule.Method] = unheard[b.rule.Method] || b.rule.Kind == fault.CloseAfter && b.at < storm/2
				}
				if long := b.last > 15*time.Second; long != (b.kind == stranded) {
					t.Errorf("seed %d: %s", seed, b)
				}
				if b.at < 0 || b.at >= storm {
					t.Errorf("seed %d: %s is after the storm", seed, b)
				}
			}
			for _, k := range kinds {
				if count[k.kind] < max(1, k.least) {
					t.Errorf("seed %d: %d times %s", seed, count[k.kind], k.kind)
				}
			}
			if len(tokens) != len(services) || count[skewed] < 2 {
				t.Errorf("seed %d: tokens of %d services, %d wrong clocks", seed, len(tokens), count[skewed])
			}
			if want := storm >= wholeStorm; want != (count[stranded] > 1) {
				t.Errorf("seed %d: %d times %s", seed, count[stranded], stranded)
			}
			if every := len(services) * (len(ailments) - 1); storm >= wholeStorm && len(met) != every { // one is there twice
				t.Errorf("seed %d: %d ailments of %d", seed, len(met), every)
			}
			for _, v := range visible {
				if storm < wholeStorm && !unheard[v.method] {
					t.Errorf("seed %d: what became of %s is known each time", seed, v.method)
				}
			}
			if !slices.Equal(blows, plan(seed, storm, 15*time.Second)) {
				t.Errorf("seed %d gives another plan", seed)
			}
		}
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	all, queue := tally{}, tally{}
	all.done(killed)
	all.inject(misled, 3)
	all.inject(crammed, 1)
	queue.done("queue message lost")
	queue.done("queue message lost")
	all.add(queue)
	if got := all["queue message lost"]; got != (met{2, 2}) || all[killed] != (met{1, 1}) {
		t.Errorf("got %v", all)
	}
	if got := all.unmet(); !slices.Equal(got, []string{misled}) {
		t.Errorf("unmet: %q", got)
	}
	all.meet(misled, 1)
	if got := all.unmet(); len(got) > 0 {
		t.Errorf("unmet: %q", got)
	}
}
