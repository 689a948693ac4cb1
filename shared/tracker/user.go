package tracker

import "slices"

// User is an account. Tracker names one account by several ids (of Tracker, of
// Yandex ID, of the cloud), and which of them an entry carries depends on the
// organisation: compare with Is.
type User struct {
	ID    string // as entries are expected to carry it
	Login string
	Also  []string // its other ids
}

// Is reports whether id, as an entry of Tracker carries it, is this account's.
func (u User) Is(id string) bool {
	return id != "" && (id == u.ID || id == u.Login || slices.Contains(u.Also, id))
}
