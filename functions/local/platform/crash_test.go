package platform_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"supportbot/functions/local/platform"
	"supportbot/shared/conversation"
	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/ticket"
)

// life is one scenario in which the platform dies. It calls w.crash.arm right
// before what leads to the point, goes on as if nothing were, and then checks what
// people have.
type life func(w *world, c customer, point string)

// lives says for each kind of job in which scenario it is killed; one for a single
// stage goes before.
var lives = map[string]life{
	ticket.KindCreate:         dieOpening,
	ticket.KindComment:        dieCommenting,
	ticket.KindRate:           dieRating,
	ticket.KindReopen:         dieReopening,
	ticket.KindNote:           dieNoting,
	ticket.KindAgain:          dieAgain,
	ticket.KindLook:           dieAnswering,
	ticket.KindAnswer:         dieAnswering,
	ticket.KindEdit + "/edit": dieEditing,
	ticket.KindEdit + "/run":  dieEditing,
	ticket.KindEdit:           dieReplacing,
	ticket.KindStatus:         dieAnnouncing,
	ticket.KindNotice:         dieOpening,
	"conversation":            dieOpening,
}

// TestCrash kills the platform, by SIGKILL, at every point of every stage of
// everything that it does. The points are listed by the stages themselves: a new
// stage without a scenario fails here.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, point := range points(t) {
		kind, _, _ := strings.Cut(point, "/")
		if strings.HasPrefix(point, "conversation.") {
			kind = "conversation"
		}
		scenario := lives[point[:max(strings.LastIndex(point, "/"), 0)]]
		if scenario == nil {
			scenario = lives[kind]
		}
		if scenario == nil {
			t.Errorf("nothing is killed at %s", point)
			continue
		}
		for name, customerOf := range messengersOf(point) {
			t.Run(point+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, crashAt(t, point))
				scenario(w, customerOf(w), point)
				if !w.crash.died() {
					t.Errorf("the scenario does not lead to %s", point)
				}
			})
		}
	}
}

// points lists every point at which a process may die.
func points(t *testing.T) (all []string) {
	t.Helper()
	env := map[string]string{
		"DATABASE_URL": "postgres://app@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0", "TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret,
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
	}
	p, err := platform.New(platform.Config{ // calls nobody
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Log:    func(f string) *slog.Logger { return obs.NewLogger(&syncBuffer{}, f, slog.LevelInfo) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Workers() {
		for name, kind := range w.Kinds {
			for _, stage := range append([]string{job.StageRun}, kind.Stages...) {
				for _, at := range []string{job.HookBegun, job.HookCalled, job.HookDone} {
					all = append(all, name+"/"+stage+"/"+at)
				}
			}
		}
	}
	for _, stage := range conversation.Stages {
		all = append(all, string(stage))
	}
	slices.Sort(all)
	return all
}

// messengersOf gives the messengers in which a point is tried: both where what
// holds differs, else the one in which it is likelier to go wrong.
func messengersOf(point string) map[string]func(*world) customer {
	all := map[string]func(*world) customer{
		"telegram": func(w *world) customer { return w.telegramCustomer(telegramID) },
		"vk":       func(w *world) customer { return w.vkCustomer(vkID) },
	}
	if !strings.HasPrefix(point, "deliver.") && !strings.HasPrefix(point, "conversation.") {
		delete(all, "vk")
	}
	return all
}

// twice is how often a customer sees a message of a stage at which the process was
// killed: where the messenger knows no repetitions and the call had gone out, once
// more.
func twice(c customer, point string, stages ...string) int {
	for _, stage := range stages {
		if point == stage+"/"+job.HookCalled && c.address().Messenger == "telegram" {
			return 2
		}
	}
	return 1
}

// uncertain says that nobody can know whether the message of a stage went out.
func uncertain(c customer, point string, stages ...string) bool {
	return c.address().Messenger == "telegram" && slices.ContainsFunc(stages, func(stage string) bool {
		return point == stage+"/"+job.HookCalled || point == stage+"/"+job.HookBegun
	})
}

// check compares counts of what people have.
func (w *world) check(what string, got, want int) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %d times, want %d", what, got, want)
	}
}
