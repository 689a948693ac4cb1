package tracker

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxComment is the longest comment, in characters.
const maxComment = 512_000

// readComment reads a comment's body: an object, or inside an edit also a text.
// It follows isAddToFollowers, whose default is true.
func (s *Server) readComment(c *call, raw json.RawMessage) (newComment, map[string]string) {
	n := newComment{follow: c.query("isAddToFollowers") != "false"}
	if json.Unmarshal(raw, &n.text) == nil {
		return n, refuseText(n.text)
	}
	var body struct {
		Text              string            `json:"text"`
		MarkupType        string            `json:"markupType"`
		AttachmentIDs     json.RawMessage   `json:"attachmentIds"`
		Summonees         []json.RawMessage `json:"summonees"`
		MaillistSummonees []string          `json:"maillistSummonees"`
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return n, map[string]string{"comment": "Incorrect data format"}
	}
	n.text = body.Text
	refused := refuseText(body.Text)
	for _, raw := range body.Summonees {
		u := s.findUser(referenceOf(raw))
		if u == nil {
			refused = map[string]string{"summonees": "User is not found: " + referenceOf(raw)}
			continue
		}
		n.summonees = append(n.summonees, u)
	}
	if len(body.AttachmentIDs) > 0 && len(refused) == 0 {
		var refusal string
		if n.files, refusal = s.takeUploads(body.AttachmentIDs); refusal != "" {
			refused = map[string]string{"attachmentIds": refusal}
		}
	}
	return n, refused
}

func refuseText(text string) map[string]string {
	switch {
	case strings.TrimSpace(text) == "":
		return map[string]string{"text": "This field is required"}
	case utf8.RuneCountInString(text) > maxComment:
		return map[string]string{"text": "Value is too long: " + text[:200]}
	}
	return nil
}

func (s *Server) createComment(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		if _, object := c.decode(); !object {
			return malformed()
		}
		n, refused := s.readComment(c, c.body)
		if len(refused) > 0 {
			return invalid(refused)
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		made := e.comment(n)
		c.effect = e.commit()
		return created(s.commentJSON(c, i, made, made.id))
	})
}

// commentJSON renders a comment. Its id is a number in listings and a text
// elsewhere, as in the original.
func (s *Server) commentJSON(c *call, i *issue, m *comment, id any) object {
	out := object{
		"self": c.base() + "/issues/" + i.key + "/comments/" + m.id, "id": id, "longId": m.longID, "text": m.text,
		"createdBy": c.userRef(m.author), "updatedBy": c.userRef(m.editor),
		"createdAt": stamp(m.created), "updatedAt": stamp(m.updated),
		"version": m.version, "type": "standard", "transport": "internal",
	}
	if len(m.summonees) > 0 {
		out["summonees"] = c.userRefs(m.summonees)
	}
	expand := c.query("expand")
	if len(m.files) > 0 && (expand == "all" || strings.Contains(expand, "attachments")) {
		refs := make([]object, 0, len(m.files))
		for _, f := range m.files {
			refs = append(refs, object{"self": c.base() + "/issues/" + i.key + "/attachments/" + f.id, "id": f.id, "display": f.name})
		}
		out["attachments"] = refs
	}
	return out
}

// listComments pages by the id of the last comment seen.
func (s *Server) listComments(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		after, err := strconv.ParseInt("0"+c.query("id"), 10, 64)
		size, valid := c.number("perPage", 50)
		if err != nil || !valid {
			return malformed()
		}
		page := []object{}
		more, last := false, ""
		for _, m := range i.comments {
			n, _ := strconv.ParseInt(m.id, 10, 64)
			if n <= after || s.hidden(m.created) {
				continue
			}
			if len(page) == size {
				more = true
				break
			}
			page = append(page, s.commentJSON(c, i, m, n))
			last = m.id
		}
		return c.page(page, last, size, more)
	})
}

func (s *Server) withComment(c *call, do func(*issue, *comment) answer) answer {
	return s.withIssue(c, func(i *issue) answer {
		m := i.comment(c.args[1])
		if m == nil {
			return missing("Comment", c.args[1])
		}
		return do(i, m)
	})
}

func (s *Server) getComment(c *call) answer {
	return s.withComment(c, func(i *issue, m *comment) answer { return ok(s.commentJSON(c, i, m, m.id)) })
}

// patchComment replaces the text. The author may, and nobody else.
func (s *Server) patchComment(c *call) answer {
	return s.withComment(c, func(i *issue, m *comment) answer {
		n, refused := s.readComment(c, c.body)
		if len(refused) > 0 {
			return invalid(refused)
		}
		if m.author != c.user {
			return fail(http.StatusForbidden, "You have no right to edit this comment")
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		e.rewrite(m, n.text)
		if n.summonees != nil {
			m.summonees = n.summonees
		}
		c.effect = e.commit()
		return ok(s.commentJSON(c, i, m, m.id))
	})
}

func (s *Server) deleteComment(c *call) answer {
	return s.withComment(c, func(i *issue, m *comment) answer {
		if m.author != c.user {
			return fail(http.StatusForbidden, "You have no right to delete this comment")
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		e.remove(m)
		c.effect = e.commit()
		return answer{status: http.StatusNoContent}
	})
}
