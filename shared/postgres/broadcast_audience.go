package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// choice is a query for the identities that a broadcast goes to, as (id, k): k is
// the position of its bot in bots, from 1.
type choice struct {
	sql  string
	args []any
	bots []messenger.Address // without a chat
}

// audience makes the query. Only the criteria that are set are in it, so that the
// planner sees what each costs; what keeps few people away is an anti-join, what
// chooses among all a semi-join.
func audience(b broadcast.Broadcast, bots broadcast.Bots, tickets []messenger.Address) choice {
	q := choice{}
	a := b.Audience
	if b.Relation == broadcast.Correction { // whoever had it, there where they had it
		a = broadcast.Audience{}
	}
	for m, bot := range bots {
		if len(a.Messengers) == 0 || slices.Contains(a.Messengers, m) {
			q.bots = append(q.bots, messenger.Address{Messenger: m, Bot: bot})
		}
	}
	slices.SortFunc(q.bots, func(x, y messenger.Address) int { return cmp.Compare(x.Messenger, y.Messenger) })
	var which, where []string
	for i, bot := range q.bots {
		is := fmt.Sprintf("i.messenger = %s AND i.bot = %s", q.arg(string(bot.Messenger)), q.arg(bot.Bot))
		which = append(which, fmt.Sprintf("WHEN %s THEN %d", is, i+1))
		where = append(where, is)
	}
	conditions := []string{
		"(" + strings.Join(where, " OR ") + ")",
		"i.reachable",
		"NOT EXISTS (SELECT FROM people p WHERE p.id = i.person_id AND " + keptAway(b.Kind) + ")",
	}
	columns := "i.id, CASE " + strings.Join(which, " ") + " END AS k"
	if b.Relation == broadcast.Correction {
		q.sql = "SELECT " + columns + " FROM batches b JOIN recipients r ON r.batch = b.id JOIN identities i ON i.id = r.identity" +
			" WHERE b.broadcast = " + q.arg(b.Parent) + " AND r.outcome IN ('sent', 'uncertain') AND " + strings.Join(conditions, " AND ")
		return q
	}
	conditions = append(conditions, q.people(b.Kind, a)...)
	conditions = append(conditions, q.seen(a.Seen)...)
	conditions = append(conditions, q.tickets(a.OpenTicket, tickets)...)
	q.sql = "SELECT DISTINCT ON (i.person_id) " + columns + " FROM identities i WHERE " + strings.Join(conditions, " AND ") +
		" ORDER BY i.person_id, i.seen_at DESC, i.id DESC"
	return q
}

// arg adds an argument and gives its place.
func (q *choice) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// keptAway is true of a person p who gets nothing of a kind, whatever the audience.
func keptAway(k broadcast.Kind) string {
	switch k {
	case broadcast.News:
		return "(p.banned_at IS NOT NULL OR NOT p.news)"
	case broadcast.Maintenance:
		return "(p.banned_at IS NOT NULL OR NOT p.maintenance)"
	}
	return "p.banned_at IS NOT NULL"
}

// people are the criteria that a person meets. A system notice without roles and a
// message without customers go to nobody: they must never become one to everybody.
func (q *choice) people(k broadcast.Kind, a broadcast.Audience) []string {
	var is []string
	if len(a.Locales) > 0 {
		is = append(is, "p.locale = ANY("+q.arg(texts(a.Locales))+"::text[])")
	}
	if len(a.Roles) > 0 || k == broadcast.System {
		has := "p.roles && " + q.arg(texts(a.Roles)) + "::text[]"
		if slices.Contains(a.Roles, person.Customer) { // which is what everybody is who has no other
			has = "(" + has + " OR p.roles = '{}')"
		}
		is = append(is, has)
	}
	if len(a.Tags) > 0 {
		is = append(is, "p.tags && "+q.arg(texts(a.Tags))+"::text[]")
	}
	is = append(is, q.span("p.created_at", a.Registered)...)
	if len(a.Customers) > 0 || k == broadcast.Message {
		is = append(is, "p.id IN (SELECT coalesce(c.merged_into, c.id) FROM people c WHERE c.id = ANY("+q.arg(append([]int64{}, a.Customers...))+"::bigint[]))")
	}
	if len(is) == 0 {
		return nil
	}
	return []string{"i.person_id IN (SELECT p.id FROM people p WHERE " + strings.Join(is, " AND ") + ")"}
}

func (q *choice) span(column string, s *broadcast.Span) (is []string) {
	if s != nil && s.From != nil {
		is = append(is, column+" >= "+q.arg(*s.From))
	}
	if s != nil && s.To != nil {
		is = append(is, column+" < "+q.arg(*s.To))
	}
	return is
}

// seen is about when a person was last seen, in whatever messenger.
func (q *choice) seen(s *broadcast.Span) (is []string) {
	if s != nil && s.From != nil {
		is = append(is, "i.person_id IN (SELECT o.person_id FROM identities o WHERE o.seen_at >= "+q.arg(*s.From)+")")
	}
	if s != nil && s.To != nil {
		is = append(is, "NOT EXISTS (SELECT FROM identities o WHERE o.person_id = i.person_id AND o.seen_at >= "+q.arg(*s.To)+")")
	}
	return is
}

// tickets: a person has an open ticket if one of their chats has.
func (q *choice) tickets(open *bool, chats []messenger.Address) []string {
	if open == nil {
		return nil
	}
	var names, bots, ids []string
	for _, c := range chats {
		names, bots, ids = append(names, string(c.Messenger)), append(bots, c.Bot), append(ids, c.Chat)
	}
	not := ""
	if !*open {
		not = "NOT "
	}
	return []string{fmt.Sprintf(`%sEXISTS (SELECT FROM unnest(%s::text[], %s::text[], %s::text[]) t (messenger, bot, chat)
		JOIN identities o USING (messenger, bot, chat) WHERE o.person_id = i.person_id)`,
		not, q.arg(texts(names)), q.arg(texts(bots)), q.arg(texts(ids)))}
}
