package notification

import (
	"slices"
	"strings"
)

// Routes lists what the router knows: "<method> <path> <roles> <parameters>".
func Routes(a *API) (all []string) {
	for _, r := range a.routes {
		all = append(all, r.method+" "+r.path+" "+join(r.roles)+" "+strings.Join(slices.Sorted(slices.Values(r.query)), ","))
	}
	return all
}
