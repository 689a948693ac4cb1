// Package operate has the operator's commands: what a person does by hand to a
// deployment, running or just restored, from a machine that reaches its databases.
package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"
	"time"
	"unicode"

	"supportbot/shared/env"
)

// Operator runs commands.
type Operator struct {
	Env *env.Reader
	Out io.Writer
	// Settle is how long a call to a webhook may take that was under way when a
	// person was banned.
	Settle time.Duration
	// User is who runs the commands, as the machine knows them; "": it does not.
	User string
}

// New makes an Operator for this process's environment.
func New(out io.Writer) *Operator {
	o := &Operator{Env: env.NewReader(), Out: out, Settle: 2 * time.Second}
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
}

// by names whoever decides something here, for whoever looks at it later.
func (o *Operator) by() string {
	if o.User == "" {
		return "command line"
	}
	return "command line (" + o.User + ")"
}

// command is one of the operator's commands.
type command struct {
	name, args, about string
	run               func(o *Operator, ctx context.Context, args []string) error
}

func commands() []command {
	return []command{
		{"ban", "<messenger>:<user> [reason]", "nothing of this person is heard any more, in any of their chats", (*Operator).ban},
		{"unban", "<messenger>:<user>", "the person is heard again", (*Operator).unban},
		{"cancel", "<job>...", "ends jobs; one that runs ends at its next checkpoint", (*Operator).cancel},
		{"grant", "<messenger>:<user> <role,...>", "gives a person roles in place of their own: agent, admin, analyst, operator, none", (*Operator).grant},
		{"jobs", "[show|replay|cancel|settle|dead] ...", "lists jobs (--state, --kind, --lane, --request, --error, --before; those in review by default), shows, replays, cancels, settles them; dead lists what queues gave up", (*Operator).list},
		{"key", "<name> <role> [<messenger>:<user>]", "makes an API key; the tests that it sends to oneself go to that person", (*Operator).key},
		{"keys", "", "lists the API keys", (*Operator).keys},
		{"revoke", "<name>", "ends an API key", (*Operator).revoke},
		{"load", "--since <day>", "loads the history of tickets into the analytics; may be broken off and started again", (*Operator).load},
		{"replay", "<job>...", "gives jobs in review new attempts", (*Operator).replay},
		{"restore", "[--yes]", "after the database was restored from a backup: nothing earlier goes out; without --yes it only tells", (*Operator).restore},
	}
}

// Names lists the commands.
func Names() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// ErrUsage means that a command was not understood and did nothing. The error says
// what was wrong and how it is used.
var ErrUsage = errors.New("not understood")

// ExitCode is what a process ends with: 0 for no error, 2 for ErrUsage, else 1.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	}
	return 1
}

// Usage tells how all commands are used.
func Usage() string {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-38s %s\n", c.name+" "+c.args, c.about)
	}
	return b.String()
}

// Run runs a command. The error is for a person to read; it holds no secrets.
func (o *Operator) Run(ctx context.Context, name string, args ...string) error {
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		err := c.run(o, ctx, args)
		if errors.Is(err, ErrUsage) {
			return fmt.Errorf("%w\nusage: %s %s\n       %s", err, c.name, c.args, c.about)
		}
		return err
	}
	return fmt.Errorf("%w: there is no command %q; there are\n%s", ErrUsage, name, Usage())
}

func (o *Operator) say(format string, args ...any) { line(o.Out, format, args...) }

// line writes a line in which no text of others moves the cursor, or makes a line of its own:
// errors and remarks have what services and people said.
func line(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = strings.Map(printable, text)
		}
	}
	_, _ = fmt.Fprintf(w, format+"\n", args...)
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
