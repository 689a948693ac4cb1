// Command package writes the functions' archives: build/<name>.zip each, and
// prints their bytes and sums.
//
//	go run ./.ci/package [-sources] [-out build] [function ...]
//	go run ./.ci/package -check [-free] [-largest n] [function ...]
//
// -check also compiles each as the cloud would, with empty caches, and prints what
// that took. It fails if the builder's limits would not hold it. At the builder's
// pace that takes three minutes for each; -free and -largest give most of the
// answer sooner.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"supportbot/.ci/package/archive"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	root, out            string
	sources, check, free bool
	largest              int
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("package", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", ".", "the module's `folder`")
	flags.StringVar(&o.out, "out", "build", "the `folder` of the archives")
	flags.BoolVar(&o.sources, "sources", false, "leave the vendor folder out: the builder downloads the modules")
	flags.BoolVar(&o.check, "check", false, "compile each archive as the cloud would, and measure it")
	flags.BoolVar(&o.free, "free", false, "with -check: on all cores; its seconds are then those of the processor, doubled")
	flags.IntVar(&o.largest, "largest", 0, "with -check: compile only the `n` largest archives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		var err error
		if names, err = archive.Functions(o.root); err != nil {
			return err
		}
	}
	sizes, err := write(ctx, o, names, stdout)
	if err != nil || !o.check {
		return err
	}
	if o.largest > 0 && o.largest < len(names) {
		slices.SortStableFunc(names, func(a, b string) int { return sizes[b] - sizes[a] })
		names = names[:o.largest]
	}
	return check(ctx, o, names, stdout)
}

// write writes the archives and gives their sizes.
func write(ctx context.Context, o options, names []string, stdout io.Writer) (map[string]int, error) {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0) // an error comes with its Flush
	_, _ = fmt.Fprintln(table, "function\tbytes\tsha256")
	for _, name := range names {
		files, err := archive.Collect(ctx, o.root, name, !o.sources)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		data, err := archive.Zip(files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(o.archive(name), data, 0o644); err != nil {
			return nil, err
		}
		sizes[name] = len(data)
		_, _ = fmt.Fprintf(table, "%s\t%d\t%x\n", name, len(data), sha256.Sum256(data))
	}
	return sizes, table.Flush()
}

func (o *options) archive(name string) string { return filepath.Join(o.out, name+".zip") }
