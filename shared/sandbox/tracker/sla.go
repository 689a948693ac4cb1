package tracker

// slaJSON is the timer of the queue's SLA rule: it runs from the creation to the
// resolution. The reference does not describe its form: not verified.
func (s *Server) slaJSON(st state) []object {
	began := st.time("createdAt")
	fails, until, clock := began.Add(st.queue.SLA), s.now(), "STARTED"
	if resolved := st.time("resolvedAt"); !resolved.IsZero() {
		until, clock = resolved, "STOPPED"
	}
	violation := "NOT_VIOLATED"
	if until.After(fails) {
		violation = "FAIL_CONDITIONS_VIOLATED"
	}
	return []object{{
		"id": "1", "settingsId": 1, "clockStatus": clock, "violationStatus": violation,
		"failedThreshold": st.queue.SLA.Milliseconds(), "failAt": stamp(fails), "startedAt": stamp(began),
		"spent": until.Sub(began).Milliseconds(),
	}}
}
