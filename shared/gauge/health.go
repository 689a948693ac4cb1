package gauge

import "time"

// Health is what a person looks at first, as the database says it at this moment.
type Health struct {
	Now     time.Time     // by the database's clock
	Schema  int64         // version
	Reviews int           // jobs that wait for a person
	Dead    int           // dead letters of the last hour
	Late    time.Duration // how long nobody has worked in the lane whose due job has waited longest; 0: none waits
	Lane    string        // that one
	Loaded  time.Time     // up to when the live load has everything; a load that fails leaves it; zero: none ever began
}
