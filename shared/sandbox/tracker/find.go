package tracker

import (
	"cmp"
	"slices"
	"strings"
)

// Wanted is which tickets somebody looks for; the zero value is all.
type Wanted struct {
	Queue string // key
	Words string // in key, summary, assignee's login or the local field Named
	Named string // key of a local field with a name
}

// Find gives the tickets that changed last, at most so many, the newest change first,
// and how many there are in all.
func (s *Server) Find(w Wanted, most int) (list []Ticket, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.ToLower(strings.TrimSpace(w.Words))
	newest := func(a, b *issue) int {
		return cmp.Or(b.time("updatedAt").Compare(a.time("updatedAt")), strings.Compare(b.id, a.id))
	}
	var best []*issue // a few more than wanted: sorting all of them would take its time
	for _, i := range slices.Backward(s.issues) {
		if w.Queue != "" && i.queue.Key != w.Queue || words != "" && !strings.Contains(s.words(i, w.Named), words) {
			continue
		}
		total++
		if most < 1 {
			continue
		}
		if len(best) >= most && newest(i, best[most-1]) > 0 {
			continue
		}
		if best = append(best, i); len(best) == 2*most || len(best) == most {
			slices.SortFunc(best, newest)
			best = best[:most]
		}
	}
	slices.SortFunc(best, newest)
	for _, i := range best[:min(max(most, 0), len(best))] {
		list = append(list, s.ticket(i))
	}
	return list, total
}

// words is what a ticket is found by, in small letters.
func (s *Server) words(i *issue, named string) string {
	name := ""
	if f := i.queue.localByKey(named); f != nil {
		name = i.text(f.id)
	}
	return strings.ToLower(strings.Join([]string{i.key, i.text("summary"), s.login(i.text("assignee")), name}, " "))
}
