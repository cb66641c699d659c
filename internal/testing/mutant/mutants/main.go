// Command mutants measures what the tests of a package notice: it draws changes of the package's
// files by a seed, plants one after the other, and names each with which every test passes.
//
//	go run ./internal/testing/mutant/mutants -n 150 -seed 7 -with ./gamma ./constraints
//
// The same seed draws the same changes from the same files, and a smaller draw begins a larger one:
// -skip goes on after it.
// Changes inside functions are compiled together, and each is chosen by an environment variable; so
// a change that leaves an import unused counts. Others that do not compile are drawn anew. Tests
// that take over five times the processor's time that they take without a change have noticed it.
// After an interrupt the report is of the changes judged so far.
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
	"slices"
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
	skip := flags.Int("skip", 0, "first changes of the draw to leave out, judged or not compiling")
	with := flags.String("with", "", "packages, by commas, whose tests see what its own let live")
	at := flags.String("at", "", "places, by commas (file.go or file.go:12): draw only from these")
	which := flags.String("run", "", "expression for the tests that are asked: of -with's packages, without these of DIR's")
	split := flags.String("split", "", "tests, by commas, whose subtests are asked each by itself")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return share(out, flags.Args(), *n, *seed)
	}
	if flags.NArg() != 1 || *n < 0 || *skip < 0 {
		return errors.New("usage: mutants [-n N] [-seed S] [-skip N] [-with DIRS] [-run TESTS] [-split TESTS] [-at PLACES] DIR\n" +
			"       mutants [-n N] [-seed S] DIR DIR …   how many of N drawn over all are of each")
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
	judges, err := newJudges(ctx, temp, append([]string{dir}, commas(*with)...),
		commas(*split), *which)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d changes, seed %d\n", dir, len(all), *seed)
	for _, j := range judges {
		if len(j.skipped) > 0 {
			fmt.Fprintf(out, "%s: tests that were skipped judge nothing: %s\n", j.dir,
				strings.Join(j.skipped, ", "))
		}
	}
	order := rand.New(rand.NewPCG(*seed, 0)).Perm(len(all))
	order = order[min(*skip, len(order)):]
	var c counts
	told := func(p point, v verdict) {
		c[v]++
		if what, ok := worthReading[v]; ok {
			before, after := p.lines()
			fmt.Fprintf(out, "%s/%s %s\n\t- %s\n\t+ %s\n", dir, p.where(), what, before, after)
		}
	}
	for ctx.Err() == nil && len(order) > 0 && (*n == 0 || c.drawn() < *n) {
		batch := order[:min(len(order), 200)]
		if *n > 0 {
			batch = batch[:min(len(batch), *n-c.drawn())]
		}
		order = order[len(batch):]
		var points []point
		for i, at := range batch {
			all[at].number = i + 1
			points = append(points, all[at])
		}
		if err := judges.of(ctx, temp, points, told); err != nil {
			return err
		}
	}
	return report(out, dir, c)
}

// share draws n changes over the packages in dirs by the seed, and writes how many of them are of
// each. Those are judged package by package, with the same seed.
func share(out io.Writer, dirs []string, n int, seed uint64) error {
	var of []string
	for _, dir := range dirs {
		all, err := points(filepath.Clean(dir))
		if err != nil {
			return err
		}
		of = append(of, slices.Repeat([]string{dir}, len(all))...)
	}
	drawn := map[string]int{}
	for _, at := range rand.New(rand.NewPCG(seed, 0)).Perm(len(of))[:min(n, len(of))] {
		drawn[of[at]]++
	}
	for _, dir := range dirs {
		if drawn[dir] > 0 {
			fmt.Fprintln(out, drawn[dir], dir)
		}
	}
	return nil
}

// worthReading are the verdicts on changes that made no test fail, as they are printed.
var worthReading = map[verdict]string{
	survived: "lives", timedOut: "takes too long",
	notRun: "is not judged: the tests that may call it were skipped",
}

// counts has the number of changes by what became of them.
type counts [5]int

// judged is the number of changes that compile and that tests judged.
func (c counts) judged() int { return c[noticed] + c[timedOut] + c[survived] }

// drawn is the number of changes that compile, with those that no test judged.
func (c counts) drawn() int { return c.judged() + c[notRun] }

// report writes the rate and its 95 % interval.
func report(out io.Writer, dir string, c counts) error {
	killed := c[noticed] + c[timedOut]
	n := c.judged()
	if n == 0 {
		return fmt.Errorf("%s: no change was judged: %d did not compile, of %d the tests were skipped",
			dir, c[broken], c[notRun])
	}
	rate := float64(killed) / float64(n)
	low, high := num.Wilson(rate, float64(n))
	_, err := fmt.Fprintf(out, "%s: %d of %d noticed (%d by the time), %d did not compile: "+
		"%.1f %%, 95 %% interval %.1f to %.1f\n",
		dir, killed, n, c[timedOut], c[broken], 100*rate, 100*low, 100*high)
	if err == nil && c[notRun] > 0 {
		_, err = fmt.Fprintf(out, "%s: %d changes were not judged, for their tests were skipped\n", dir,
			c[notRun])
	}
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
