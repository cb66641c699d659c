// Command answers makes tables for many answers and puts how often they agree beside the figures of
// another implementation, which has no directed rounding, a lattice of its own and a solver of its
// own. It prints a markdown table:
//
//	eval "$(scripts/highs env)"; go run ./bench/answers      some minutes
//	go run ./bench/answers -case 40x6                        one setting
//	go run ./bench/answers -published CHECKOUT               GNMax by tensorflow/privacy's functions
//
// Each table is made by a process of its own: seconds are of its clock and of its processors, which
// is the figure to read where other work runs on the machine, and memory is its largest resident
// set. "One at a time" is the best that answers each query by itself under the same budget of all
// answers (package plan), for more than two classes GNMax. The exit status is 1 if a figure is more
// than 2e-4 below the other one's; for a thousand answers of many classes, where that one priced
// the pairs near the worst alone, more than a hundredth.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/bench/processor"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/votes"
)

// today is the best that answers each query by itself, which is no table for many answers.
const today answers.Name = "one at a time"

// apart is by how much a figure may be below the stated one.
const apart = 2e-4

// setting is a promise for many answers, with the figures that were stated for it.
type setting struct {
	name           string
	k, classes, q  int
	epsilon, delta float64
	images         bool    // the law of the votes is that of testdata/mnist-5v8-disjoint
	mean           float64 // of a teacher, two classes; 0 is uneven shares
	stated         map[answers.Name]float64
	bound          float64 // stated, two classes
	// The other figure is over those pairs alone that are near the worst: within a hundredth of what
	// all pairs give.
	rough bool
}

var settings = []setting{
	{name: "5v8", k: 101, classes: 2, q: 1866, epsilon: 3, delta: 1e-5, images: true,
		stated: map[answers.Name]float64{today: .7727, answers.NormalLaw: .82330,
			answers.ChainLaw: .83403}, bound: .83593},
	{name: "101x2", k: 101, classes: 2, q: 1000, epsilon: 3, delta: 1e-6, mean: .75,
		stated: map[answers.Name]float64{today: .7010, answers.NormalLaw: .73983,
			answers.ChainLaw: .74171}, bound: .74369},
	{name: "25x10", k: 25, classes: 10, q: 100, epsilon: 3, delta: 1e-6,
		stated: map[answers.Name]float64{today: .2677, answers.NormalLaw: .36110}},
	{name: "40x6", k: 40, classes: 6, q: 100, epsilon: 3, delta: 1e-6,
		stated: map[answers.Name]float64{today: .5017, answers.NormalLaw: .59876}},
	{name: "100x4", k: 100, classes: 4, q: 100, epsilon: 3, delta: 1e-6,
		stated: map[answers.Name]float64{today: .8549, answers.NormalLaw: .88862}},
	{name: "25x4", k: 25, classes: 4, q: 100, epsilon: 3, delta: 1e-6,
		stated: map[answers.Name]float64{today: .4717, answers.NormalLaw: .53938,
			answers.ProgramLaw: .5448}},
	{name: "25x4-1000", k: 25, classes: 4, q: 1000, epsilon: 3, delta: 1e-6,
		stated: map[answers.Name]float64{today: .3186, answers.NormalLaw: .34542}},
	{name: "25x10-1000", k: 25, classes: 10, q: 1000, epsilon: 3, delta: 1e-6, rough: true,
		stated: map[answers.Name]float64{today: .1441, answers.NormalLaw: .175}},
	{name: "40x6-1000", k: 40, classes: 6, q: 1000, epsilon: 3, delta: 1e-6, rough: true,
		stated: map[answers.Name]float64{today: .2600, answers.NormalLaw: .306}},
	{name: "100x4-1000", k: 100, classes: 4, q: 1000, epsilon: 3, delta: 1e-6, rough: true,
		stated: map[answers.Name]float64{today: .5226, answers.NormalLaw: .598}},
}

var laws = []answers.Name{today, answers.NormalLaw, answers.ChainLaw, answers.ProgramLaw}

func main() { peers.Main("answers", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("answers", flag.ContinueOnError)
	name := flags.String("case", "", "the setting of this name only, such as 40x6")
	law := flags.String("law", "", "this law only, measured in this process and printed as JSON")
	checkout := flags.String("published", "",
		"a checkout of tensorflow/privacy: what its functions say of GNMax, in the place of all else")
	work := flags.Int64("work", math.MaxInt64, "most work of the convex program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := settings
	if *name != "" {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.name == *name })
		if i < 0 {
			return fmt.Errorf("no case %q", *name)
		}
		chosen = settings[i : i+1]
	}
	if *law != "" {
		m, err := chosen[0].measure(ctx, answers.Name(*law), *work)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(m)
	}
	if *checkout != "" {
		return published(ctx, out, *checkout, chosen)
	}
	fmt.Fprintf(out, "%s, %d processors, LP solver %s, load before the runs %s\n\n", peers.System(), runtime.NumCPU(),
		lp.Backend(), peers.Load())
	fmt.Fprintln(out, "| K, C, Q, ε, δ | law | agreement | stated | difference | no table is above | "+
		"stated | ln δ left | prices | s | processor s | MiB |")
	fmt.Fprintln(out, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	below := 0
	for _, s := range chosen {
		for _, law := range laws {
			if s.stated[law] == 0 {
				continue
			}
			m, err := s.child(ctx, law, *work)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, law, err)
			}
			if s.print(out, law, m) {
				below++
			}
		}
	}
	if below > 0 {
		return fmt.Errorf("%d figures are more than %g below those that were stated", below, apart)
	}
	return nil
}

// measurement is a table with what it took.
type measurement struct {
	Law       string  `json:"law"` // of the table, with its parameters
	Agreement float64 `json:"agreement"`
	Bound     float64 `json:"bound"` // 1 for none
	Delta     float64 `json:"delta"` // the price
	Prices    int     `json:"prices"`
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor_seconds"`
	Bytes     int64   `json:"bytes"`
}

// child measures in a process of its own.
func (s setting) child(ctx context.Context, law answers.Name,
	work int64) (m measurement, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.CommandContext(ctx, self, "-case", s.name, "-law", string(law),
		"-work", strconv.FormatInt(work, 10))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	m.Bytes, err = processor.Peak(cmd.ProcessState)
	return m, err
}

// print prints a row, and reports whether the figure is below the stated one.
func (s setting) print(out io.Writer, law answers.Name, m measurement) bool {
	stated, least := s.stated[law], apart
	if s.rough && law != today {
		least = stated / 100
	}
	bound, statedBound, left, prices := "", "", "", ""
	if m.Bound < 1 {
		bound = fmt.Sprintf("%.5f", m.Bound)
	}
	if m.Bound < 1 && s.bound > 0 {
		statedBound = fmt.Sprintf("%.5f", s.bound)
	}
	if m.Prices > 0 {
		left, prices = fmt.Sprintf("%.4f", math.Log(s.delta/m.Delta)), fmt.Sprint(m.Prices)
	}
	fmt.Fprintf(out, "| %d, %d, %d, %g, %g | %s | %.5f | %s | %+.5f | %s | %s | %s | %s | %.1f | "+
		"%.1f | %.0f |\n", s.k, s.classes, s.q, s.epsilon, s.delta, m.Law, m.Agreement,
		strings.TrimRight(fmt.Sprintf("%.5f", stated), "0"), m.Agreement-stated, bound, statedBound, left,
		prices, m.Seconds, m.Processor, float64(m.Bytes)/(1<<20))
	return m.Agreement < stated-least
}

func (s setting) measure(ctx context.Context, law answers.Name,
	work int64) (measurement, error) {
	began, used := time.Now(), processor.Time()
	m := measurement{Bound: 1}
	var err error
	if law == today {
		var votes *plan.Law
		if votes, err = s.law(ctx); err != nil {
			return m, err
		}
		name := ""
		if s.classes > 2 {
			name = "gnmax"
		}
		var c plan.Choice
		c, err = s.today(ctx, votes, name)
		m.Agreement, m.Law = c.Agreement.Expected, fmt.Sprintf("%s: %s", today, c.Title())
	} else {
		_, err = s.table(ctx, &m, solve.Options{Law: law, Work: work,
			Progress: func(p solve.Progress) { m.Prices = p.Prices }})
	}
	m.Seconds, m.Processor = time.Since(began).Seconds(), processor.Time()-used
	return m, err
}

func (s setting) table(ctx context.Context, m *measurement, o solve.Options) (*answers.Table,
	error) {
	prior := answers.Prior{Objective: plurality.Objective{Accuracy: s.mean}}
	if s.classes > 2 {
		prior.Objective = plurality.Objective{Concentration: 1}
	}
	if s.images {
		counts, err := images(ctx)
		if err != nil {
			return nil, err
		}
		prior.Objective = plurality.Objective{
			Counts: plurality.CountHistograms(counts, slices.Repeat([]float64{1}, len(counts)))}
	}
	t, err := solve.Best(ctx, answers.Problem{K: s.k, Classes: s.classes, Affected: 1, Answers: s.q,
		Epsilon: s.epsilon, Delta: s.delta}, prior, o)
	if err != nil {
		return nil, err
	}
	m.Agreement, m.Bound, m.Delta = t.Value, min(t.UpperBound, t.LawBound), t.Certificate().Delta
	m.Law = fmt.Sprintf("%s, α = %g, R = %.5g", t.Law.Name, t.Law.Order, t.Law.Moment)
	if t.Law.Name == answers.NormalLaw {
		m.Law = fmt.Sprintf("normal, σ = %.6g", t.Law.Sigma)
	}
	return t, nil
}

// law returns the votes that agreement is over.
func (s setting) law(ctx context.Context) (*plan.Law, error) {
	switch {
	case s.images:
		counts, err := images(ctx)
		if err != nil {
			return nil, err
		}
		law, err := plan.NewSample(s.k, s.classes)
		if err != nil {
			return nil, err
		}
		for _, c := range counts {
			if err := law.Add(c); err != nil {
				return nil, err
			}
		}
		return law, nil
	case s.classes == 2:
		return plan.Prior(s.k, s.classes, s.mean)
	}
	return plan.Uneven(s.k, s.classes, 1)
}

// today returns the mechanism of that name that answers one query at a time under the budget; "" is
// for the best one.
func (s setting) today(ctx context.Context, law *plan.Law, name string) (plan.Choice, error) {
	p, err := plan.New(ctx, plan.Request{
		Stated: ensemble.Stated{K: s.k, Classes: s.classes, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: s.epsilon, Delta: s.delta}, Queries: s.q, Votes: law,
		SolvePlurality: noTable, SolveAnswers: noAnswers})
	if err != nil {
		return plan.Choice{}, err
	}
	for _, c := range p.Choices { // the best first
		if name == "" && slices.Contains(byItself, c.Name) || name == c.Name {
			return c, nil
		}
	}
	return plan.Choice{}, fmt.Errorf("no plan has %q", name)
}

// byItself are the mechanisms that answer one query at a time.
var byItself = []string{ensemble.OptimalCounts, "gnmax", "lnmax", ensemble.Fallback}

// noTable leaves the optimum of one answer out of a plan: bench/plurality measures it.
func noTable(_ context.Context, p plurality.Problem, _ plurality.Objective,
	_ int64) (*plurality.Table, error) {
	return nil, &pluralitysolve.LimitError{Problem: p}
}

// noAnswers leaves tables for many answers out of a plan, which are made apart.
func noAnswers(_ context.Context, p answers.Problem, _ answers.Prior,
) (*answers.Table, error) {
	return nil, &plan.WorkError{Answers: p.Answers}
}

// images returns the votes of testdata/mnist-5v8-disjoint.
func images(ctx context.Context) (counts [][]int, err error) {
	f, err := os.Open("testdata/mnist-5v8-disjoint/votes.csv")
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	r, err := votes.NewReader(ctx, bufio.NewReader(f), votes.Options{Name: "votes.csv"})
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	for batch, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		for i := range batch.Len() {
			counts = append(counts, slices.Clone(batch.Row(i)))
		}
	}
	return counts, nil
}
