package v3

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/tracker"
)

// id is an identifier, which Tracker gives as a text or as a number.
type id string

func (d *id) UnmarshalJSON(raw []byte) error {
	var text string
	switch {
	case bytes.Equal(raw, []byte("null")):
		return nil
	case json.Unmarshal(raw, &text) == nil:
		*d = id(text)
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return errors.New("an id is neither a text nor a whole number")
	}
	*d = id(strconv.FormatInt(n, 10))
	return nil
}

// number is a whole number, also written as a text.
type number int64

func (n *number) UnmarshalJSON(raw []byte) error {
	var d id
	if err := d.UnmarshalJSON(raw); err != nil || d == "" {
		return err
	}
	v, err := strconv.ParseInt(string(d), 10, 64)
	*n = number(v)
	return err
}

// moment is a time. Its offset has no colon, which RFC 3339 does not allow.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, &text); err != nil || text == "" {
		return err
	}
	t, err := time.Parse("2006-01-02T15:04:05-0700", text) // takes a fraction too
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	m.Time = t.UTC()
	return err
}

// day is a date. Anything else counts as none.
type day struct{ time.Time }

func (d *day) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			d.Time = t
		}
	}
	return nil
}

// tags are a list of texts. Anything else counts as none.
type tags []string

func (t *tags) UnmarshalJSON(raw []byte) error {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		*t = list
	}
	return nil
}

// clocks are the timers of SLA rules. Their form is not documented: what cannot be
// read is no timer.
type clocks []tracker.Clock

func (c *clocks) UnmarshalJSON(raw []byte) error {
	var wires []struct {
		FailAt          moment `json:"failAt"`
		ViolationStatus string `json:"violationStatus"` // "NOT_VIOLATED", "WARN_CONDITIONS_VIOLATED", "FAIL_CONDITIONS_VIOLATED"
		ClockStatus     string `json:"clockStatus"`     // "STARTED", "PAUSED", "STOPPED"
	}
	if json.Unmarshal(raw, &wires) != nil {
		return nil //nolint:nilerr // as said
	}
	for _, w := range wires {
		*c = append(*c, tracker.Clock{
			FailsAt: w.FailAt.Time, Failed: strings.HasPrefix(w.ViolationStatus, "FAIL"), Stopped: w.ClockStatus == "STOPPED",
		})
	}
	return nil
}

// ref is a reference to a user or to an entry of a dictionary: an object, or in
// some answers only its key. Anything else counts as no reference.
type ref struct {
	ID      id     `json:"id"`
	Key     string `json:"key"`
	Login   string `json:"login"`
	Display string `json:"display"`
	Name    string `json:"name"`
}

func (r *ref) UnmarshalJSON(raw []byte) error {
	type plain ref
	var p plain
	if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &p) == nil {
		*r = ref(p)
		return nil
	}
	var text id // a plain value
	if text.UnmarshalJSON(raw) == nil {
		*r = ref{Key: string(text)}
	}
	return nil
}

// value is what the port keeps of a field's value.
func (r ref) value() tracker.Value {
	v := tracker.Value{Key: r.Key, Name: r.Display}
	if v.Key == "" {
		v.Key = string(r.ID)
	}
	return v
}

// user is how the port names a user: by login where Tracker gives it.
func (r ref) user() string {
	if r.Login != "" {
		return r.Login
	}
	return string(r.ID)
}

type issueWire struct {
	ID          id     `json:"id"`
	Key         string `json:"key"`
	Version     number `json:"version"`
	Queue       ref    `json:"queue"`
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Type        ref    `json:"type"`
	Priority    ref    `json:"priority"`
	Status      ref    `json:"status"`
	StatusType  ref    `json:"statusType"`
	Resolution  ref    `json:"resolution"`
	Assignee    ref    `json:"assignee"`
	Unique      string `json:"unique"`
	Tags        tags   `json:"tags"`
	CreatedAt   moment `json:"createdAt"`
	UpdatedAt   moment `json:"updatedAt"`
	ResolvedAt  moment `json:"resolvedAt"`
	Deadline    day    `json:"deadline"`
	SLA         clocks `json:"sla"`
	local       map[tracker.Field]string
}

func (w *issueWire) UnmarshalJSON(raw []byte) error {
	type plain issueWire
	if err := json.Unmarshal(raw, (*plain)(w)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	w.local = map[tracker.Field]string{}
	for name, raw := range all {
		// A local field is named "<24 hexadecimal digits of its queue>--<key>".
		owner, key, local := strings.Cut(name, "--")
		field := tracker.Field(key)
		var text id // fields of our own making are texts; a number is taken as one
		if local && owner != "" && slices.Contains(tracker.Fields, field) && text.UnmarshalJSON(raw) == nil && text != "" {
			w.local[field] = string(text)
		}
	}
	return nil
}

func (w *issueWire) validate() error {
	if w.ID == "" || w.Key == "" {
		return errors.New("the answer is not an issue")
	}
	return nil
}

func (w *issueWire) issue() tracker.Issue {
	return tracker.Issue{
		ID: string(w.ID), Key: w.Key, Version: int64(w.Version), Queue: w.queue(), Summary: w.Summary,
		Description: w.Description, Type: w.Type.Key, Priority: w.Priority.Key,
		Status:     tracker.Status{Key: w.Status.Key, Type: statusType(w.StatusType.Key), Display: w.Status.Display},
		Resolution: w.Resolution.Key, Assignee: w.Assignee.user(), AssigneeID: string(w.Assignee.ID), AssigneeName: w.Assignee.Display,
		Unique: w.Unique, Erased: slices.Contains(w.Tags, tracker.TagErased), Deadline: w.Deadline.Time, SLA: w.SLA,
		CreatedAt: w.CreatedAt.Time, UpdatedAt: w.UpdatedAt.Time, ResolvedAt: w.ResolvedAt.Time, Fields: w.local,
	}
}

func (w *issueWire) queue() string {
	if w.Queue.Key != "" {
		return w.Queue.Key
	}
	key, _, _ := strings.Cut(w.Key, "-")
	return key
}

// statusType keeps the types that the reference names.
func statusType(key string) string {
	switch key {
	case "new", "inProgress", "paused", "done", "cancelled":
		return key
	}
	return ""
}

type commentWire struct {
	ID          id               `json:"id"`
	LongID      id               `json:"longId"`
	Text        string           `json:"text"`
	Version     number           `json:"version"`
	Type        ref              `json:"type"` // "standard", "incoming" (from a mail), "outcoming" (as one)
	CreatedBy   ref              `json:"createdBy"`
	Summonees   []ref            `json:"summonees"`
	CreatedAt   moment           `json:"createdAt"`
	UpdatedAt   moment           `json:"updatedAt"`
	Attachments []attachmentWire `json:"attachments"`
}

func (w *commentWire) validate() error {
	if w.ID == "" {
		return errors.New("the answer is not a comment")
	}
	return nil
}

func (w *commentWire) comment() tracker.Comment {
	c := tracker.Comment{
		ID: string(w.ID), LongID: string(w.LongID), Text: w.Text, Version: int64(w.Version), Author: string(w.CreatedBy.ID),
		Mail: w.Type.Key == "incoming", CreatedAt: w.CreatedAt.Time, UpdatedAt: w.UpdatedAt.Time,
	}
	for _, u := range w.Summonees {
		c.Summonees = append(c.Summonees, string(u.ID))
	}
	for _, a := range w.Attachments {
		c.Attachments = append(c.Attachments, a.attachment())
	}
	return c
}

type attachmentWire struct {
	ID      id      `json:"id"`
	Name    string  `json:"name"`
	Display string  `json:"display"` // instead of name, in comments
	MIME    string  `json:"mimetype"`
	Size    *number `json:"size"`
}

func (w *attachmentWire) validate() error {
	if w.ID == "" {
		return errors.New("the answer is not an attachment")
	}
	return nil
}

func (w *attachmentWire) attachment() tracker.Attachment {
	a := tracker.Attachment{ID: string(w.ID), Name: w.Name, MIME: w.MIME, Size: -1}
	if a.Name == "" {
		a.Name = w.Display
	}
	if w.Size != nil {
		a.Size = int64(*w.Size)
	}
	return a
}
