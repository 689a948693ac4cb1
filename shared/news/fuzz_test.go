package news_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

var (
	idForm  = regexp.MustCompile(`^[0-9a-zA-Z]*$`)
	keyForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*-[0-9]+)?$`)
)

// FuzzTrigger: whatever a call carries makes one look at an issue that can exist, or none.
func FuzzTrigger(f *testing.F) {
	for _, body := range []string{
		`{"id":"6571ab","key":"SUP-1"}`, `{"id":1099511627776}`, `{"key":"SUP-1","KEY":"../x"}`, `{"id":{"a":1},"key":["SUP-1"]}`, `{"id":1e400}`,
		`{"id":"{{issue.id}}","key":"{{issue.key}}"}`, `{"id":"a\u0000"}`, `{"id":"6571ab","id":"\ud800"}`, `null`, `[1]`, ``, "\xff", `{"id":-1}`,
		`{"id":"` + strings.Repeat("a", 65) + `","key":"SUP-1234567890123"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s := &lookStore{}
		w := s.call([]env.Secret{env.NewSecret("secret")}, http.MethodPost, "secret", body)
		if (w.Code == http.StatusOK) != (len(s.made) == 1) || len(s.made) > 1 {
			t.Fatalf("status %d, jobs %+v", w.Code, s.made)
		}
		if len(s.made) == 1 {
			checkLook(t, s.made[0])
		}
		if code := (&lookStore{}).call(nil, http.MethodPost, body, "{}").Code; code != http.StatusForbidden {
			t.Errorf("the secret %q opens what has none: %d", body, code)
		}
	})
}

// FuzzReply: whatever a comment says, only what begins with the prefix or summons the
// robot reaches the customer, and nothing reaches them that is not in it.
func FuzzReply(f *testing.F) {
	for _, text := range []string{
		"/reply да", "/Reply: да", "/reply\n\nда", "/replying", "/reply-all x", "> /reply x", "/reply : ", "/repl\xd0", "\ufeff/reply x", "/reply\u200bx", "/ſeply x", "",
		"да\n\n[//]: # (support-bot:c01)", "/reply x\n[//]: # (support-bot:", "\xff/reply",
	} {
		for _, who := range []string{"", "112", "7"} {
			f.Add(text, who, who == "7")
			f.Add(text, "7", who == "")
		}
	}
	rule := news.ReplyRule{Prefix: "/reply", Robot: tracker.User{ID: "112"}}
	f.Fuzz(func(t *testing.T, text, summoned string, mail bool) {
		c := tracker.Comment{Text: text, Author: "5", Mail: mail, Summonees: []string{summoned}}
		got, ok := rule.Reply(c)
		said := strings.TrimSpace(text)
		begins := len(said) >= len(rule.Prefix) && strings.EqualFold(said[:len(rule.Prefix)], rule.Prefix)
		if ok && (mail || !begins && summoned != "112" || got == "" || !strings.HasSuffix(said, got)) {
			t.Errorf("%q, summons %q, mail %t: %q goes to the customer", text, summoned, mail, got)
		}
		if c.Author = "112"; ok {
			if own, ok := rule.Reply(c); ok {
				t.Errorf("the robot's own comment %q goes to the customer as %q", text, own)
			}
		}
	})
}

// FuzzCustomerOf: whatever a ticket's unique value and fields are, it is nobody's or that of
// a customer who has an address.
func FuzzCustomerOf(f *testing.F) {
	for _, unique := range []string{
		"support:telegram:77:1099511627776:abcd", "support::::", "support:vk:209::x", "support:a:b:c:d:e", "support", "", ":", "\xff", "support:telegram:77:5:",
	} {
		f.Add(unique, "telegram", "77", "5", false)
		f.Add(unique, "", "77", "", true)
	}
	f.Fuzz(func(t *testing.T, unique, name, bot, chat string, erased bool) {
		i := tracker.Issue{ID: "1", Unique: unique, Erased: erased, Fields: map[tracker.Field]string{
			tracker.FieldMessenger: name, tracker.FieldBot: bot, tracker.FieldChat: chat,
		}}
		o, ok := news.CustomerOf(i)
		if ok && (erased || o.Address.Messenger == "" || o.Address.Bot == "" || o.Address.Chat == "" || o.Ref == (ticket.Ref{})) {
			t.Errorf("%+v is that of %+v", i, o)
		}
		if again, known := ticket.ParseRef(o.Ref.String()); ok && (!known || again != o.Ref) {
			t.Errorf("the ticket %+v is named %q, which is read as %+v", o.Ref, o.Ref, again)
		}
		if ok && o.Ref.Draft != "" && ticket.Unique(o.Address, o.Ref.Draft) != unique {
			t.Errorf("%q is read as %+v", unique, o)
		}
	})
}

func checkLook(t *testing.T, j job.New) {
	t.Helper()
	look, is := j.Payload.(ticket.Look)
	if !is || look.ID+look.Key == "" || len(look.ID) > 64 || len(look.Key) > 64 || !idForm.MatchString(look.ID) || !keyForm.MatchString(look.Key) {
		t.Errorf("looks at %+v", j.Payload)
	}
	if strings.ContainsAny(j.Lane.Name+j.Key, "\x00\n/ ") {
		t.Errorf("lane %q, key %q", j.Lane.Name, j.Key)
	}
}
