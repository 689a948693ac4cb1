package person

import "time"

// APIKey is what is known of a key of the notification API. The key itself is
// nowhere.
type APIKey struct {
	Name   string
	Role   Role
	Person int64 // who gets the tests that it sends "to oneself"; 0: nobody

	CreatedAt time.Time
	UsedAt    *time.Time // to the minute
	RevokedAt *time.Time
}

// Session is a sign-in to the console.
type Session struct {
	Person  int64     `json:"person"`
	Roles   []Role    `json:"roles"`
	Locale  string    `json:"locale"`
	Expires time.Time `json:"expires_at"`
	Checked time.Time `json:"checked_at"` // when the roles were last compared with the database
}
