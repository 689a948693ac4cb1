package notification

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/person"
)

// route is one operation. net/http's own patterns need a setting that a function's
// runtime may not have.
type route struct {
	method, path string
	roles        []person.Role
	handle       func(ctx context.Context, c *call) (any, error)
	query        []string // the parameters that it may have
}

// call is one request, as its operation sees it.
type call struct {
	r      *http.Request
	caller caller
	id     int64  // of the path
	name   string // of the path
	status int    // of a success; 0: 200
	header http.Header
}

// match says whether a path is the route's, and which id or name it has.
func (rt route) match(path string) (id int64, name string, ok bool) {
	want, have := strings.Split(rt.path, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(have) {
		return 0, "", false
	}
	for i, w := range want {
		switch {
		case w == "{name}" && have[i] != "":
			name = have[i]
		case w == "{id}":
			n, err := strconv.ParseInt(have[i], 10, 64)
			if err != nil || n <= 0 || strconv.FormatInt(n, 10) != have[i] { // one path a broadcast
				return 0, "", false
			}
			id = n
		case w != have[i]:
			return 0, "", false
		}
	}
	return id, name, true
}

// ServeHTTP finds the operation, makes sure of who calls, and answers.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	c := &call{r: r, header: w.Header()}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out, err := a.serve(ctx, c)
	if err != nil {
		p := a.problem(ctx, err)
		switch {
		case p.Status < http.StatusInternalServerError:
		case errors.Is(ctx.Err(), context.Canceled): // who asked has left, like a page that asks another question
			a.d.Log.WarnContext(ctx, "api caller left", obs.Error, err.Error(), "path", r.Method+" "+r.URL.Path)
		default:
			a.d.Log.ErrorContext(ctx, "api call failed", obs.Error, err.Error(), "path", r.Method+" "+r.URL.Path)
		}
		p.write(w)
		return
	}
	respond(w, max(c.status, http.StatusOK), out)
}

func (a *API) serve(ctx context.Context, c *call) (any, error) {
	var allowed []string
	for _, rt := range a.routes {
		id, name, ok := rt.match(c.r.URL.Path)
		switch {
		case !ok:
			continue
		case rt.method != c.r.Method:
			allowed = append(allowed, rt.method)
			continue
		}
		c.id, c.name = id, name
		if err := a.admit(ctx, c, rt.roles); err != nil {
			return nil, err
		}
		if rt.roles != nil {
			in := &asked{values: c.r.URL.Query()}
			if in.only(rt.query...); in.wrong != nil {
				return nil, in.err()
			}
		}
		return rt.handle(ctx, c)
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		c.header.Set("Allow", strings.Join(allowed, ", "))
		return nil, refuse(http.StatusMethodNotAllowed, "this path takes "+strings.Join(allowed, ", "))
	}
	return nil, refuse(http.StatusNotFound, "there is no such path; /v1/openapi.json lists all")
}

// problem says what an error means to the caller.
func (a *API) problem(ctx context.Context, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
	case errors.Is(err, job.ErrMismatch):
		p = refuse(http.StatusUnprocessableEntity, "this Idempotency-Key was used for another request")
	case errors.Is(err, job.ErrNotFound):
		p = refuse(http.StatusNotFound, "there is no such broadcast")
	case ctx.Err() != nil:
		p = refuse(http.StatusServiceUnavailable, "the call took too long; repeat it with the same Idempotency-Key")
	default:
		p = refuse(http.StatusServiceUnavailable, "a part of the platform is away; repeat the call in a moment with the same Idempotency-Key")
	}
	return p
}
