package sandbox

import (
	tickets "supportbot/shared/tracker"

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

func (r *Running) startTelegram(address string) error {
	if address == Off {
		return nil
	}
	r.TelegramToken = "7000000001:sandbox-token-of-no-worth"
	s := telegram.New(telegram.Config{
		Token: r.TelegramToken, Log: r.log,
		Bot: telegram.User{FirstName: "Ромашка · поддержка", Username: "romashka_support_bot"},
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
		Token: r.VKToken, GroupID: r.VKGroup, Secret: r.VKSecret, Confirmation: r.VKConfirmation, Log: r.log,
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
	r.TrackerToken, r.TrackerOrg, r.TrackerQueue = "y0_sandbox-token-of-no-worth", "7301", support.Key
	s := tracker.New(tracker.Config{
		Token: r.TrackerToken, OrgID: r.TrackerOrg, Log: r.log,
		Robot:  tracker.User{ID: "1120000000000001", Login: "support-robot", Name: "Робот поддержки"},
		Agents: agents(), Queues: []tracker.Queue{support, billing},
	})
	r.Tracker = s
	var err error
	r.TrackerURL, err = r.serve("tracker", address, s, s.Close)
	return err
}

func agents() []tracker.User {
	return []tracker.User{
		{ID: "1120000000000101", Login: "anna", Name: "Анна Орлова"},
		{ID: "1120000000000102", Login: "timur", Name: "Тимур Ахметов"},
		{ID: "1120000000000103", Login: "elena", Name: "Елена Громова"},
	}
}
