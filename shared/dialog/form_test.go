package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

func TestForm_Whole(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/start promo42")
	c.wantSaid("start")
	c.do("btn Новое обращение")
	c.wantSaid("form.category")
	c.do("btn Срочно")
	c.wantSaid("form.subject")
	c.do("Принтер не печатает")
	c.wantSaid("form.description")
	c.do("photo Горит лампа")
	c.wantSaid("summary.title")
	c.do("и пищит")
	c.wantSaid("summary.files", "n", "1")
	c.wantSaid("summary.text", "text", "Горит лампа\nи пищит")
	id := c.s.Form.ID
	r := c.do("btn Отправить")
	c.wantSaid("form.sent", "subject", "Принтер не печатает")
	c.wantJobs("ticket.create draft:" + id)
	if got, want := r.Jobs[0].Sequence, c.s.Last; got != want {
		t.Errorf("sequence: got %d, want that of the last message, %d", got, want)
	}
	got := payload[ticket.Create](t, r, 0)
	if got.Draft != id || got.Category != "urgent" || got.Subject != "Принтер не печатает" || got.Customer.Locale != "ru" {
		t.Errorf("create: got %+v", got)
	}
	var texts []string
	for _, m := range got.Messages {
		texts = append(texts, m.Text+strings.Join(m.Notes, ","))
	}
	if diff := cmp.Diff([]string{"Горит лампа", "и пищит", "start: promo42"}, texts); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if c.s.Form != nil || c.s.Start != "" {
		t.Error("the form is still there")
	}
}

func TestForm_DoubleTapMakesOneTicket(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.filled()
	confirm := "press " + c.find("Отправить")
	c.do(confirm)
	c.do(confirm)
	c.wantSaid("form.already_sent")
	c.wantJobs()
}

func TestForm_ConfirmAgainstCancel(t *testing.T) {
	t.Parallel()
	t.Run("confirm first", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.filled()
		c.do("btn Отправить")
		c.do("/cancel")
		c.wantSaid("form.too_late")
		c.wantJobs()
	})
	t.Run("cancel first", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.filled()
		confirm := "press " + c.find("Отправить")
		c.do("/cancel")
		c.wantSaid("form.cancelled")
		c.do(confirm)
		c.wantSaid("form.already_cancelled")
		c.wantJobs()
	})
}

func TestForm_IDsComeFromTheEvent(t *testing.T) {
	t.Parallel()
	a, b := newChat(t), newChat(t)
	b.n = 5
	if x, y := a.filled(), newChat(t).filled(); x != y {
		t.Errorf("the same event started %q and %q", x, y)
	}
	if x, y := a.s.Form.ID, b.filled(); x == y {
		t.Errorf("two events started the same form %q", x)
	}
}

func TestForm_BackAndCancelAtEachStep(t *testing.T) {
	t.Parallel()
	reach := []string{"/new", "btn Вопрос", "Тема", "Описание"}
	back := []string{"form.cancelled", "form.category", "form.subject", "form.description"}
	for i := range reach {
		t.Run(back[i], func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			for _, what := range reach[:i+1] {
				c.do(what)
			}
			cancel := c.find("Отмена")
			c.do("btn ← Назад")
			c.wantSaid(back[i])
			if i == 0 {
				return
			}
			c.do("press " + cancel) // of a prompt that is not the last one
			c.wantSaid("form.cancelled")
			if c.s.Form != nil {
				t.Error("the form is still there")
			}
		})
	}
}

func TestForm_BackKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.filled()
	for range 3 {
		c.do("btn ← Назад")
	}
	c.wantSaid("form.category")
	c.do("btn Предложение")
	c.wantSaid("summary.category", "category", "Предложение")
	r := c.do("btn Отправить")
	got := payload[ticket.Create](t, r, 0)
	if got.Category != "idea" || got.Subject != "Принтер не печатает" || len(got.Messages) != 1 {
		t.Errorf("create: got %+v", got)
	}
}

func TestForm_Stale(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	id := c.filled()
	t.Run("earlier step", func(t *testing.T) {
		c.do("press f:" + id + ":c:k:problem")
		c.wantSaid("stale.step")
		c.wantSaid("summary.title")
		if c.s.Form.Category != "question" {
			t.Errorf("category: got %q", c.s.Form.Category)
		}
	})
	t.Run("lost form", func(t *testing.T) {
		lost := newChat(t)
		lost.do("press f:" + id + ":k:ok")
		lost.wantSaid("stale.form")
		if lost.find("Новое обращение") == "" {
			t.Error("no menu")
		}
	})
	t.Run("old form", func(t *testing.T) {
		c.wait(dialog.DraftLife + time.Second)
		c.do("press f:" + id + ":k:ok")
		c.wantSaid("stale.form")
		c.wantJobs()
	})
	t.Run("category gone", func(t *testing.T) {
		c := newChat(t)
		c.filled()
		c.v.Catalogue.Categories = c.v.Catalogue.Categories[:1]
		c.do("btn Отправить")
		c.wantSaid("form.category")
		c.wantJobs()
	})
}

func TestForm_SecondStartGoesOn(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("btn Вопрос")
	id := c.s.Form.ID
	c.do("press m:new")
	c.wantSaid("form.unfinished")
	c.wantSaid("form.subject")
	if c.s.Form.ID != id {
		t.Error("a second form was started")
	}
	c.do("/menu")
	c.do("btn Продолжить")
	c.wantSaid("form.subject")
}

func TestForm_SubjectTakesOneLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("слово ", 100)
	tests := []struct {
		name, text, subject string
		parts               int
		step                dialog.FormStep
	}{
		{"one line", "  Не печатает ", "Не печатает", 0, dialog.StepDescription},
		{"two lines", "Не печатает\nуже давно", "Не печатает", 1, dialog.StepConfirm},
		{"blank first line", "\n\nНе печатает", "Не печатает", 0, dialog.StepDescription},
		{"long", long, "", 1, dialog.StepConfirm},
		{"blank", " \n ", "", 1, dialog.StepSubject},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			c.do("/new")
			c.do("btn Вопрос")
			c.do(tt.text)
			f := c.s.Form
			if tt.name == "long" {
				if n := units(f.Subject); n > 200 || !strings.HasSuffix(f.Subject, "…") {
					t.Errorf("subject: got %d characters", n)
				}
			} else if f.Subject != tt.subject {
				t.Errorf("subject: got %q, want %q", f.Subject, tt.subject)
			}
			if len(f.Parts) != tt.parts || f.Step != tt.step {
				t.Errorf("got %d parts at %q, want %d at %q", len(f.Parts), f.Step, tt.parts, tt.step)
			}
		})
	}
}

func TestForm_KeepsWhatComesAtTheWrongStep(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("photo ")
	c.wantSaid("form.kept")
	c.wantSaid("form.category")
	c.do("вопрос") // typed instead of pressed
	c.wantSaid("form.subject")
	ev := c.message("")
	ev.Attachments = []messenger.Attachment{{Kind: messenger.Voice, Ref: "v", Name: "voice.ogg"}}
	c.handle(ev)
	c.wantSaid("form.kept")
	c.do("Тема")
	if got := len(c.s.Form.Parts); got != 2 || c.s.Form.Step != dialog.StepConfirm {
		t.Errorf("got %d parts at %q", got, c.s.Form.Step)
	}
}

func TestForm_PathIsNoCommand(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("btn Вопрос")
	c.do("/dev/sda горит")
	if got := c.s.Form.Subject; got != "/dev/sda горит" {
		t.Errorf("subject: got %q", got)
	}
}

func TestForm_DeepLinkOfACategory(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/start billing")
	c.wantSaid("start")
	c.wantSaid("form.subject")
	if c.s.Form == nil || c.s.Form.Category != "billing" || c.s.Start != "" {
		t.Errorf("got %+v, start %q", c.s.Form, c.s.Start)
	}
}

func TestForm_ManyCategories(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for i := range 12 {
		g := c.v.Catalogue.Categories[0]
		g.Key += strings.Repeat("x", i+1)
		c.v.Catalogue.Categories = append(c.v.Catalogue.Categories, g)
	}
	c.do("/new")
	seen := map[string]bool{}
	for page := 0; page < 4; page++ {
		for _, row := range c.board {
			for _, b := range row {
				if strings.Contains(b.Data, ":k:") {
					seen[b.Data] = true
				}
			}
		}
		if page < 3 {
			c.do("btn Ещё ›")
		}
	}
	if len(seen) != 17 {
		t.Errorf("%d categories can be reached, want 17", len(seen))
	}
}
