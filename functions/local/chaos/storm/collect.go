package storm

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"supportbot/shared/tracker"
)

// books opens the books as they are now.
func (w *world) books(ctx context.Context) (*Books, error) {
	b := &Books{Chats: map[string][]Got{}, Spilled: w.log.spilled(), Alone: w.log.alone(), News: w.asked, Struck: w.struck}
	w.adversary.tell(b)
	r := &record{Books: b, w: w, taken: map[brought]bool{}, presses: map[string]bool{}}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("read the stand-ins' logs: %w", err)
	}
	for _, c := range w.customers {
		r.customer(c)
	}
	if err := b.tickets(w); err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	var err error
	if b.Places, err = w.limiter.given(); err != nil {
		return nil, fmt.Errorf("listen to the limiter: %w", err)
	}
	if err := b.admitted(ctx, w); err != nil {
		return nil, fmt.Errorf("read what is admitted: %w", err)
	}
	if b.Litter, err = w.litter(); err != nil {
		return nil, fmt.Errorf("look for litter: %w", err)
	}
	return b, nil
}

// tickets reads the tracker's.
func (b *Books) tickets(w *world) error {
	for _, t := range w.tracker.Tickets() {
		k := Ticket{
			Key: t.Key, Chat: t.Fields[string(tracker.FieldMessenger)] + ":" + t.Fields[string(tracker.FieldChat)], Summary: t.Summary,
			Rating: t.Fields[string(tracker.FieldRating)], Entries: []Entry{{t.Description, t.CreatedAt}},
		}
		for _, m := range t.Comments {
			if m.Robot {
				k.Entries = append(k.Entries, Entry{m.Text, m.CreatedAt})
			}
		}
		for _, f := range t.Files {
			_, from, err := w.tracker.Open(f.ID)
			if err != nil {
				return err
			}
			data, err := io.ReadAll(from)
			if err != nil {
				return err
			}
			k.Files = append(k.Files, string(data))
		}
		b.Tickets = append(b.Tickets, k)
	}
	return nil
}

// litter lists what is in the temporary folders.
func (w *world) litter() (names []string, err error) {
	for i := range w.places {
		root := w.scratch(i)
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != root {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
