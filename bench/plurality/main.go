// Command plurality measures how fast the gap between the best certified mechanism for many
// classes and the proved bound closes: darrm's first-order method beside HiGHS's simplex,
// interior-point and first-order methods on the dual of the same program. It prints a markdown
// table. HiGHS's part needs a build that has it:
//
//	eval "$(scripts/highs env)"; go run ./bench/plurality             some minutes
//	go run ./bench/plurality -case 50,10,0.5,0.3 -gap 1e-3 -limit 10m  one size
//
// PROGRAM is this one, built of another commit: it solves each size in turn, by its first method.
//
// Times are of the process: elapsed, and of its processors, which is the figure to read where
// other work runs on the machine. A curve's gaps are in floating point, as the method goes;
// the last one is certified.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/bench/processor"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

func main() { peers.Main("plurality", run) }

// wallPerLimit bounds a solve's time on a busy machine, in units of its limit.
const wallPerLimit = 5

// size is a case: one affected vote and δ = 0.
type size struct {
	k, classes int
	eps, mu    float64
	gap        float64
}

var sizes = []size{
	{25, 4, .5, .5, 1e-9},
	{50, 4, .1, .5, 1e-9},
	{25, 10, .5, .3, 1e-6},
	{250, 3, .05, .5, 1e-6},
	{100, 4, .1, .5, 1e-6},
}

func parseSize(text string, gap float64) (size, error) {
	s := size{gap: gap}
	parts := strings.Split(text, ",")
	if len(parts) != 4 {
		return s, fmt.Errorf("case %q, but it must be K,C,epsilon,accuracy", text)
	}
	var err [4]error
	s.k, err[0] = strconv.Atoi(parts[0])
	s.classes, err[1] = strconv.Atoi(parts[1])
	s.eps, err[2] = strconv.ParseFloat(parts[2], 64)
	s.mu, err[3] = strconv.ParseFloat(parts[3], 64)
	return s, errors.Join(err[:]...)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("plurality", flag.ContinueOnError)
	one := flags.String("case", "", "K,C,epsilon,accuracy: this size only")
	gap := flags.Float64("gap", 1e-3, "with -case: where to stop")
	limit := flags.Duration("limit", time.Minute, "most processor time for one solve")
	methods := flags.String("methods", "first-order,interior-point,simplex,pdlp", "which")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "goroutines of the first-order method")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cases := sizes
	if *one != "" {
		s, err := parseSize(*one, *gap)
		if err != nil {
			return err
		}
		cases = []size{s}
	}
	fmt.Fprintf(out, "%s, %d processors, load before the runs %s\n\n", peers.System(), runtime.NumCPU(), peers.Load())
	fmt.Fprintln(out, "| K, C, ε, μ | method | gap → seconds elapsed (of processors) | certified "+
		"value | certified gap | s | processor s |")
	fmt.Fprintln(out, "|---|---|---|---:|---:|---:|---:|")
	for _, s := range cases {
		for _, name := range strings.Split(*methods, ",") {
			if err := measure(ctx, out, s, solve.Method(name), *limit, *workers); err != nil {
				return err
			}
		}
	}
	return nil
}

func measure(ctx context.Context, out io.Writer, s size, method solve.Method, limit time.Duration,
	workers int) error {
	// The limit is of processor time, so that a busy machine stops nothing early; HiGHS's
	// first-order method sees only the deadline.
	limited, cancel := context.WithTimeout(ctx, wallPerLimit*limit)
	defer cancel()
	began, cpu := time.Now(), processor.Time()
	go func() {
		for limited.Err() == nil {
			if processor.Time()-cpu > limit.Seconds() {
				cancel()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	var curve []string
	next := 1e-1
	table, err := solve.Optimal(limited,
		plurality.Problem{K: s.k, Classes: s.classes, Epsilon: s.eps, Affected: 1},
		plurality.Objective{Accuracy: s.mu},
		solve.Options{Method: method, Gap: s.gap, Workers: workers, BestOnCancel: true,
			Progress: func(p solve.Progress) {
				if p.Gap() > next {
					return
				}
				for next >= p.Gap() && next > 1e-12 {
					next /= 10
				}
				curve = append(curve, fmt.Sprintf("%.0e → %.1f (%.1f)",
					math.Pow(10, math.Ceil(math.Log10(p.Gap()))), p.Elapsed.Seconds(), processor.Time()-cpu))
			}})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := fmt.Sprintf("%d, %d, %g, %g", s.k, s.classes, s.eps, s.mu)
	if err != nil {
		fmt.Fprintf(out, "| %s | %s | %v | | | %.1f | %.1f |\n", name, method, err,
			time.Since(began).Seconds(), processor.Time()-cpu)
		return nil
	}
	if limited.Err() != nil {
		curve = append(curve, "stopped")
	}
	fmt.Fprintf(out, "| %s | %s | %s | %.9f | %.1e | %.1f | %.1f |\n", name, method,
		strings.Join(curve, ", "), table.Value, table.Gap, time.Since(began).Seconds(),
		processor.Time()-cpu)
	return nil
}
