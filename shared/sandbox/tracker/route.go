package tracker

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one endpoint. Uploads and downloads run without the lock and take it
// themselves: their bytes may be slow.
type route struct {
	method, path     string // "{}" is one variable part; the first match wins
	handle           func(*Server, *call) answer
	upload, download bool
	parts            []string // of path
}

func routes() []route {
	list := []route{
		{method: "GET", path: "myself", handle: (*Server).myself},
		{method: "GET", path: "users", handle: (*Server).listUsers},
		{method: "GET", path: "users/{}", handle: (*Server).getUser},
		{method: "GET", path: "statuses", handle: (*Server).listStatuses},
		{method: "GET", path: "resolutions", handle: (*Server).listResolutions},
		{method: "GET", path: "priorities", handle: (*Server).listPriorities},
		{method: "GET", path: "issuetypes", handle: (*Server).listTypes},
		{method: "GET", path: "fields", handle: (*Server).listFields},
		{method: "GET", path: "fields/categories", handle: (*Server).listCategories},

		{method: "GET", path: "queues", handle: (*Server).listQueues},
		{method: "GET", path: "queues/{}", handle: (*Server).getQueue},
		{method: "GET", path: "queues/{}/fields", handle: (*Server).requiredFields},
		{method: "GET", path: "queues/{}/localFields", handle: (*Server).listLocalFields},
		{method: "POST", path: "queues/{}/localFields", handle: (*Server).createLocalField},
		{method: "GET", path: "queues/{}/triggers", handle: (*Server).listTriggers},
		{method: "POST", path: "queues/{}/triggers", handle: (*Server).createTrigger},
		{method: "GET", path: "queues/{}/triggers/{}", handle: (*Server).getTrigger},
		{method: "PATCH", path: "queues/{}/triggers/{}", handle: (*Server).patchTrigger},
		{method: "DELETE", path: "queues/{}/triggers/{}", handle: (*Server).deleteTrigger},
		{method: "GET", path: "queues/{}/triggers/{}/webhooks/log", handle: (*Server).triggerLog},
		{method: "GET", path: "queues/{}/permissions/users/{}", handle: (*Server).userAccess},
		{method: "GET", path: "queues/{}/workflows", handle: (*Server).queueWorkflows},
		{method: "GET", path: "workflows/{}", handle: (*Server).getWorkflow},

		{method: "POST", path: "issues", handle: (*Server).createIssue},
		{method: "POST", path: "issues/_search", handle: (*Server).search},
		{method: "POST", path: "issues/_count", handle: (*Server).count},
		{method: "POST", path: "issues/_findByUnique", handle: (*Server).findByUnique},
		{method: "POST", path: "system/search/scroll/_clear", handle: (*Server).clearScroll},
		{method: "GET", path: "issues/{}", handle: (*Server).getIssue},
		{method: "PATCH", path: "issues/{}", handle: (*Server).patchIssue},
		{method: "POST", path: "issues/{}/_move", handle: (*Server).moveIssue},
		{method: "GET", path: "issues/{}/transitions", handle: (*Server).listTransitions},
		{method: "POST", path: "issues/{}/transitions/{}/_execute", handle: (*Server).transit},
		{method: "GET", path: "issues/{}/changelog", handle: (*Server).listChanges},
		{method: "GET", path: "issues/{}/comments", handle: (*Server).listComments},
		{method: "POST", path: "issues/{}/comments", handle: (*Server).createComment},
		{method: "GET", path: "issues/{}/comments/{}", handle: (*Server).getComment},
		{method: "PATCH", path: "issues/{}/comments/{}", handle: (*Server).patchComment},
		{method: "DELETE", path: "issues/{}/comments/{}", handle: (*Server).deleteComment},

		{method: "POST", path: "attachments", handle: (*Server).uploadFile, upload: true},
		{method: "POST", path: "issues/{}/attachments", handle: (*Server).uploadToIssue, upload: true},
		{method: "GET", path: "issues/{}/attachments", handle: (*Server).listFiles},
		{method: "GET", path: "issues/{}/attachments/{}", handle: (*Server).getFile},
		{method: "GET", path: "issues/{}/attachments/{}/{}", handle: (*Server).download, download: true},
	}
	for n := range list {
		list[n].parts = strings.Split(list[n].path, "/")
	}
	return list
}

// match finds the endpoint. Parts of the path are decoded one by one: a file's
// name may hold a slash.
func (s *Server) match(r *http.Request) (route, []string) {
	parts := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	if parts[0] != "v2" && parts[0] != "v3" {
		return notFound(), nil
	}
	known := false
	for _, rt := range s.routes {
		args, ok := fits(rt.parts, parts[1:])
		if ok && rt.method == r.Method {
			return rt, args
		}
		known = known || ok
	}
	if known {
		return route{handle: func(*Server, *call) answer {
			return fail(http.StatusMethodNotAllowed, "Method is not allowed")
		}}, nil
	}
	return notFound(), nil
}

func notFound() route {
	return route{handle: func(_ *Server, c *call) answer { return missing("Resource", c.r.URL.Path) }}
}

func fits(pattern, parts []string) (args []string, ok bool) {
	if len(pattern) != len(parts) {
		return nil, false
	}
	for n, p := range pattern {
		part, err := url.PathUnescape(parts[n])
		switch {
		case err != nil:
			return nil, false
		case p == "{}" && part != "":
			args = append(args, part)
		case p != part:
			return nil, false
		}
	}
	return args, true
}
