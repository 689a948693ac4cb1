package news_test

import (
	"testing"

	"supportbot/shared/news"
	"supportbot/shared/tracker"
)

func TestReplyRule(t *testing.T) {
	t.Parallel()
	robot := tracker.User{ID: "112", Login: "robot", Also: []string{"8000", "ajeCloud"}}
	file := []tracker.Attachment{{ID: "1"}}
	const marker = "[//]: # (support-bot:c0123)"
	for name, tc := range map[string]struct {
		c    tracker.Comment
		want string
		ok   bool
	}{
		"prefix":                    {tracker.Comment{Text: "/reply да"}, "да", true},
		"any case, colon":           {tracker.Comment{Text: " /Reply: да"}, "да", true},
		"new line":                  {tracker.Comment{Text: "/reply\nда\n"}, "да", true},
		"comma":                     {tracker.Comment{Text: "/REPLY, да"}, "да", true},
		"no-break space":            {tracker.Comment{Text: "/reply\u00a0да"}, "да", true},
		"another word":              {tracker.Comment{Text: "/replying да"}, "", false},
		"another word behind it":    {tracker.Comment{Text: "/reply-all да"}, "", false},
		"not at the beginning":      {tracker.Comment{Text: "да /reply"}, "", false},
		"quoted":                    {tracker.Comment{Text: "> /reply да"}, "", false},
		"shorter than the prefix":   {tracker.Comment{Text: "/rep"}, "", false},
		"half a letter":             {tracker.Comment{Text: "/repl\xd0"}, "", false},
		"empty":                     {tracker.Comment{Text: "/reply"}, "", false},
		"colon apart":               {tracker.Comment{Text: "/reply : да"}, "да", true},
		"a smile":                   {tracker.Comment{Text: "/reply :smile:"}, ":smile:", true},
		"empty with colon":          {tracker.Comment{Text: "/reply : "}, "", false},
		"files alone":               {tracker.Comment{Text: "/reply", Attachments: file}, "", true},
		"internal with files":       {tracker.Comment{Text: "смотри", Attachments: file}, "", false},
		"robot summoned":            {tracker.Comment{Text: "да", Summonees: []string{"5", "112"}}, "да", true},
		"by its cloud id":           {tracker.Comment{Text: "да", Summonees: []string{"ajeCloud"}}, "да", true},
		"by its login":              {tracker.Comment{Text: "да", Summonees: []string{"robot"}}, "да", true},
		"somebody else summoned":    {tracker.Comment{Text: "да", Summonees: []string{"113", ""}}, "", false},
		"summoned, prefix too":      {tracker.Comment{Text: "/reply да", Summonees: []string{"112"}}, "да", true},
		"the robot's own":           {tracker.Comment{Text: "/reply да", Author: "112"}, "", false},
		"the robot's by another id": {tracker.Comment{Text: "/reply да", Author: "8000"}, "", false},
		"an older robot's":          {tracker.Comment{Text: "**И** пишет:\n\nда\n\n" + marker, Author: "9", Summonees: []string{"112"}}, "", false},
		"quotes the robot":          {tracker.Comment{Text: "> **И** пишет:\n>\n> " + marker + "\n\nда", Summonees: []string{"112"}}, "> **И** пишет:\n>\n> " + marker + "\n\nда", true},
		"from a mail":               {tracker.Comment{Text: "/reply да", Author: "7", Mail: true}, "", false},
		"a mail that summons":       {tracker.Comment{Text: "да", Summonees: []string{"112"}, Mail: true}, "", false},
		"reply that copies":         {tracker.Comment{Text: "/reply вы писали:\n\n" + marker}, "вы писали:\n\n" + marker, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := news.ReplyRule{Prefix: "/reply", Robot: robot}.Reply(tc.c)
			if got != tc.want || ok != tc.ok {
				t.Errorf("got %q, %v, want %q, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestReplyRule_WithoutPrefixOrRobot(t *testing.T) {
	t.Parallel()
	if text, ok := (news.ReplyRule{}).Reply(tracker.Comment{Text: "для коллег", Summonees: []string{""}}); ok {
		t.Errorf("a rule that knows nothing lets %q out", text)
	}
}
