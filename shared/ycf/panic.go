package ycf

import (
	"fmt"
	"runtime"
	"strings"
)

// Panic is a panic as an error. Its text says where it came from and, except for
// the runtime's own panics, not what it carried: that may be anybody's message.
type Panic struct {
	What string // the runtime's text, or the value's type
	At   string // function, file and line
}

func (p *Panic) Error() string { return "panicked at " + p.At + ": " + p.What }

// Guard runs f and gives its error; a panic becomes a *Panic.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return f()
}

// newPanic has to be called by the deferred function that recovered.
func newPanic(v any) *Panic {
	p := &Panic{What: fmt.Sprintf("%T", v), At: origin()}
	if re, ok := v.(runtime.Error); ok {
		p.What = re.Error()
	}
	return p
}

// origin is the frame that panicked: the first below the runtime's own.
func origin() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inRuntime {
			return fmt.Sprintf("%s (%s:%d)", f.Function, f.File[strings.LastIndex(f.File, "/")+1:], f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown place"
		}
	}
}
