package demo

import (
	"errors"
	"fmt"
	"strings"

	"supportbot/shared/sandbox/tracker"
)

// line is one message as a person saw it.
func line(out bool, text string, files int, labels []string) string {
	who := "  > "
	if out {
		who = "  < "
	}
	s := who + strings.ReplaceAll(text, "\n", " / ")
	if files > 0 {
		s += fmt.Sprintf(" [файлов: %d]", files)
	}
	if len(labels) > 0 {
		s += " (" + strings.Join(labels, " | ") + ")"
	}
	return strings.TrimRight(s, " ") + "\n"
}

// ticketTranscript is a ticket as an agent sees it.
func ticketTranscript(server *tracker.Server, key string) string {
	t, ok := server.Ticket(key)
	if !ok {
		return "Tracker has no " + key + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tracker, %s %s: %s, %s, %s, оценка %s\n", t.Key, t.Summary, t.Type, t.Priority, t.Status, t.Fields["supportRating"])
	b.WriteString("  " + flat(t.Description) + fmt.Sprintf(" [файлов всего: %d]\n", len(t.Files)))
	for _, c := range t.Comments {
		s := "  " + c.Author + ": " + flat(c.Text)
		if len(c.Files) > 0 {
			s += fmt.Sprintf(" [файлов: %d]", len(c.Files))
		}
		b.WriteString(s + "\n")
	}
	return b.String() + "\n"
}

// flat is a text in one line, without the marker that Tracker does not show.
func flat(text string) string {
	text, _, _ = strings.Cut(text, "[//]: #")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n\n", " / ")), " ")
}

// compare holds a transcript against the expected one, line by line.
func compare(got, want string) error {
	if got == want {
		return nil
	}
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]++
	}
	var problems []string
	for _, l := range strings.Split(got, "\n") {
		if count[l]--; count[l] < 0 {
			problems = append(problems, "extra:   "+l)
		}
	}
	for _, l := range strings.Split(want, "\n") {
		if count[l] > 0 {
			count[l]--
			problems = append(problems, "missing: "+l)
		}
	}
	if len(problems) == 0 {
		problems = []string{"the lines are right, their order is not"}
	}
	return errors.New("the transcript is not what it has to be:\n" + strings.Join(problems, "\n"))
}
