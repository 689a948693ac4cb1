package dialog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/broadcast"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	for kind, want := range map[broadcast.Kind]person.Choice{
		broadcast.News: {News: new(bool)}, broadcast.Maintenance: {Maintenance: new(bool)}, // nothing else
	} {
		below := dialog.UnsubscribeButtons(kind, "ru")
		ev := messenger.Event{
			Key: "k", Kind: messenger.EventPress, Sequence: 9, User: messenger.User{ID: "1"},
			Press: &messenger.Press{ID: "p", Data: below[0].Data, MessageID: "9"},
		}
		_, out := dialog.Step(dialog.State{}, ev, dialog.View{Person: person.Person{Locale: "ru", Settings: person.DefaultSettings}})
		if diff := cmp.Diff(&want, out.Update.Settings); diff != "" || !out.Visit {
			t.Errorf("%s: choice (-want +got):\n%s", kind, diff)
		}
		said := out.Replies[len(out.Replies)-1]
		if said.Edit != "" || !strings.Contains(said.Text, "Больше не будем") {
			t.Errorf("%s: got %+v, want a message that leaves the broadcast alone", kind, said)
		}
	}
	if b := dialog.UnsubscribeButtons(broadcast.Message, "ru"); b != nil {
		t.Errorf("buttons below what cannot be refused: %v", b)
	}
}

func TestStart_Tag(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{"tag-beta": "beta", "tag-": "", "tag-Ы": "", "tag-" + strings.Repeat("a", 33): "", "beta": ""} {
		ev := messenger.Event{Key: "k", Kind: messenger.EventMessage, Command: "start", Argument: payload, Sequence: 1}
		_, out := dialog.Step(dialog.State{}, ev, newChat(t).v)
		if got := strings.Join(out.Update.Tags, ","); got != want || out.Visit != (want != "") {
			t.Errorf("%s: tags %q, visit %v, want %q", payload, got, out.Visit, want)
		}
	}
}

func TestPages_OfCodes(t *testing.T) {
	t.Parallel()
	step := func(command, argument string) dialog.Page {
		ev := messenger.Event{Key: "k", Kind: messenger.EventMessage, Command: command, Argument: argument, Sequence: 1}
		_, out := dialog.Step(dialog.State{}, ev, newChat(t).v)
		if len(out.Replies) != 1 || out.Replies[0].Page == nil {
			t.Fatalf("/%s %s: %+v", command, argument, out.Replies)
		}
		return *out.Replies[0].Page
	}
	for name, tc := range map[string]struct {
		page dialog.Page
		data dialog.Access
		want string
		url  string
	}{
		"a code":            {step("link", ""), dialog.Access{Known: true, Code: "ABCD-EFGH"}, "/link ABCD-EFGH", ""},
		"a code that helps": {step("link", "abcd efgh"), dialog.Access{Known: true, Linked: "done"}, "Готово", ""},
		"a wrong code":      {step("link", "x"), dialog.Access{Known: true, Linked: "unknown"}, "Такого кода нет", ""},
		"rights":            {step("link", "x"), dialog.Access{Known: true, Linked: "rights"}, "есть права", ""},
		"one's own code":    {step("link", "x"), dialog.Access{Known: true, Linked: "same"}, "в другом мессенджере", ""},
		"stores are away":   {step("link", ""), dialog.Access{}, "Попробуйте ещё раз", ""},
		"a customer":        {step("console", ""), dialog.Access{Known: true}, "только сотрудникам", ""},
		"an admin":          {step("console", ""), dialog.Access{Known: true, URL: "https://x/console/#code=1"}, "один раз", "https://x/console/#code=1"},
	} {
		text, keyboard := dialog.Render(tc.page, dialog.Data{Access: tc.data})
		if !strings.Contains(text, tc.want) || strings.Contains(text, "{") {
			t.Errorf("%s: %q", name, text)
		}
		if keyboard[0][0].URL != tc.url {
			t.Errorf("%s: keyboard %+v", name, keyboard)
		}
	}
}
