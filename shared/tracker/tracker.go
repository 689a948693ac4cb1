// Package tracker is the port to Yandex Tracker: issues, comments and the
// changelog in our terms, and a closed set of errors. The client of the v3 API
// is its child package v3.
package tracker

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Issue is a ticket as Tracker shows it.
type Issue struct {
	ID           string // immutable, survives a move to another queue
	Key          string // "SUP-12"; changes when the issue is moved
	Version      int64
	Queue        string // key
	Summary      string
	Description  string
	Type         string // key
	Priority     string // key
	Status       Status
	Resolution   string // key; "" while open
	Assignee     string // login or id; "" when nobody
	AssigneeID   string // as entries of the changelog carry it
	AssigneeName string // for people only
	Unique       string // what the creator gave as NewIssue.Unique
	Erased       bool   // the customer was erased (TagErased)
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ResolvedAt   time.Time // zero while open
	Deadline     time.Time // a day, at its midnight in UTC; zero when there is none
	SLA          []Clock   // the timers of the queue's SLA rules that count for it
	// Fields are the customer's fields by logical name (Field*). A moved issue
	// has lost them.
	Fields map[Field]string
}

// Named reports whether Tracker told which issue it is and when it changed.
func (i Issue) Named() bool { return i.ID != "" && !i.UpdatedAt.IsZero() }

// TagErased marks an issue whose customer was erased: Unique, which nobody can change,
// names them no more. Like all tags it survives a move.
const TagErased = "support-erased"

// Clock is a timer of an SLA rule. Tracker's reference does not describe its form,
// which is not verified.
type Clock struct {
	FailsAt time.Time // moves while the timer is paused; zero when Tracker does not say
	Failed  bool
	Stopped bool // it fails no more
}

// Status is a status by key; Type is "new", "inProgress", "paused", "done",
// "cancelled", or "" for custom statuses, which carry none.
type Status struct {
	Key     string
	Type    string
	Display string // in the language of the request; for people only
}

// Field is the logical name of a local field that the platform keeps on an
// issue. It is also the field's key in Tracker.
type Field string

// The local fields of a ticket, all of type string.
const (
	FieldMessenger Field = "supportMessenger" // "telegram", "vk"
	FieldBot       Field = "supportBot"       // the bot's or community's id
	FieldChat      Field = "supportChat"
	FieldUser      Field = "supportUser"
	FieldNickname  Field = "supportNickname"
	FieldName      Field = "supportName"
	FieldLocale    Field = "supportLocale"
	FieldCategory  Field = "supportCategory"
	FieldRating    Field = "supportRating" // "1".."5"
	FieldRemark    Field = "supportRemark"
)

// Fields lists every local field, in the order in which they are set up.
var Fields = []Field{
	FieldMessenger, FieldBot, FieldChat, FieldUser, FieldNickname, FieldName,
	FieldLocale, FieldCategory, FieldRating, FieldRemark,
}

// NewIssue is an issue to be created.
type NewIssue struct {
	Queue       string
	Type        string
	Priority    string
	Summary     string // at most 255 characters are kept
	Description string // Markdown (YFM)
	Unique      string // a second issue with the same value is refused with ErrDuplicate
	Tags        []string
	Fields      map[Field]string
	Attachments []string // ids of temporary uploads
}

// Comment is a comment of an issue.
type Comment struct {
	ID          string
	LongID      string
	Text        string // Markdown as written
	Version     int64
	Author      string   // id of the user
	Mail        bool     // came in by mail: anybody may have written it
	Summonees   []string // ids of the users summoned
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Attachments []Attachment
}

// NewComment is a comment to be made. It never adds the robot to the followers.
type NewComment struct {
	Text        string // Markdown (YFM)
	Attachments []string
}

// Attachment is a file of an issue or comment.
type Attachment struct {
	ID   string
	Name string
	MIME string
	Size int64 // bytes
}

// Upload is a file on its way to Tracker. Size < 0 when unknown.
type Upload struct {
	Name string
	Size int64
	Body io.Reader
}

// Change is one entry of an issue's changelog.
type Change struct {
	ID     string
	At     time.Time
	Author string // id of the user
	Type   string // "IssueCreated", "IssueWorkflow", "IssueCommentAdded", ...
	Status *StatusChange
	Fields []FieldChange // the status too, where it changed
	// Comments named by the entry; one entry may carry fields and comments.
	Added, Updated, Removed []string
	Edits                   []CommentEdit // of Updated, those whose texts Tracker tells
}

// TypeMoved is the type of the entry in which an issue went to another queue and
// lost its local fields.
const TypeMoved = "IssueMoved"

// FieldChange is the change of one field: a global one by its key ("assignee",
// "priority", ...), a local one by its key without the queue's prefix.
type FieldChange struct {
	Field    string
	From, To Value
}

// Value is a value of a field; zero: none. Key is the key of an entry of a
// dictionary, the id of a user, or the value itself; lists have none.
type Value struct {
	Key  string
	Name string // of a user or an entry; for people only
}

// CommentEdit is the change of a comment's text.
type CommentEdit struct{ Comment, From, To string }

// StatusChange is a step of the workflow, as status keys.
type StatusChange struct{ From, To string }

// Transition is a step that an issue can take now.
type Transition struct {
	ID string // of this workflow, e.g. "close"
	To string // status key
}

// ErrorKind is the closed set of what can go wrong with a call, by what the
// caller has to do.
type ErrorKind string

// The kinds of errors.
const (
	Temporary   ErrorKind = "temporary"    // nothing was done: refused connection, 503; again with backoff
	RateLimited ErrorKind = "rate_limited" // 429; again after Error.RetryAfter
	Uncertain   ErrorKind = "uncertain"    // the call was started and nobody knows how it ended
	NotFound    ErrorKind = "not_found"    // 404
	Duplicate   ErrorKind = "duplicate"    // 409 on Unique
	Conflict    ErrorKind = "conflict"     // 409, 412: another version
	Frozen      ErrorKind = "frozen"       // 423: the issue has used up its versions
	Invalid     ErrorKind = "invalid"      // 400, 422, 413: refused for good
	Forbidden   ErrorKind = "forbidden"    // 401, 403: token, rights or organisation
)

// Error is the failure of a call. Its text carries Tracker's own message but
// neither tokens nor what a customer wrote.
type Error struct {
	Kind       ErrorKind
	Status     int // HTTP status; 0 when there was no answer
	RetryAfter time.Duration
	Call       string // "create issue"
	Err        error
}

func (e *Error) Error() string {
	return fmt.Sprintf("tracker: %s: %s (%d): %v", e.Call, e.Kind, e.Status, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf gives the kind of err; an error that is not an *Error is Uncertain.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Uncertain
}
