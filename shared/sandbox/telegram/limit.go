package telegram

import "time"

// pace is how many messages a chat got lately.
type pace struct {
	bucket bucket      // of a private chat
	recent []time.Time // within the last minute, of a group
	until  time.Time   // nothing goes before that
	denied int         // calls in a row that came too early
}

// bucket is a token bucket; the zero time means that it is full.
type bucket struct {
	rate, burst float64 // tokens per second, tokens at most
	tokens      float64
	at          time.Time
}

// take takes n tokens, or says how long to wait for them. A bucket takes any
// number when it is full.
func (b *bucket) take(now time.Time, n float64) time.Duration {
	if b.rate < 0 {
		return 0
	}
	if b.at.IsZero() {
		b.tokens = b.burst
	} else if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.tokens = min(b.burst, b.tokens+passed*b.rate)
	}
	b.at = now
	if need := min(n, b.burst); b.tokens < need {
		return time.Duration((need - b.tokens) / b.rate * float64(time.Second))
	}
	b.tokens -= n
	return 0
}

// How a bot is punished that calls on and on before its time.
const (
	patience   = 20
	punishment = time.Minute
)

// admit counts n messages to a chat (edits and answers are not limited here), or asks the bot to wait
// (core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this).
func (s *Server) admit(ch *chat, n int) *refusal {
	now := s.now()
	p := &ch.pace
	if now.Before(p.until) {
		p.denied++
		if p.denied == patience {
			p.until = now.Add(punishment)
		}
		return tooMany(seconds(p.until.Sub(now)))
	}
	p.denied = 0
	if wait := s.chatWait(ch, now, n); wait > 0 {
		p.until = now.Add(wait)
		return tooMany(seconds(wait))
	}
	if wait := s.total.take(now, float64(n)); wait > 0 {
		return tooMany(seconds(wait))
	}
	return nil
}

func (s *Server) chatWait(ch *chat, now time.Time, n int) time.Duration {
	p := &ch.pace
	if ch.user != nil {
		if s.cfg.Burst < 0 {
			return 0
		}
		p.bucket.rate, p.bucket.burst = 1, float64(s.cfg.Burst)
		return p.bucket.take(now, float64(n))
	}
	kept := p.recent[:0]
	for _, t := range p.recent {
		if now.Sub(t) < time.Minute {
			kept = append(kept, t)
		}
	}
	p.recent = kept
	if s.cfg.PerMinute >= 0 && len(p.recent) > 0 && len(p.recent)+n > s.cfg.PerMinute {
		return p.recent[0].Add(time.Minute).Sub(now)
	}
	for range n {
		p.recent = append(p.recent, now)
	}
	return 0
}

// seconds rounds up, at least one.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// Limit makes the server refuse messages to a chat for so long, as if the bot
// had sent too many.
func (s *Server) Limit(chatID int64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.known(chatID); ch != nil {
		ch.pace.until = s.now().Add(wait)
	}
}
