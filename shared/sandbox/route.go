package sandbox

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed static
var static embed.FS

func (s *Sandbox) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox/", page()))
	mux.HandleFunc("GET /sandbox/events", s.events)

	const api = "/sandbox/api/"
	mux.HandleFunc("GET "+api+"state", s.api(s.state))
	mux.HandleFunc("GET "+api+"{pane...}", s.api(s.getPane))
	mux.HandleFunc("GET "+api+"chats/{messenger}/{chat}/files/{message}/{n}", s.getChatFile)
	mux.HandleFunc("GET "+api+"files/{id}", s.getFile)
	mux.HandleFunc("GET "+api+"chats/{messenger}/crowd", s.api(s.findInCrowd))
	for pattern, do := range map[string]action{
		"POST chats/{messenger}":                             s.addPerson,
		"POST chats/{messenger}/crowd":                       s.addCrowd,
		"POST chats/{messenger}/{chat}/take":                 s.takePerson,
		"POST chats/{messenger}/{chat}/messages":             s.sendMessage,
		"PATCH chats/{messenger}/{chat}/messages/{message}":  s.editMessage,
		"DELETE chats/{messenger}/{chat}/messages/{message}": s.deleteMessage,
		"POST chats/{messenger}/{chat}/press":                s.press,
		"POST chats/{messenger}/{chat}/start":                s.start,
		"POST chats/{messenger}/{chat}/block":                s.block,
		"PATCH tickets/{ticket}":                             s.editTicket,
		"POST tickets/{ticket}/comments":                     s.addComment,
		"PATCH tickets/{ticket}/comments/{comment}":          s.editComment,
		"DELETE tickets/{ticket}/comments/{comment}":         s.deleteComment,
		"POST history":                 s.playHistory,
		"POST faults/{server}":         s.addFault,
		"DELETE faults/{server}":       s.clearFaults,
		"POST faults/{server}/release": s.release,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+api+path, s.api(do))
	}
	mux.HandleFunc(api, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "no such path or method")
	})
	return mux
}

// page serves the static files.
func page() http.Handler {
	files, _ := fs.Sub(static, "static") // cannot fail: the name is valid
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "method", "the page is only read")
			return
		}
		serve.ServeHTTP(w, r)
	})
}

// state is what the page has to know before it shows anything.
func (s *Sandbox) state(*http.Request) (any, error) {
	v := stateView{Reply: s.cfg.ReplyPrefix, Messengers: []messengerView{}, Servers: []string{}}
	for _, name := range s.order {
		v.Messengers = append(v.Messengers, messengerView{ID: name, Bot: s.phones[name].bot()})
		v.Servers = append(v.Servers, name)
	}
	if s.tracker != nil {
		v.Servers = append(v.Servers, "tracker")
		v.Tracker = catalogueOf(s.tracker.Catalogue())
	}
	return v, nil
}

type stateView struct {
	Messengers []messengerView `json:"messengers"`
	Servers    []string        `json:"servers"`
	Tracker    *catalogueView  `json:"tracker,omitempty"`
	Reply      string          `json:"reply"` // prefix of a comment that goes to the customer
}

type messengerView struct {
	ID  string `json:"id"`
	Bot string `json:"bot"` // name of the bot or the community
	// Crowd is how many people were made up, besides those in the list.
	Crowd int `json:"crowd,omitempty"`
}
