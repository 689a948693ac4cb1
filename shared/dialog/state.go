package dialog

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"supportbot/shared/ticket"
)

// State is what a conversation remembers between two events. All of it may be
// lost at any time: then half-filled forms are lost and nothing else.
type State struct {
	Last      int64            `json:"last,omitempty"`  // the largest Sequence seen
	Start     string           `json:"start,omitempty"` // the deep link that the customer came by
	Form      *Form            `json:"form,omitempty"`
	Ask       *Ask             `json:"ask,omitempty"`
	Target    *Target          `json:"target,omitempty"` // takes messages without being asked
	Remark    *Target          `json:"remark,omitempty"` // the rating that the next text belongs to
	Ended     []Ended          `json:"ended,omitempty"`  // forms and questions that are over
	Opened    []ticket.Summary `json:"opened,omitempty"` // confirmed, perhaps not yet in Tracker's list
	Albums    []Place          `json:"albums,omitempty"` // where albums went
	Places    []Place          `json:"places,omitempty"` // where messages went
	AckAt     time.Time        `json:"ack_at"`           // the last acknowledgement of a message
	RefusedAt time.Time        `json:"refused_at"`       // the last refusal in a group
}

// Bounds of what is remembered: the state travels with every event.
const (
	keepEnded  = 8
	keepAlbums = 8
	keepPlaces = 60
	keepOpened = 20
	keepParts  = 50        // messages of one form or question...
	keepBytes  = 512 << 10 // ...and how much of JSON they are
)

// FormStep is where a form stands.
type FormStep string

// The steps, in their order.
const (
	StepCategory    FormStep = "c"
	StepSubject     FormStep = "s"
	StepDescription FormStep = "d"
	StepConfirm     FormStep = "k"
)

// Form is a ticket that is being written. Its ID becomes the draft's.
type Form struct {
	ID          string    `json:"id"`
	Step        FormStep  `json:"step"`
	At          time.Time `json:"at"` // last touched
	Category    string    `json:"category,omitempty"`
	Subject     string    `json:"subject,omitempty"`
	SubjectFrom string    `json:"subject_from,omitempty"` // id of the message it was taken from
	Parts       []Part    `json:"parts,omitempty"`
}

// Part is a customer's message that waits in the state.
type Part struct {
	ticket.Message
	ID       string `json:"id,omitempty"` // the messenger's message id
	Sequence int64  `json:"sequence,omitempty"`
	Album    string `json:"album,omitempty"`
}

// Ask is the question where waiting messages belong.
type Ask struct {
	ID    string       `json:"id"`
	Kind  AskKind      `json:"kind"`
	Parts []Part       `json:"parts"`
	Refs  []ticket.Ref `json:"refs,omitempty"` // tickets that were offered
	At    time.Time    `json:"at"`             // last asked
}

// AskKind says what is asked.
type AskKind string

// The questions.
const (
	AskWhich  AskKind = "which"  // several tickets are open
	AskReopen AskKind = "reopen" // one was resolved lately
	AskOffer  AskKind = "offer"  // none: shall there be one?
)

// Target is a ticket that takes what comes next.
type Target struct {
	Ref   ticket.Ref `json:"ref"`
	At    time.Time  `json:"at"` // when it was chosen
	Until time.Time  `json:"until"`
	// Reopened: the customer took it back to work; a list that still shows it as
	// resolved is behind.
	Reopened bool `json:"reopened,omitempty"`
}

// Ended is a form or a question that is over, remembered so that late presses
// of its buttons can be answered.
type Ended struct {
	ID  string    `json:"id"`
	How How       `json:"how"`
	At  time.Time `json:"at"`
}

// How says how a form or a question ended.
type How string

// The endings.
const (
	Sent      How = "sent"      // a form became a ticket
	Cancelled How = "cancelled" // a form was given up
	Answered  How = "answered"  // a question got its answer
)

// Place says where an album or a message went. The zero Ref is an album whose
// form was cancelled.
type Place struct {
	ID  string     `json:"id"`
	Ref ticket.Ref `json:"ref"`
}

// clone copies what Step changes in place, so that the state it was given stays.
func (s State) clone() State {
	if s.Form != nil {
		f := *s.Form
		f.Parts = slices.Clone(f.Parts)
		s.Form = &f
	}
	if s.Ask != nil {
		a := *s.Ask
		a.Parts, a.Refs = slices.Clone(a.Parts), slices.Clone(a.Refs)
		s.Ask = &a
	}
	if s.Target != nil {
		c := *s.Target
		s.Target = &c
	}
	s.Ended, s.Opened = slices.Clone(s.Ended), slices.Clone(s.Opened)
	s.Albums, s.Places = slices.Clone(s.Albums), slices.Clone(s.Places)
	return s
}

// expire drops what has outlived its time.
func (s *State) expire(now time.Time, known Tickets) {
	if s.Form != nil && now.Sub(s.Form.At) > DraftLife {
		s.Form = nil
	}
	if s.Ask != nil && now.Sub(s.Ask.At) > DraftLife {
		s.Ask = nil
	}
	if s.Target != nil && now.After(s.Target.Until) {
		s.Target = nil
	}
	if s.Remark != nil && now.After(s.Remark.Until) {
		s.Remark = nil
	}
	s.Opened = slices.DeleteFunc(s.Opened, func(o ticket.Summary) bool {
		return now.Sub(o.CreatedAt) > openedLife || known.find(o.Ref) != nil
	})
}

func (s *State) end(id string, how How, now time.Time) {
	s.Ended = keepLast(append(s.Ended, Ended{ID: id, How: how, At: now}), keepEnded)
}

func (s *State) ended(id string) (Ended, bool) {
	for _, e := range s.Ended {
		if e.ID == id {
			return e, true
		}
	}
	return Ended{}, false
}

// place remembers where a part went.
func (s *State) place(p Part, ref ticket.Ref) {
	if p.ID != "" && ref != (ticket.Ref{}) {
		s.Places = keepLast(append(s.Places, Place{ID: p.ID, Ref: ref}), keepPlaces)
	}
	if p.Album == "" {
		return
	}
	if i := slices.IndexFunc(s.Albums, func(a Place) bool { return a.ID == p.Album }); i >= 0 {
		s.Albums[i].Ref = ref
		return
	}
	s.Albums = keepLast(append(s.Albums, Place{ID: p.Album, Ref: ref}), keepAlbums)
}

func find(places []Place, id string) (ticket.Ref, bool) {
	if id == "" {
		return ticket.Ref{}, false
	}
	for i := len(places) - 1; i >= 0; i-- {
		if places[i].ID == id {
			return places[i].Ref, true
		}
	}
	return ticket.Ref{}, false
}

// room reports whether a message can wait beside those that do, and else says so in
// the words given.
func (t *turn) room(parts []Part, p Part, full string) bool {
	switch {
	case size([]Part{p}) > keepBytes:
		t.note("message.too_large")
	case len(parts) >= keepParts, size(append(parts[:len(parts):len(parts)], p)) > keepBytes:
		t.note(full)
	default:
		return true
	}
	return false
}

// size is what parts add to the state, bytes.
func size(parts []Part) int {
	raw, err := json.Marshal(parts)
	if err != nil {
		return math.MaxInt // nothing could be kept with it
	}
	return len(raw)
}

// holds reports whether a part of the album waits here.
func holds(parts []Part, album string) bool {
	return album != "" && slices.ContainsFunc(parts, func(p Part) bool { return p.Album == album })
}

func keepLast[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}
