// Command growth measures how the time, the memory and the optimality gap of
// `darrm solve` grow with the number of teachers. Each solve is a process of its own,
// cold. It prints markdown tables and writes growth.svg and growth.png.
//
//	make build && go run ./bench/growth           a few minutes
//	go run ./bench/growth -quick -out /tmp        small K only
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
	"path/filepath"
	"runtime"

	"github.com/darrm/darrm/bench/peers"
)

func main() { peers.Main("growth", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "small K only, some seconds")
	repeat := flags.Int("n", 3, "runs per case; the fastest one is reported")
	darrm := flags.String("darrm", "bin/darrm", "the program to measure")
	out := flags.String("out", "bench", "directory for growth.svg and growth.png")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *repeat < 1:
		return fmt.Errorf("-n is %d, but must be at least 1", *repeat)
	}

	version, err := versionOf(ctx, *darrm)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s; %d cores\n\n", version, runtime.NumCPU())
	var measured []measurement
	for _, c := range cases(*quick) {
		m, err := fastest(ctx, *darrm, c, *repeat)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %.3g s\n", c, m.seconds)
		measured = append(measured, m)
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
