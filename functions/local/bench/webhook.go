package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"supportbot/shared/messenger"
)

// people is how many customers of each messenger take turns: so many that none writes
// faster than a chat's limit, at any rate that this machine reaches.
const people = 2000

const (
	leastRatio  = 0.3 // of pgbench's rate with the same statements
	specimenOne = mostCustomers - 1
)

// webhook measures updates through the webhooks' handlers, the platform in a process
// of its own, beside pgbench with what they send to Postgres.
func webhook(ctx context.Context, o options, r *report) error {
	s, err := newStage(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.database(ctx, "measured", migrated); err != nil {
		return err
	}
	w := newOutside(s, o, false)
	defer w.close()
	specimens, err := w.specimens(ctx, s)
	if err != nil {
		return fmt.Errorf("record specimens: %w", err)
	}
	f, err := startFunction(ctx, w.vars, "-profile", o.profile)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := w.connect(ctx, f.url); err != nil {
		return err
	}
	r.note("webhook: the handlers in one process, the messengers' stand-ins and %d customers in another; no limits of the", 2*people)
	r.note("messengers; an update is over when its handler returns, replies sent; %d at once on as many connections", o.connections)
	for _, m := range []side{
		{name: messenger.Telegram, bot: telegramBot, first: firstTelegram},
		{name: messenger.VK, bot: strconv.Itoa(vkGroup), first: firstVK},
	} {
		m.specimen = specimens[m.name]
		for n := range people {
			m.people = append(m.people, w.newcomer(m.name, n))
		}
		if err := opened(ctx, m.people, o.connections); err != nil {
			return err
		}
		if err := s.steps(ctx, o, r, m); err != nil {
			return err
		}
		if err := s.additions(ctx, o, r, m); err != nil {
			return err
		}
	}
	return nil
}

// side is one messenger with its customers.
type side struct {
	name     messenger.Name
	bot      string
	first    int64 // id of a customer
	people   []*person
	specimen specimen
}

// beginning lets each customer do something once, before what is measured.
func (m side) beginning(ctx context.Context, o options, do act) error {
	_, err := crowd(ctx, m.people, o.connections, 0, do)
	return err
}

// additions measures updates that make a job.
func (s *stage) additions(ctx context.Context, o options, r *report, m side) error {
	url := s.address("measured")
	bench, err := newPgbench(ctx, s.dir, url, &s.runs)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("\\set n :n + 1\n\\set chat %d + :client_id + %d * random(0, %d)\n", m.first, o.connections, people/o.connections-1)
	sc, err := transcribe(ctx, url, m.specimen.job, head, m.specimen.id,
		vary{m.specimen.key, `'pgbench-' || (:start)::text || '-' || (:client_id)::text || '-' || (:n)::text`}, // may name the chat
		vary{strconv.FormatInt(m.first+specimenOne, 10), `(:chat)::text`})
	if err != nil {
		return err
	}
	var took []time.Duration
	ours := func(ctx context.Context, d time.Duration) (float64, error) {
		l, err := crowd(ctx, m.people, o.connections, d, adds)
		took = append(took, l.took...)
		return l.rate(), err
	}
	program := func(ctx context.Context, d time.Duration) (float64, error) {
		return bench.run(ctx, sc, o.connections, d)
	}
	if err := m.beginning(ctx, o, adds); err != nil { // the first ones are acknowledged
		return err
	}
	rates, err := contest(ctx, o, url, ours, program)
	if err != nil {
		return err
	}
	label := string(m.name) + ", updates that make a job"
	r.figure(label, median(rates[0]), "updates/s")
	r.figure(label+", p50", percentile(took, 0.5), "ms")
	r.figure(label+", p99", percentile(took, 0.99), "ms")
	r.figure(fmt.Sprintf("%s: pgbench, the same %d statements", label, statements(m.specimen.job)), median(rates[1]), "updates/s")
	r.atLeast(label+" : pgbench", ratioOf(rates[0], rates[1]), leastRatio)
	return nil
}

// steps measures updates that only carry a dialog on. They send nothing to Postgres;
// beside them is what they send to Redis.
func (s *stage) steps(ctx context.Context, o options, r *report, m side) error {
	if n := statements(m.specimen.step); n != 0 {
		return fmt.Errorf("a step of a dialog sent %d statements", n)
	}
	alone, err := newRedisAlone(s.redis.URL(), o.connections, m)
	if err != nil {
		return err
	}
	defer alone.close()
	var took []time.Duration
	var scripts, updates int
	ours := func(ctx context.Context, d time.Duration) (float64, error) {
		before, err := alone.scripts(ctx)
		if err != nil {
			return 0, err
		}
		l, err := crowd(ctx, m.people, o.connections, d, fillsForm)
		if err != nil {
			return 0, err
		}
		after, err := alone.scripts(ctx)
		took, scripts, updates = append(took, l.took...), scripts+after-before, updates+len(l.took)
		return l.rate(), err
	}
	bare := func(ctx context.Context, d time.Duration) (float64, error) { return alone.run(ctx, o.connections, d) }
	rates, err := contest(ctx, o, s.address("measured"), ours, bare)
	if err != nil {
		return err
	}
	err = m.beginning(ctx, o, func(ctx context.Context, p *person) (time.Duration, error) { return p.says(ctx, "/cancel") })
	if err != nil {
		return err
	}
	label := string(m.name) + ", steps of a dialog"
	r.figure(label, median(rates[0]), "updates/s")
	r.figure(label+", p50", percentile(took, 0.5), "ms")
	r.figure(label+", p99", percentile(took, 0.99), "ms")
	r.figure(label+": statements to Postgres", 0, "each")
	r.figure(label+": scripts to Redis", float64(scripts)/float64(updates), "each")
	r.figure(label+": Redis alone, the same scripts", median(rates[1]), "updates/s")
	r.plain(label+" : Redis alone", ratioOf(rates[0], rates[1]))
	return nil
}
