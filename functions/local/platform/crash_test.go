package platform_test

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"supportbot/functions/local/platform"
	"supportbot/shared/broadcast"
	"supportbot/shared/conversation"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// life is one scenario in which the platform dies. It calls w.crash.arm right
// before what leads to the points, goes on as if nothing were, and then checks what
// people have.
type life func(w *world, c customer, points []string)

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
	ticket.KindEdit:           dieReplacing,
	ticket.KindStatus:         dieAnnouncing,
	ticket.KindNotice:         dieOpening,
	"conversation":            dieOpening,
	broadcast.KindPlan:        dieBroadcasting,
	broadcast.KindBatch:       dieBroadcasting,
	person.KindErase:          dieForgetting,
	person.KindDetach:         dieDetaching,
	person.KindExport:         dieExporting,
}

// group is the points at which the platform dies, one after the other, in one
// scenario.
type group struct {
	name   string
	life   life
	points []string
}

// TestCrash kills the platform, by SIGKILL, at every point of every stage of
// everything that it does. The points are listed by the stages themselves: a new
// stage without a scenario fails here.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, g := range groups(t) {
		for name, customerOf := range messengersOf(g.name) {
			t.Run(g.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, crashAt(t, g.points...))
				g.life(w, customerOf(w), g.points)
				if missed := w.crash.missed(); len(missed) > 0 {
					t.Errorf("the scenario does not lead to %s", missed)
				}
			})
		}
	}
}

// groups puts the points that are alike into one scenario: what has certainly
// happened, what has certainly not, and what nobody knows.
func groups(t *testing.T) (all []group) {
	t.Helper()
	for _, point := range points(t) {
		stage, at := point[:max(strings.LastIndex(point, "/"), 0)], point[strings.LastIndex(point, "/")+1:]
		kind, _, _ := strings.Cut(point, "/")
		name, scenario := stage, lives[stage]
		if scenario == nil {
			name, scenario = kind, lives[kind]
		}
		switch {
		case strings.HasPrefix(point, "conversation."):
			name, scenario = "conversation/accepting", lives["conversation"]
			if slices.Contains(conversation.Stages[slices.Index(conversation.Stages, conversation.StageReplied):], conversation.Stage(at)) {
				name = "conversation/replying"
			}
		case strings.HasPrefix(point, "person."): // its stages follow each other in one scenario
			name = kind + "/" + at
		case strings.HasSuffix(stage, "/"+job.StageRun) && at == job.HookBegun:
			name += "/" + job.HookDone
		default:
			name += "/" + at
		}
		if scenario == nil {
			t.Errorf("nothing is killed at %s", point)
			continue
		}
		i := slices.IndexFunc(all, func(g group) bool { return g.name == name })
		if i < 0 {
			all, i = append(all, group{name: name, life: scenario}), len(all)
		}
		all[i].points = append(all[i].points, point)
	}
	return all
}

// kinds are all kinds of jobs that there are, by their names.
func kinds(t *testing.T) map[string]job.Kind {
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
	all := map[string]job.Kind{}
	for _, w := range p.Workers() {
		maps.Copy(all, w.Kinds)
	}
	return all
}

// points lists every point at which a process may die.
func points(t *testing.T) (all []string) {
	t.Helper()
	for name, kind := range kinds(t) {
		for _, stage := range append([]string{job.StageRun}, kind.Stages...) {
			for _, at := range []string{job.HookBegun, job.HookCalled, job.HookDone} {
				all = append(all, name+"/"+stage+"/"+at)
			}
		}
	}
	for _, stage := range conversation.Stages {
		all = append(all, string(stage))
	}
	slices.Sort(all)
	return all
}

// messengersOf gives the messengers in which a group is tried: both where what
// holds differs, else the one that knows no repetitions.
func messengersOf(group string) map[string]func(*world) customer {
	all := map[string]func(*world) customer{
		"telegram": func(w *world) customer { return w.telegramCustomer(telegramID) },
		"vk":       func(w *world) customer { return w.vkCustomer(vkID) },
	}
	if !strings.HasPrefix(group, "deliver.") && !strings.HasPrefix(group, "broadcast.batch/send") && !strings.HasPrefix(group, "conversation/") {
		delete(all, "vk")
	}
	return all
}

// seen is how often a customer sees the message of a stage: once more where the
// process was killed after the call and the messenger knows no repetitions.
func seen(c customer, points []string, stage string) int {
	if c.address().Messenger == messenger.Telegram && slices.Contains(points, stage+"/"+job.HookCalled) {
		return 2
	}
	return 1
}

// unknown says whether nobody can know if the messages of the stages went out.
func unknown(c customer, points []string, stages ...string) bool {
	return c.address().Messenger == messenger.Telegram && slices.ContainsFunc(stages, func(stage string) bool {
		return slices.Contains(points, stage+"/"+job.HookCalled) || slices.Contains(points, stage+"/"+job.HookBegun)
	})
}

// check compares counts of what people have.
func (w *world) check(what string, got, want int) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %d times, want %d", what, got, want)
	}
}

// replied checks a reply of the conversation's: it comes, and at most once more for
// each time that the process was killed meanwhile, or when a call had no end.
func (w *world) replied(c customer, points []string, text string) {
	w.t.Helper()
	if got, most := saw(c, text), 1+max(len(points), 1); got < 1 || got > most {
		w.t.Errorf("%q: %d times, want once, and %d times at most after %d crashes", text, got, most, len(points))
	}
}
