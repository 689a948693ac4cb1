package redisdb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"supportbot/shared/dialog"
)

// snapshot reads {verdict, {version, state, profile}, entries, tickets, holds}.
// A state that cannot be read (another release wrote it) counts as lost.
func snapshot(reply []any, token string) (dialog.Snapshot, error) {
	s := dialog.Snapshot{Verdict: dialog.Verdict(text(reply, 0))}
	if len(reply) == 1 {
		return s, nil
	}
	if len(reply) != 5 {
		return s, fmt.Errorf("read conversation: %d values, want 5", len(reply))
	}
	head, _ := reply[1].([]any)
	s.Version, _ = strconv.ParseInt(text(head, 0), 10, 64)
	if raw := text(head, 1); raw != "" && json.Unmarshal([]byte(raw), &s.State) != nil {
		s.State = dialog.State{}
	}
	if raw := text(head, 2); raw != "" {
		if p := new(dialog.Profile); json.Unmarshal([]byte(raw), p) == nil {
			s.Profile = p
		}
	}
	list, _ := reply[2].([]any)
	for i := 0; i+3 < len(list); i += 4 {
		p := dialog.Pending{Recorded: text(list, i+2) != ""}
		if err := json.Unmarshal([]byte(text(list, i+1)), &p.Entry); err != nil {
			return s, fmt.Errorf("read entry: %w", err)
		}
		begun := text(list, i+3)
		p.Begun = begun != "" && begun != token
		s.Pending = append(s.Pending, p)
	}
	slices.SortFunc(s.Pending, func(a, b dialog.Pending) int { return int(a.N - b.N) })
	fields, _ := reply[3].([]any)
	s.Tickets = tickets(fields)
	holds, _ := reply[4].(int64)
	s.Holds = holds == 1
	return s, nil
}

func text(list []any, i int) string {
	if i >= len(list) {
		return ""
	}
	s, _ := list[i].(string)
	return s
}
