package notification

// Routes lists what the router knows: "<method> <path> <roles>".
func Routes(a *API) (all []string) {
	for _, r := range a.routes {
		all = append(all, r.method+" "+r.path+" "+join(r.roles))
	}
	return all
}
