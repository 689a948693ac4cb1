package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"supportbot/.ci/package/archive"
	"supportbot/.ci/package/builder"
)

const mb = 1 << 20

// check compiles the archives one after the other and prints a table. All are
// tried, whatever became of the first.
func check(ctx context.Context, o options, names []string, stdout io.Writer) error {
	tool, err := builder.Toolchain(ctx)
	if err != nil {
		return err
	}
	row := func(columns ...any) { _, _ = fmt.Fprintf(stdout, "%-18s %8v %12v %12v %8v %12v %9v\n", columns...) }
	row("function", "seconds", "half a core", "processes MB", "files MB", "together MB", "plugin MB")
	var all []error
	for _, name := range names {
		u, err := compile(ctx, o, tool, name)
		for range chances { // which packages are compiled at the same time is chance
			if err != nil || u.Judge() == nil {
				break
			}
			u, err = compile(ctx, o, tool, name)
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
			continue
		}
		limited := fmt.Sprintf("%.0f", u.Wall.Seconds())
		if !u.Limited {
			limited = "not limited"
		}
		row(name, int(u.Builder().Seconds()), limited, u.Processes/mb, u.Files/mb, u.Together/mb, u.Plugin/mb)
		if err := u.Judge(); err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	row("limit", int(builder.MaxTime.Seconds()), "", "", builder.MaxFiles/mb, builder.MaxMemory/mb, "")
	_, _ = fmt.Fprintln(stdout, "seconds: of the processor, times two; half a core: by the clock, with whatever else ran here")
	return errors.Join(all...)
}

// chances is how often more an archive is compiled that was over a limit.
const chances = 2

// overtime is how long a compilation may take here, where others work too.
const overtime = 6 * builder.MaxTime

func compile(ctx context.Context, o options, tool, name string) (builder.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, overtime)
	defer cancel()
	data, err := os.ReadFile(o.archive(name))
	if err != nil {
		return builder.Usage{}, err
	}
	place, err := builder.NewPlace()
	if err != nil {
		return builder.Usage{}, err
	}
	defer func() { _ = place.Remove() }()
	if err := archive.Unpack(data, place.Source()); err != nil {
		return builder.Usage{}, err
	}
	return place.Measure(ctx, tool, archive.Package(name), !o.sources, !o.free)
}
