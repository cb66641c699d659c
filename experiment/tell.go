package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"gonum.org/v1/gonum/stat"
)

// tell turns what was found into tables, claims and pictures.
func (p *ImageParameters) tell(r *run, teacher accountant.Cost, private, plain ensembleVotes, found []evaluation, totals [][][]total) error {
	p.tellTeachers(r, teacher, private, plain)
	p.tellSetup(r, found)
	if err := p.tellAccuracy(r, found); err != nil {
		return err
	}
	p.tellDifferences(r, found)
	return p.tellTotals(r, totals)
}

func (p *ImageParameters) tellTeachers(r *run, teacher accountant.Cost, private, plain ensembleVotes) {
	t := Table{Name: "teachers", Caption: fmt.Sprintf("The teachers, each trained on its own %d images: how often they are right on the %d test images.", private.Size, len(private.Truth)), Columns: []Column{
		{Name: "teacher", Title: "teacher"}, {Name: "private", Title: "private", Format: "%.4f"}, {Name: "plain", Title: "not private", Format: "%.4f"}}}
	for i := range private.Right {
		t.add(i+1, private.Right[i], plain.Right[i])
	}
	t.add("all together", majorityRight(private), majorityRight(plain))
	r.table(t)
	r.note("Each private teacher is (%.6g, %g)-differentially private for the addition or removal of one image of its part: DP-SGD with noise multiplier %g, clipping norm %g, %d steps over Poisson samples at rate %g, by the shared accountant.",
		teacher.Epsilon, teacher.Delta, p.Private.NoiseMultiplier, p.Private.Clip, p.Private.Steps, p.Private.SamplingRate)
	r.note("Model: logistic regression over the image averaged in squares of %d × %d pixels, scaled to length 1; the source trains convolutional networks.", p.Pool, p.Pool)
	r.note("Two neighbouring relations stand side by side. GNMax and the methods marked t = 1 promise privacy where one image reaches one teacher, which is so here: the parts are disjoint. γ_opt and γ_Sub, as in the source, promise it even where one image reaches all teachers.")
}

func majorityRight(v ensembleVotes) float64 {
	right := 0
	for i, ones := range v.ones() {
		if (2*ones > len(v.Votes)) == (v.Truth[i] == '1') {
			right++
		}
	}
	return float64(right) / float64(len(v.Truth))
}

func (p *ImageParameters) tellSetup(r *run, found []evaluation) {
	t := Table{Name: "setup", Caption: "What one answer costs, the same for every method, and what follows for the noise.", Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "epsilon_query", Title: "ε per query", Format: "%.4f"}, {Name: "delta_query", Title: "δ per query", Format: "%.4g"},
		{Name: "sigma", Title: "σ of GNMax", Format: "%.2f"}, {Name: "sigma_exact", Title: "σ, exact formula", Format: "%.2f"}, {Name: "gamma_opt", Title: "γ_opt(0), γ_opt(1), …"}, {Name: "gamma_t1", Title: "γ_opt at t = 1"}}}
	noNoise := true
	for i, e := range found {
		t.add(p.Allowances[i], e.Query.Epsilon, e.Query.Delta, e.Sigma, e.Exact, halfText(e.Gamma), halfText(e.Disjoint))
		for l, v := range e.Disjoint {
			noNoise = noNoise && (v == 1 || 2*l == p.Teachers)
		}
	}
	r.table(t)
	r.claim(noNoise, "where one image reaches one teacher only (t = 1), private teachers need no further noise: γ = 1", "γ at t = 1 in table setup")
}

// halfText lists γ up to the middle.
func halfText(gamma []float64) string {
	var parts []string
	for l := 0; 2*l < len(gamma)-1; l++ {
		parts = append(parts, fmt.Sprintf("%.4f", gamma[l]))
	}
	return strings.Join(parts, ", ")
}

// printedFor returns what the source prints for m and q, if anything.
func (p *ImageParameters) printedFor(m, q int) (PrintedAccuracy, bool) {
	for _, c := range p.Printed {
		if c.Allowance == m && c.Queries == q {
			return c, true
		}
	}
	return PrintedAccuracy{}, false
}

func (p *ImageParameters) tellAccuracy(r *run, found []evaluation) error {
	t := Table{Name: "accuracy", Long: true, Caption: fmt.Sprintf("Accuracy of the labels of Q queries: mean and standard deviation over %d draws of the queries, the expectation over the mechanism's randomness for the same draws, and that over all test images.", p.Draws), Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "queries", Title: "Q"}, {Name: "method", Title: "method"},
		{Name: "mean", Title: "accuracy", Format: "%.3f"}, {Name: "std", Title: "std", Format: "%.3f"}, {Name: "expected", Title: "noise averaged out", Format: "%.4f"}, {Name: "all", Title: "all test images", Format: "%.4f"},
		{Name: "source_table", Title: "source's table"}, {Name: "source", Title: "source prints"}}}
	panels := make([]panel, len(p.Queries))
	for qi, q := range p.Queries {
		panels[qi] = panel{title: fmt.Sprintf("Q = %d queries", q), x: "m, allowance", y: "accuracy", fixedY: true, tall: true}
		for _, m := range p.Allowances {
			panels[qi].xTicks = append(panels[qi].xTicks, float64(m))
		}
	}
	sideBySide := Table{Name: "tables", Caption: fmt.Sprintf("The source's tables: accuracy of the labels of Q queries, mean (standard deviation) over %d draws. Left ours, right what the source prints.", p.Draws), Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "queries", Title: "Q"}, {Name: "gnmax", Title: "GNMax"}, {Name: "sub", Title: "γ_Sub"}, {Name: "opt", Title: "γ_opt"},
		{Name: "source_table", Title: "source's table"}, {Name: "source_gnmax", Title: "GNMax"}, {Name: "source_sub", Title: "γ_Sub"}, {Name: "source_opt", Title: "γ_opt"}, {Name: "same_order", Title: "in the same order"}}}
	low, high := 1.0, 0.0
	for i, e := range found {
		for qi, q := range p.Queries {
			printed, ok := p.printedFor(p.Allowances[i], q)
			row := []any{p.Allowances[i], q, nil, nil, nil, nil, nil, nil, nil, nil}
			for j, method := range printedMethods {
				mean, sd := stat.MeanStdDev(e.of(method).Drawn[qi], nil)
				row[2+j] = fmt.Sprintf("%.2f (%.2f)", mean, sd)
				if ok {
					row[5], row[6+j] = printed.Table, printed.of(method)
				}
			}
			if ok {
				row[9] = "yes"
				if e.order(qi) != printed.order() {
					row[9] = "no"
				}
			}
			sideBySide.add(row...)
			for j, a := range e.Answered {
				mean, sd := stat.MeanStdDev(a.Drawn[qi], nil)
				var table, source any
				if ok && printed.of(a.Method) != nil {
					table, source = printed.Table, printed.of(a.Method)
				}
				t.add(p.Allowances[i], q, string(a.Method), mean, sd, stat.Mean(a.Expected[qi], nil), a.All, table, source)
				if len(panels[qi].series) == j {
					panels[qi].series = append(panels[qi].series, series{method: a.Method, spread: []float64{}})
				}
				s := &panels[qi].series[j]
				// Side by side, or the error bars would hide each other.
				s.add(float64(p.Allowances[i])+0.15*(float64(j)-float64(len(e.Answered)-1)/2), mean)
				s.spread = append(s.spread, sd)
				low, high = min(low, mean-sd), max(high, mean+sd)
			}
		}
	}
	r.table(sideBySide)
	r.table(t)
	p.judgePrinted(r, found)
	for qi := range panels {
		panels[qi].yMin, panels[qi].yMax = low-0.01, high+0.01
	}
	return r.figure("accuracy", fmt.Sprintf("Accuracy of the labels at the same cost per query: mean and standard deviation over %d draws, side by side. The grey line has no privacy.", p.Draws), min(3, len(panels)), panels)
}

// standing says how three printed accuracies stand to each other: for each pair which is
// larger, 0 for a tie.
func standing(hundredths [3]int) (signs [3]int) {
	for i := range hundredths {
		signs[i] = cmp.Compare(hundredths[i], hundredths[(i+1)%3])
	}
	return signs
}

// order is that of printedMethods at one number of queries, in the digits that are printed.
func (e evaluation) order(qi int) [3]int {
	var v [3]int
	for i, m := range printedMethods {
		v[i] = int(math.Round(100 * stat.Mean(e.of(m).Drawn[qi], nil)))
	}
	return standing(v)
}

func (p PrintedAccuracy) order() [3]int {
	var v [3]int
	for i, x := range p.values() {
		v[i] = int(math.Round(100 * x[0]))
	}
	return standing(v)
}

// judgePrinted compares with what the source prints: each accuracy within a tolerance, and
// how many rows have the printed order.
func (p *ImageParameters) judgePrinted(r *run, found []evaluation) {
	rows, same := 0, 0
	for i, e := range found {
		most, at := -1.0, ""
		for qi, q := range p.Queries {
			printed, ok := p.printedFor(p.Allowances[i], q)
			if !ok {
				continue
			}
			if rows++; e.order(qi) == printed.order() {
				same++
			}
			for j, m := range printedMethods {
				if d := math.Abs(stat.Mean(e.of(m).Drawn[qi], nil) - printed.values()[j][0]); d > most {
					most, at = d, fmt.Sprintf("%s, Q = %d", m.Title(), q)
				}
			}
		}
		for _, w := range p.Within {
			if w.Allowance == p.Allowances[i] {
				// An accuracy is a mean of hundredths; the last digits are those of float64.
				r.claim(most >= 0 && most <= w.Accuracy+1e-9, fmt.Sprintf("m = %d: every accuracy is within %g of the printed one", w.Allowance, w.Accuracy), "largest difference %.3f (%s)", most, at)
			}
		}
	}
	if rows > 0 {
		r.note("The three accuracies of a row stand in the printed order, ties included, in %d of %d rows; column %q of table tables says in which.", same, rows, "in the same order")
	}
}

func (p *ImageParameters) tellDifferences(r *run, found []evaluation) {
	t := Table{Name: "differences", Caption: "Differences of accuracy over the same draws, with 95 % confidence intervals (Student's t): as drawn, and with the mechanism's noise averaged out.", Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "queries", Title: "Q"}, {Name: "better", Title: "of"}, {Name: "worse", Title: "over"},
		{Name: "drawn", Title: "as drawn", Format: "%+.3f"}, {Name: "drawn_low", Title: "from", Format: "%+.3f"}, {Name: "drawn_high", Title: "to", Format: "%+.3f"},
		{Name: "expected", Title: "noise averaged out", Format: "%+.4f"}, {Name: "expected_low", Title: "from", Format: "%+.4f"}, {Name: "expected_high", Title: "to", Format: "%+.4f"}}}
	pairs := [][2]Method{{MethodOpt, MethodSub}, {MethodSub, MethodGNMax}, {MethodOpt, MethodGNMax}, {MethodOpt, MethodGNExact}, {MethodDisjoint, MethodVoteOpt}}
	for i, e := range found {
		m := p.Allowances[i]
		for qi, q := range p.Queries {
			for _, pair := range pairs {
				a, b := e.of(pair[0]), e.of(pair[1])
				drawn, expected := paired(a.Drawn[qi], b.Drawn[qi]), paired(a.Expected[qi], b.Expected[qi])
				t.add(m, q, string(a.Method), string(b.Method), drawn.mean, drawn.low, drawn.high, expected.mean, expected.low, expected.high)
			}
			p.judge(r, m, q, qi, e)
		}
		if opt, sub := e.of(MethodOpt), e.of(MethodSub); slices.Contains(p.Ordered, m) {
			r.claim(opt.All > sub.All, fmt.Sprintf("m = %d, all test images: γ_opt is more often right than γ_Sub", m), "%.4f against %.4f, exactly", opt.All, sub.All)
		}
		for _, chain := range [][]Method{{MethodGNMax, MethodGNExact, MethodVoteOpt}, {MethodGNExact, MethodMajority}, {MethodSub, MethodDisjoint}, {MethodOpt, MethodDisjoint}} {
			p.judgeChain(r, m, e, chain)
		}
	}
	r.table(t)
}

// judgeChain tests that each method is right at least as often as the one before it: less
// noise on the votes of the same teachers.
func (p *ImageParameters) judgeChain(r *run, m int, e evaluation, chain []Method) {
	holds := true
	names, values := make([]string, len(chain)), make([]string, len(chain))
	for i, method := range chain {
		names[i], values[i] = method.Title(), fmt.Sprintf("%.4f", e.of(method).All)
		holds = holds && (i == 0 || e.of(method).All >= e.of(chain[i-1]).All-1e-9)
	}
	r.claim(holds, fmt.Sprintf("m = %d, all test images: right in this order, the least often first: %s", m, strings.Join(names, " ≤ ")), "%s, exactly", strings.Join(values, ", "))
}

// judge tests the order of the methods at one m and Q by their means over the draws, the
// mechanism's noise averaged out: over ten draws of 20 queries the noise of the labels
// alone would drown it.
func (p *ImageParameters) judge(r *run, m, q, qi int, e evaluation) {
	opt, sub, gnmax := e.of(MethodOpt).Expected[qi], e.of(MethodSub).Expected[qi], e.of(MethodGNMax).Expected[qi]
	first, second := paired(opt, sub), paired(sub, gnmax)
	if m == 1 {
		r.claim(math.Abs(first.mean) <= 1e-3, fmt.Sprintf("m = 1, Q = %d: γ_opt and γ_Sub are the same", q), "difference %+.2g", first.mean)
	}
	if slices.Contains(p.Ordered, m) {
		r.claim(first.mean >= 0 && second.mean > 0, fmt.Sprintf("m = %d, Q = %d: γ_opt ≥ γ_Sub > GNMax", m, q),
			"γ_opt over γ_Sub %+.4f [%+.4f, %+.4f], γ_Sub over GNMax %+.4f [%+.4f, %+.4f]",
			first.mean, first.low, first.high, second.mean, second.low, second.high)
	}
}

// total is what Q queries cost by one way of counting.
type total struct {
	Name  string          `json:"name"` // in files
	Way   string          `json:"way"`  // for people
	Cost  accountant.Cost `json:"cost"`
	Holds string          `json:"holds"` // for what it is a guarantee
}

// totalQueries returns for how many queries totals are worked out: those of the tables,
// and those that make a curve.
func (p *ImageParameters) totalQueries() []int {
	list := append([]int{1, 3, 10, 100}, p.Queries...)
	slices.Sort(list)
	return slices.Compact(list)
}

// totals returns what each of totalQueries costs, by all ways of counting, for answers of
// one cost and GNMax's noise.
func (p *ImageParameters) totals(query accountant.Cost, sigma float64, teacher accountant.Cost) ([][]total, error) {
	mechanism, err := ensemble.GNMax(p.voteSetting(), query, sigma)
	if err != nil {
		return nil, err
	}
	var out [][]total
	for _, q := range p.totalQueries() {
		release := ensemble.Answers{Queries: q, PerAnswer: query, Teachers: teacher, K: p.Teachers, Affected: p.Teachers, Randomness: ensemble.FrozenTeachers, Slack: p.Slack}
		all, err := release.Total()
		if err != nil {
			return nil, err
		}
		release.Affected = 1
		disjoint, err := release.Total()
		if err != nil {
			return nil, err
		}
		a, err := accountant.New(accountant.AddOrRemoveOne)
		if err != nil {
			return nil, err
		}
		if a, err = a.Charge(mechanism.Event(), q); err != nil {
			return nil, err
		}
		noisy, err := a.Epsilon(all.QueryFold.Delta)
		if err != nil {
			return nil, err
		}
		out = append(out, []total{
			{"q_fold", "Q-fold, as the source counts", all.QueryFold, "teachers that answer afresh; GNMax"},
			{"frozen", "trained once, one image reaches all", all.Cost, "teachers that were trained once"},
			{"frozen_disjoint", "trained once, disjoint images", disjoint.Cost, "teachers trained once on disjoint images"},
			{"gnmax", "GNMax, by its own noise", accountant.Cost{Epsilon: noisy, Delta: all.QueryFold.Delta}, "GNMax, one vote per image"},
		})
	}
	return out, nil
}

func (p *ImageParameters) tellTotals(r *run, totals [][][]total) error {
	t := Table{Name: "totals", Caption: fmt.Sprintf("What Q answers cost together (δ' = %g).", p.Slack), Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "queries", Title: "Q"}, {Name: "way", Title: "way of counting"},
		{Name: "epsilon", Title: "total ε", Format: "%.3f"}, {Name: "delta", Title: "total δ", Format: "%.4f"}, {Name: "holds", Title: "is a guarantee for"}}}
	colours := []Method{MethodTight, MethodOpt, MethodDisjoint, MethodGNMax}
	var panels []panel
	for i, byQueries := range totals {
		m := p.Allowances[i]
		chart := panel{title: fmt.Sprintf("m = %d", m), x: "Q, queries", y: "total ε", logY: true}
		for k, q := range p.totalQueries() {
			for j, c := range byQueries[k] {
				if slices.Contains(p.Queries, q) {
					t.add(m, q, c.Name, c.Cost.Epsilon, c.Cost.Delta, c.Holds)
				}
				if len(chart.series) == j {
					chart.series = append(chart.series, series{method: colours[j], name: c.Way, plain: true, dashed: j == 0})
				}
				chart.series[j].add(float64(q), c.Cost.Epsilon)
			}
		}
		panels = append(panels, chart)
	}
	r.table(t)
	r.note("The source adds up the cost of its Q answers as if every answer were drawn afresh. Teachers that are trained once share that randomness between answers, so this is no guarantee for them. What always holds: all answers together are a function of the %d trained teachers, so they cost at most what %d teachers cost, or, the images being disjoint, what one teacher costs, however many queries are asked.", p.Teachers, p.Teachers)
	return r.figure("totals", "What Q answers cost together. The dashed line is how the source counts; for teachers trained once it is no guarantee.", 2, panels)
}
