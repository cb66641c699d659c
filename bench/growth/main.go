// Command growth measures how the time, the memory and the optimality gap of
// `darrm solve` grow with the number of teachers. Each solve is a process of its own,
// cold. It prints markdown tables and writes growth.csv, growth.svg and growth.png.
//
//	make build && go run ./bench/growth           a few minutes
//	go run ./bench/growth -quick -out /tmp        small K only
//	go run ./bench/growth -redraw                 tables and figures from growth.csv
//
// Measuring needs a system that reports the peak memory of a child process, which
// Windows does not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "growth:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "small K only, some seconds")
	redraw := flags.Bool("redraw", false, "measure nothing: print and draw what growth.csv holds")
	repeat := flags.Int("n", 3, "runs per case; the fastest one is reported")
	darrm := flags.String("darrm", "bin/darrm", "the program to measure")
	out := flags.String("out", "bench", "directory for growth.csv, growth.svg and growth.png")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *repeat < 1:
		return fmt.Errorf("-n is %d, but must be at least 1", *repeat)
	}

	path := filepath.Join(*out, "growth.csv")
	var measured []measurement
	if *redraw {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() // only read from
		if measured, err = readCSV(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	} else {
		version, err := versionOf(ctx, *darrm)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s; %d cores\n\n", version, runtime.NumCPU())
		for _, c := range cases(*quick) {
			m, err := fastest(ctx, *darrm, c, *repeat)
			if err != nil {
				return err
			}
			fmt.Fprintf(stderr, "%s: %.3g s\n", c, m.seconds)
			measured = append(measured, m)
		}
		if err := writeFile(path, func(w io.Writer) error { return writeCSV(w, measured) }); err != nil {
			return err
		}
	}

	if _, err := io.WriteString(stdout, growthTable(measured)+"\n"+
		requirementsTable(requirements, measured)); err != nil {
		return err
	}
	for _, format := range []string{"svg", "png"} {
		write := func(w io.Writer) error { return drawFigure(w, measured, format) }
		if err := writeFile(filepath.Join(*out, "growth."+format), write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// oneLine joins the lines of what `darrm version` prints.
func oneLine(s string) string {
	return strings.Join(strings.Split(strings.TrimSpace(s), "\n"), "; ")
}
