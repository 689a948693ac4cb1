package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"supportbot/shared/sandbox/tracker"
)

func trackerFile(f tracker.File) fileView {
	kind, _, _ := strings.Cut(f.MIME, "/")
	switch {
	case kind == "image" || kind == "audio" || kind == "video":
	default:
		kind = "file"
	}
	return fileView{Kind: kind, What: f.MIME, Name: f.Name, Size: f.Size, URL: "api/files/" + url.PathEscape(f.ID)}
}

// desk gives the tracker as the agent of the request sees it.
func (s *Sandbox) desk(login string) (*tracker.Agent, error) {
	if s.tracker == nil {
		return nil, fmt.Errorf("tracker: %w", errNotFound)
	}
	for _, a := range s.tracker.Catalogue().Agents {
		if a.Login == login {
			return s.tracker.As(login), nil
		}
	}
	return nil, fmt.Errorf("%w agent: as names nobody", errInvalid)
}

// ticketEdit is one operation of an agent on a ticket.
type ticketEdit struct {
	As         string `json:"as"`         // login
	Queue      string `json:"queue"`      // to move to; nothing else is done then
	Status     string `json:"status"`     // by a transition that leads there
	Resolution string `json:"resolution"` // where the transition asks for one
	Assignee   string `json:"assignee"`   // login, "-" for nobody
	Priority   string `json:"priority"`
	Type       string `json:"type"`
	Summary    string `json:"summary"`
}

// editTicket answers with the ticket's key, which is another one after a move.
func (s *Sandbox) editTicket(r *http.Request) (any, error) {
	var e ticketEdit
	if err := decode(r, &e); err != nil {
		return nil, err
	}
	agent, err := s.desk(e.As)
	if err != nil {
		return nil, err
	}
	var t tracker.Ticket
	ref := r.PathValue("ticket")
	if e.Queue != "" {
		t, err = agent.Move(ref, e.Queue)
	} else {
		t, err = agent.Do(ref, tracker.Edit{
			Status: e.Status, Resolution: e.Resolution, Assignee: e.Assignee,
			Priority: e.Priority, Type: e.Type, Summary: e.Summary,
		})
	}
	return map[string]string{"key": t.Key}, err
}

// addComment takes a form with as, text, summon (logins, comma separated) and
// files "file".
func (s *Sandbox) addComment(r *http.Request) (any, error) {
	f, err := readForm(r)
	if err != nil {
		return nil, err
	}
	agent, err := s.desk(f.fields["as"])
	if err != nil {
		return nil, err
	}
	c := tracker.NewComment{Text: f.fields["text"]}
	for _, u := range f.files {
		c.Files = append(c.Files, tracker.NewFile{Name: u.name, Data: u.data})
	}
	for _, login := range strings.Split(f.fields["summon"], ",") {
		if login = strings.TrimSpace(login); login != "" {
			c.Summonees = append(c.Summonees, login)
		}
	}
	t, err := agent.Do(r.PathValue("ticket"), tracker.Edit{Comments: []tracker.NewComment{c}})
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": t.Comments[len(t.Comments)-1].ID}, nil
}

func (s *Sandbox) editComment(r *http.Request) (any, error) {
	var body struct {
		As   string `json:"as"`
		Text string `json:"text"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	agent, err := s.desk(body.As)
	if err != nil {
		return nil, err
	}
	err = agent.EditComment(r.PathValue("ticket"), r.PathValue("comment"), body.Text)
	if errors.Is(err, tracker.ErrRefused) {
		return nil, fmt.Errorf("%w text: %w", errInvalid, err)
	}
	return nil, err
}

// deleteComment takes the agent's login as parameter "as".
func (s *Sandbox) deleteComment(r *http.Request) (any, error) {
	agent, err := s.desk(r.URL.Query().Get("as"))
	if err != nil {
		return nil, err
	}
	return nil, agent.DeleteComment(r.PathValue("ticket"), r.PathValue("comment"))
}
