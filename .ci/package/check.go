package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

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
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "function\tseconds\ton half a core\tprocesses MB\tfiles MB\ttogether MB\tplugin MB\t")
	var all []error
	for _, name := range names {
		u, err := compile(ctx, o, tool, name)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
			continue
		}
		limited := fmt.Sprintf("%.0f", u.Wall.Seconds())
		if !u.Limited {
			limited = "not limited"
		}
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%d\t%d\t%d\t%d\t\n", name, u.Builder().Seconds(), limited,
			u.Processes/mb, u.Files/mb, u.Together/mb, u.Plugin/mb)
		if err := u.Judge(); err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	fmt.Fprintf(table, "limit\t%.0f\t\t\t%d\t%d\t\t\n", builder.MaxTime.Seconds(), builder.MaxFiles/mb, builder.MaxMemory/mb)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "seconds: of the processor, times two; on half a core: as the clock had it, the neighbours' load included")
	return errors.Join(all...)
}

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
