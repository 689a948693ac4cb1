package builder

import (
	"errors"
	"fmt"
	"time"
)

// Usage is what a compilation took, in bytes.
type Usage struct {
	Wall    time.Duration
	CPU     time.Duration // of all processes
	Limited bool          // to Cores while it ran

	Processes int64 // memory of all processes at the same time, without what they map of files, peak
	Files     int64 // archive, caches, temporary files and result, peak
	Together  int64 // both at the same time, peak
	Plugin    int64 // the result
}

// Builder is the time that the builder would need with its share of a core.
func (u Usage) Builder() time.Duration { return time.Duration(float64(u.CPU) / Cores) }

// Judge is an error if the builder's limits would not hold the compilation.
func (u Usage) Judge() error {
	var all []error
	if u.Builder() > MaxTime {
		all = append(all, fmt.Errorf("compiles for %s, the builder stops at %s", u.Builder(), MaxTime))
	}
	if u.Files > MaxFiles {
		all = append(all, fmt.Errorf("has %d bytes of files, the builder holds %d", u.Files, MaxFiles))
	}
	if u.Together > MaxMemory {
		all = append(all, fmt.Errorf("needs %d bytes of memory, the builder has %d", u.Together, MaxMemory))
	}
	return errors.Join(all...)
}
