package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
)

func TestBroadcasts_NewestFirstByPages(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	var all []int64
	for i := range 5 {
		spec := news(fmt.Sprint(i))
		spec.Draft = i%2 == 0
		b, _ := s.create(spec)
		all = append(all, b.ID)
		spec.Kind = broadcast.Message
		s.create(spec) // a customer's own is not listed
	}
	slices.Reverse(all)
	ids := func(before int64, limit int, states ...broadcast.State) (out []int64) {
		t.Helper()
		list, next, err := s.db.Broadcasts(s.ctx, states, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list); n == limit && next != list[n-1].ID || n < limit && next != 0 {
			t.Errorf("after %d of %d the next page begins before %d", n, limit, next)
		}
		for _, b := range list {
			out = append(out, b.ID)
		}
		return out
	}
	const end = 1 << 62
	for _, tc := range []struct{ got, want []int64 }{
		{ids(end, 10), all}, {ids(end, 2), all[:2]}, {ids(all[1], 2), all[2:4]}, {ids(all[3], 2), all[4:]}, {ids(all[4], 2), nil},
		{ids(end, 10, broadcast.Draft), []int64{all[0], all[2], all[4]}},
		{ids(end, 10, broadcast.Draft, broadcast.Planning), all}, {ids(end, 10, broadcast.Finished), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("got %v, want %v", tc.got, tc.want)
		}
	}
}

// A page fits into an answer of the API gateway, however many people audiences name.
func TestBroadcasts_LargeAudiences(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	var want, got []int64
	for range 12 {
		spec := news(strings.Repeat("Новости ", 500))
		spec.Draft = true
		b, _ := s.create(spec)
		want = append([]int64{b.ID}, want...)
	}
	s.exec(`UPDATE broadcasts SET audience = (SELECT jsonb_build_object('customers', jsonb_agg(1000000 + n * 7919 % 1000003)) FROM generate_series(1, 100000) n)
		WHERE id % 3 <> 0`)
	for before := int64(1 << 62); before != 0; {
		list, next, err := s.db.Broadcasts(s.ctx, nil, before, 10)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil || len(raw) > 2_000_000 {
			t.Errorf("a page of %d has %d bytes, %v", len(list), len(raw), err)
		}
		for _, b := range list {
			got = append(got, b.ID)
		}
		before = next
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages have %v, want %v", got, want)
	}
}

func TestRecipients_ByOutcomeAndPage(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	// Two batches in each of two messengers, seen as one list.
	s.exec(`INSERT INTO people (locale) SELECT 'ru' FROM generate_series(1, 20)`)
	s.exec(`INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at) SELECT 'telegram', $1, id::text, id, '1', now() FROM people`, telegramBot)
	b, _ := s.create(news("text"))
	s.exec(`INSERT INTO batches (broadcast, messenger, bot, number, size, started_at)
		SELECT $1, m, 'bot', n, 5, now() FROM generate_series(1, 2) n, unnest('{telegram,vk}'::text[]) m`, b.ID)
	s.exec(`INSERT INTO recipients (batch, n, identity, outcome, error, done_at)
		SELECT b.id, n, i.id, CASE i.person_id % 4 WHEN 0 THEN 'sent' WHEN 1 THEN 'uncertain' WHEN 2 THEN 'skipped' END, 'why', now()
		FROM batches b, generate_series(1, 5) n, identities i
		WHERE i.person_id = (b.id - (SELECT min(id) FROM batches)) * 5 + n + (SELECT min(id) FROM people) - 1`)
	s.exec(`DELETE FROM identities WHERE person_id = (SELECT min(person_id) FROM identities)`)
	for _, outcome := range append([]broadcast.Outcome{""}, broadcast.Outcomes...) {
		filter := `true`
		if outcome != "" {
			filter = `r.outcome = '` + string(outcome) + `'`
		}
		want := list[string](s, `SELECT coalesce(i.person_id, 0) || ' ' || b.messenger || ' ' || coalesce(r.outcome, '')
			FROM recipients r JOIN batches b ON b.id = r.batch LEFT JOIN identities i ON i.id = r.identity WHERE `+filter+` ORDER BY r.batch, r.n`)
		for _, limit := range []int{1, 3, 100} {
			var got []string
			after, pages := "", 0
			for {
				page, next, err := s.db.Recipients(s.ctx, b.ID, outcome, after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range page {
					got = append(got, fmt.Sprintf("%d %s %s", l.Customer, l.Messenger, l.Outcome))
					if l.Error != "why" || l.At == nil {
						t.Errorf("listed %+v", l)
					}
				}
				if pages++; next == "" || pages > 100 {
					break
				}
				after = next
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q by %d: got\n%s\nwant\n%s", outcome, limit, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	for _, place := range []string{"x", "1", "1-x", "-", "9999999999999999999-1", "1-99999999999"} {
		if _, _, err := s.db.Recipients(s.ctx, b.ID, "", place, 10); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("after %q: %v, want ErrNotFound", place, err)
		}
	}
}

func TestEstimate_ByMessenger(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	town(s)
	for _, tc := range []struct {
		bots broadcast.Bots
		want map[messenger.Name]int
	}{
		{bothBots, map[messenger.Name]int{messenger.Telegram: 6, messenger.VK: 2}},
		{broadcast.Bots{messenger.VK: vkBot}, map[messenger.Name]int{messenger.VK: 2}},
		{broadcast.Bots{messenger.Telegram: "another"}, map[messenger.Name]int{messenger.Telegram: 1}},
		{nil, map[messenger.Name]int{}},
	} {
		got, err := s.db.Estimate(s.ctx, broadcast.Audience{}, broadcast.News, tc.bots, nil)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("with %v: %v, %v; want %v", tc.bots, got, err, tc.want)
		}
	}
}
