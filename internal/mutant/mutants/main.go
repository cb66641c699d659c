// Command mutants measures what the tests of a package notice: it draws changes of the package's
// files by a seed, plants one after the other, and names each with which every test passes.
//
//	go run ./internal/mutant/mutants -n 150 -seed 7 -with ./gamma ./constraints
//
// The same seed draws the same changes from the same files, and fewer of them are the first of more.
// A change that does not compile is drawn anew. Tests that take over five times the processor's time
// that they take without a change have noticed it. After an interrupt the report is of the changes
// judged so far.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/darrm/darrm/internal/num"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run judges the changes that args ask for, and reports to out.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	n := flags.Int("n", 150, "changes to judge; 0 judges all")
	seed := flags.Uint64("seed", 1, "seed of the draw")
	with := flags.String("with", "", "packages, by commas, whose tests see what its own let live")
	at := flags.String("at", "", "places, by commas (file.go or file.go:12): draw only from these")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *n < 0 {
		return errors.New("usage: mutants [-n N] [-seed S] [-with DIRS] [-at PLACES] DIR")
	}
	dir := filepath.Clean(flags.Arg(0))
	all, err := points(dir)
	if err != nil {
		return err
	}
	if *at != "" {
		all = only(all, strings.Split(*at, ","))
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	judges, err := newJudges(ctx, temp, append([]string{dir}, commas(*with)...))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d changes, seed %d\n", dir, len(all), *seed)
	var c [5]int
	for _, i := range rand.New(rand.NewPCG(*seed, 0)).Perm(len(all)) {
		if *n > 0 && judged(c) == *n {
			break
		}
		v, err := judges.of(ctx, all[i])
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		c[v]++
		if what, ok := worthReading[v]; ok {
			before, after := all[i].lines()
			fmt.Fprintf(out, "%s/%s %s\n\t- %s\n\t+ %s\n", dir, all[i].where(), what, before, after)
		}
	}
	return report(out, dir, c)
}

// worthReading says what became of a change that no failing test speaks of.
var worthReading = map[verdict]string{
	survived: "lives", same: "lives, as no binary differs", timedOut: "takes too long",
}

// judged counts the changes that compile.
func judged(c [5]int) int { return c[noticed] + c[timedOut] + c[survived] + c[same] }

// report writes the rate and its 95 % interval.
func report(out io.Writer, dir string, c [5]int) error {
	killed := c[noticed] + c[timedOut]
	n := judged(c)
	if n == 0 {
		return fmt.Errorf("%s: no change compiles", dir)
	}
	rate := float64(killed) / float64(n)
	low, high := num.Wilson(rate, float64(n))
	_, err := fmt.Fprintf(out, "%s: %d of %d noticed (%d by the time), %d did not compile: "+
		"%.1f %%, 95 %% interval %.1f to %.1f\n",
		dir, killed, n, c[timedOut], c[broken], 100*rate, 100*low, 100*high)
	return err
}

// commas splits a list, which may be empty.
func commas(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// only keeps the points in the given places.
func only(all []point, places []string) []point {
	var kept []point
	for _, p := range all {
		for _, place := range places {
			if place == p.where() || place == filepath.Base(p.file) {
				kept = append(kept, p)
				break
			}
		}
	}
	return kept
}
