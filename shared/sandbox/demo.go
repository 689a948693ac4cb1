package sandbox

import (
	"strconv"
	"strings"
	"time"

	tickets "supportbot/shared/tracker"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/history"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

// The ids of the first customers, above what fits into 32 bits and even above
// 2^40, as ids of either messenger may be.
const (
	firstTelegram = 1<<40 + 7_301
	firstPersonVK = 1<<40 + 9_801
)

// callsKept is how many calls of a messenger are kept: a broadcast to everybody makes
// a hundred thousand.
const callsKept = 10_000

// readsKept is how many calls of the tracker are: their answers are large, and loading
// a history makes a hundred thousand.
const readsKept = 1_000

// company is whose support it is.
const company = "Ромашка · поддержка"

func (r *Running) startTelegram(address string) error {
	if address == Off {
		return nil
	}
	r.TelegramToken = "7000000001:sandbox-token-of-no-worth"
	s := telegram.New(telegram.Config{
		Token: r.TelegramToken, Log: r.log, Calls: &fault.Log{Keep: callsKept},
		Bot: telegram.User{FirstName: company, Username: "romashka_support_bot"},
	})
	s.Customer(telegram.User{ID: firstTelegram, FirstName: "Мария", LastName: "Соколова", Username: "masha_sokolova", Language: "ru"})
	s.Customer(telegram.User{ID: firstTelegram + 1, FirstName: "James", LastName: "Carter", Username: "jcarter", Language: "en", Premium: true})
	r.Telegram = s
	var err error
	r.TelegramURL, err = r.serve("telegram", address, s, s.Close)
	return err
}

func (r *Running) startVK(address string) error {
	if address == Off {
		return nil
	}
	r.VKToken, r.VKGroup = "vk1.a.sandbox-token-of-no-worth", 224_455_001
	r.VKSecret, r.VKConfirmation = "sandbox-secret", "5a4db0c5"
	s := vk.New(vk.Config{
		Token: r.VKToken, GroupID: r.VKGroup, Name: company, Secret: r.VKSecret, Confirmation: r.VKConfirmation, Log: r.log,
		Calls: &fault.Log{Keep: callsKept},
	})
	s.Customer(vk.User{ID: firstPersonVK, FirstName: "Олег", LastName: "Кузнецов", ScreenName: "oleg_kuznetsov"})
	s.Customer(vk.User{ID: firstPersonVK + 1, FirstName: "Emma", LastName: "Wilson", ScreenName: "emma.wilson", English: true})
	r.VK = s
	var err error
	if r.VKURL, err = r.serve("vk", address, s, s.Close); err == nil {
		s.SetURL(r.VKURL)
	}
	return err
}

func (r *Running) startTracker(address string) error {
	if address == Off {
		return nil
	}
	var fields []string
	for _, f := range tickets.Fields {
		fields = append(fields, string(f))
	}
	support, billing := tracker.DefaultQueue("SUP", fields...), tracker.DefaultQueue("BIL", fields...)
	support.Name, billing.Name = "Поддержка", "Оплата и счета"
	support.SLA, billing.SLA = sla, sla
	r.TrackerToken, r.TrackerOrg, r.TrackerQueue = "y0_sandbox-token-of-no-worth", "7301", support.Key
	s := tracker.New(tracker.Config{
		Token: r.TrackerToken, OrgID: r.TrackerOrg, Log: r.log,
		Robot:  tracker.User{ID: "1120000000000001", Login: "support-robot", Name: "Робот поддержки"},
		Agents: agents(), Queues: []tracker.Queue{support, billing}, Past: true, Calls: &fault.Log{Keep: readsKept},
	})
	r.Tracker = s
	var err error
	if r.TrackerURL, err = r.serve("tracker", address, s, s.Close); err == nil {
		r.History = r.pastOf(support, billing)
	}
	return err
}

// pastOf is how a history gets into the queues.
func (r *Running) pastOf(queues ...tracker.Queue) *Past {
	p := &Past{Access: history.Access{URL: r.TrackerURL, Org: r.TrackerOrg, Robot: r.TrackerToken, Agents: map[string]string{}, Bots: map[string]string{}}}
	for _, a := range agents() {
		p.Access.Agents[a.Login] = a.Token
	}
	bot, _, _ := strings.Cut(r.TelegramToken, ":")
	p.Access.Bots["telegram"], p.Access.Bots["vk"] = bot, strconv.FormatInt(r.VKGroup, 10)
	for _, q := range queues {
		p.Queues = append(p.Queues, q.Key)
	}
	return p
}

// sla is how long a ticket may take.
const sla = 72 * time.Hour

func agents() (list []tracker.User) {
	for n, name := range []string{
		"anna Анна Орлова", "timur Тимур Ахметов", "elena Елена Громова", "pavel Павел Нестеров", "dina Дина Сафина", "igor Игорь Белов",
	} {
		login, name, _ := strings.Cut(name, " ")
		list = append(list, tracker.User{
			ID: strconv.Itoa(1120000000000101 + n), Login: login, Name: name, Token: "y0_sandbox-token-of-" + login,
		})
	}
	return list
}
