package tracker

import (
	"encoding/json"
	"slices"
	"strings"
)

// condition is a node of a trigger's conditions.
type condition struct {
	Type       string          `json:"type"`
	Conditions []condition     `json:"conditions,omitempty"`
	User       json.RawMessage `json:"user,omitempty"`
	Field      json.RawMessage `json:"field,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	Word       string          `json:"word,omitempty"`
	Words      []string        `json:"words,omitempty"`
	IgnoreCase bool            `json:"ignoreCase,omitempty"`
	// Known to the original, without meaning here.
	RemoveMarkup  bool `json:"removeMarkup,omitempty"`
	NoMatchBefore bool `json:"noMatchBefore,omitempty"`
}

// check refuses conditions that the server does not know.
func (s *Server) checkConditions(q *queue, list []condition) string {
	for _, c := range list {
		switch {
		case c.Type == "Or" || c.Type == "And":
			if refusal := s.checkConditions(q, c.Conditions); refusal != "" {
				return refusal
			}
		case strings.HasPrefix(c.Type, "CommentAuthor"):
			if s.findUser(referenceOf(c.User)) == nil {
				return "User is not found: " + referenceOf(c.User)
			}
		case strings.HasPrefix(c.Type, "Field"):
			if q.field(referenceOf(c.Field)) == nil {
				return "Field is not found: " + referenceOf(c.Field)
			}
		}
		if !slices.Contains(conditionTypes(), c.Type) {
			return "Unknown type of condition: " + c.Type
		}
	}
	return ""
}

func conditionTypes() []string {
	return []string{
		"Or", "And", "Event.create", "Event.update", "Event.comment-create", "CalculationFormulaWatch", "ChecklistDone",
		"CommentStringMatchCondition", "CommentStringNotMatchCondition", "CommentFullyMatchCondition",
		"CommentAnyMatchCondition", "CommentNoneMatchCondition", "CommentAuthor", "CommentAuthorNot",
		"CommentMessageInternal", "CommentMessageExternal", "FieldChangedCondition", "FieldEquals", "FieldBecameEqual",
		"FieldIsEmpty", "FieldIsNotEmpty", "FieldBecameEmpty", "FieldBecameNotEmpty",
		"CreatedLinkCondition", "UpdatedLinkCondition", "RemovedLinkCondition",
	}
}

// holds evaluates a condition for an operation. Conditions on a comment look at
// the first one that the operation added, and do not hold without one.
func (e *edit) holds(c condition) bool {
	switch c.Type {
	case "And":
		return !slices.ContainsFunc(c.Conditions, func(c condition) bool { return !e.holds(c) })
	case "Or":
		return slices.ContainsFunc(c.Conditions, e.holds)
	case "Event.create":
		return e.created
	case "Event.update":
		return !e.created && len(e.diffs) > 0
	case "Event.comment-create":
		return len(e.added) > 0
	}
	if strings.HasPrefix(c.Type, "Comment") {
		return len(e.added) > 0 && e.commentHolds(c, e.added[0])
	}
	if strings.HasPrefix(c.Type, "Field") {
		return e.fieldHolds(c)
	}
	return false
}

func (e *edit) commentHolds(c condition, m *comment) bool {
	text := m.text
	fold := func(s string) string {
		if c.IgnoreCase {
			return strings.ToLower(s)
		}
		return s
	}
	contains := func(word string) bool { return strings.Contains(fold(text), fold(word)) }
	switch c.Type {
	case "CommentAuthor":
		return e.s.findUser(referenceOf(c.User)) == m.author
	case "CommentAuthorNot":
		return e.s.findUser(referenceOf(c.User)) != m.author
	case "CommentMessageInternal":
		return true // the server has no mail
	case "CommentStringMatchCondition":
		return contains(c.Word)
	case "CommentStringNotMatchCondition":
		return !contains(c.Word)
	case "CommentFullyMatchCondition":
		return fold(strings.TrimSpace(text)) == fold(c.Word)
	case "CommentAnyMatchCondition":
		return slices.ContainsFunc(c.Words, contains)
	case "CommentNoneMatchCondition":
		return !slices.ContainsFunc(c.Words, contains)
	}
	return false
}

func (e *edit) fieldHolds(c condition) bool {
	id := referenceOf(c.Field)
	before, now := e.before.fields.get(id), e.i.fields.get(id)
	changed := slices.ContainsFunc(e.diffs, func(d diff) bool { return d.field.id == id })
	equals := func() bool {
		f := e.i.queue.field(id)
		if f == nil || now == nil {
			return false
		}
		text, isText := now.(string)
		want := referenceOf(c.Value)
		return isText && e.s.same(f, text, want)
	}
	switch c.Type {
	case "FieldChangedCondition":
		return changed
	case "FieldEquals":
		return equals()
	case "FieldBecameEqual":
		return changed && equals()
	case "FieldIsEmpty":
		return now == nil
	case "FieldIsNotEmpty":
		return now != nil
	case "FieldBecameEmpty":
		return before != nil && now == nil
	case "FieldBecameNotEmpty":
		return before == nil && now != nil
	}
	return false
}
