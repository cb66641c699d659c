package majority

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"gonum.org/v1/gonum/stat"
)

// report turns what was found into tables, claims and pictures.
func (p *imageParameters) report(r *experiment.Run, teacher accountant.Cost, private,
	plain ensembleVotes, found []evaluation, totals [][][]total) error {
	p.reportTeachers(r, teacher, private, plain)
	p.reportSetup(r, found)
	if err := p.reportAccuracy(r, found); err != nil {
		return err
	}
	p.reportDifferences(r, found)
	return p.reportTotals(r, totals)
}

func (p *imageParameters) reportTeachers(r *experiment.Run, teacher accountant.Cost, private,
	plain ensembleVotes) {
	t := r.TableOf("teachers", map[string]any{"size": private.Size, "test": len(private.Truth)})
	for i := range private.Right {
		t.Add(i+1, private.Right[i], plain.Right[i])
	}
	t.Add("all together", majorityRight(private), majorityRight(plain))
	r.Table(t)
	r.Note("Each private teacher is (%.6g, %g)-differentially private for the addition or removal "+
		"of one image of its part: DP-SGD with noise multiplier %g, clipping norm %g, %d steps over "+
		"Poisson samples at rate %g, by the shared accountant.",
		teacher.Epsilon, teacher.Delta, p.Private.NoiseMultiplier, p.Private.Clip, p.Private.Steps,
		p.Private.SamplingRate)
	r.Note("Model: logistic regression over the image averaged in squares of %d × %d pixels, scaled "+
		"to length 1; the source trains convolutional networks.", p.Pool, p.Pool)
	r.Note("Two neighbouring relations stand side by side. GNMax and the methods marked t = 1 " +
		"promise privacy where one image reaches one teacher, which is so here: the parts are " +
		"disjoint. optimal-teachers and subsampling, as in the source, promise it even where one image " +
		"reaches all teachers.")
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

func (p *imageParameters) reportSetup(r *experiment.Run, found []evaluation) {
	t := r.TableOf("setup", nil)
	noNoise := true
	for i, e := range found {
		t.Add(p.Allowances[i], e.Query.Epsilon, e.Query.Delta, e.Sigma, e.Exact, halfText(e.Gamma),
			halfText(e.Disjoint))
		for l, v := range e.Disjoint {
			noNoise = noNoise && (v == 1 || 2*l == p.Teachers)
		}
	}
	r.Table(t)
	r.Sentence("alone", noNoise, nil)
}

// halfText lists γ up to the middle.
func halfText(gamma []float64) string {
	var parts []string
	for l := 0; 2*l < len(gamma)-1; l++ {
		parts = append(parts, fmt.Sprintf("%.4f", gamma[l]))
	}
	return strings.Join(parts, ", ")
}

// printedFor returns the accuracy that the source prints for m and q, if any.
func (p *imageParameters) printedFor(m, q int) (printedAccuracy, bool) {
	for _, c := range p.Printed {
		if c.Allowance == m && c.Queries == q {
			return c, true
		}
	}
	return printedAccuracy{}, false
}

func (p *imageParameters) reportAccuracy(r *experiment.Run, found []evaluation) error {
	t := r.TableOf("accuracy", map[string]any{"draws": p.Draws})
	panels := make([]experiment.Panel, len(p.Queries))
	for qi, q := range p.Queries {
		panels[qi] = experiment.Panel{Title: fmt.Sprintf("Q = %d queries", q), X: "m, allowance",
			Y: "accuracy", Tall: true}
		for _, m := range p.Allowances {
			panels[qi].XTicks = append(panels[qi].XTicks, float64(m))
		}
	}
	sideBySide := r.TableOf("tables", map[string]any{"draws": p.Draws})
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
			sideBySide.Add(row...)
			for j, a := range e.Answered {
				mean, sd := stat.MeanStdDev(a.Drawn[qi], nil)
				var table, source any
				if ok && printed.of(a.Method) != nil {
					table, source = printed.Table, printed.of(a.Method)
				}
				t.Add(p.Allowances[i], q, string(a.Method), mean, sd, stat.Mean(a.Expected[qi], nil), a.All,
					table, source)
				if len(panels[qi].Series) == j {
					panels[qi].Series = append(panels[qi].Series,
						experiment.Series{Method: a.Method, Spread: []float64{}})
				}
				s := &panels[qi].Series[j]
				// Side by side, or the error bars would hide each other.
				s.Add(float64(p.Allowances[i])+0.15*(float64(j)-float64(len(e.Answered)-1)/2), mean)
				s.Spread = append(s.Spread, sd)
				low, high = min(low, mean-sd), max(high, mean+sd)
			}
		}
	}
	r.Table(sideBySide)
	r.Table(t)
	p.judgePrinted(r, found)
	for qi := range panels {
		panels[qi].YRange = [2]float64{low - 0.01, high + 0.01}
	}
	return r.Figure("accuracy",
		fmt.Sprintf("Accuracy of the labels at the same cost per query: mean and standard deviation "+
			"over %d draws, side by side. The grey line has no privacy.", p.Draws), min(3, len(panels)),
		panels)
}

// pairwiseOrder returns the sign of the difference of each pair of three printed accuracies, 0 for
// a tie.
func pairwiseOrder(hundredths [3]int) (signs [3]int) {
	for i := range hundredths {
		signs[i] = cmp.Compare(hundredths[i], hundredths[(i+1)%3])
	}
	return signs
}

// order returns the order of printedMethods at one number of queries, in the digits that are
// printed.
func (e evaluation) order(qi int) [3]int {
	var v [3]int
	for i, m := range printedMethods {
		v[i] = int(math.Round(100 * stat.Mean(e.of(m).Drawn[qi], nil)))
	}
	return pairwiseOrder(v)
}

func (p printedAccuracy) order() [3]int {
	var v [3]int
	for i, x := range p.values() {
		v[i] = int(math.Round(100 * x[0]))
	}
	return pairwiseOrder(v)
}

// judgePrinted compares with what the source prints: each accuracy within a tolerance, and
// how many rows have the printed order.
func (p *imageParameters) judgePrinted(r *experiment.Run, found []evaluation) {
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
					most, at = d, fmt.Sprintf("%s, Q = %d", r.Title(m), q)
				}
			}
		}
		for _, w := range p.Within {
			if w.Allowance == p.Allowances[i] {
				// An accuracy is a mean of hundredths; the last digits are those of float64.
				r.Sentence("within", most >= 0 && most <= w.Accuracy+1e-9, map[string]any{"m": w.Allowance, "bound": w.Accuracy,
					"value": most, "at": at})
			}
		}
	}
	if rows > 0 {
		r.Note("The three accuracies of a row stand in the printed order, ties included, in %d of %d "+
			"rows; column %q of table tables says in which.", same, rows, "in the same order")
	}
}

func (p *imageParameters) reportDifferences(r *experiment.Run, found []evaluation) {
	t := r.TableOf("differences", nil)
	pairs := [][2]experiment.Method{{methodOpt, methodSub}, {methodSub, methodGNMax},
		{methodOpt, methodGNMax}, {methodOpt, methodGNExact}, {methodDisjoint, methodVoteOpt}}
	for i, e := range found {
		m := p.Allowances[i]
		for qi, q := range p.Queries {
			for _, pair := range pairs {
				a, b := e.of(pair[0]), e.of(pair[1])
				drawn, expected := experiment.Paired(a.Drawn[qi], b.Drawn[qi]),
					experiment.Paired(a.Expected[qi], b.Expected[qi])
				t.Add(m, q, string(a.Method), string(b.Method), drawn.Mean, drawn.Low, drawn.High,
					expected.Mean, expected.Low, expected.High)
			}
			p.judge(r, m, q, qi, e)
		}
		if opt, sub := e.of(methodOpt), e.of(methodSub); slices.Contains(p.Ordered, m) {
			r.Sentence("all", opt.All > sub.All, map[string]any{"m": m, "value": opt.All, "second": sub.All})
		}
		for _, chain := range [][]experiment.Method{{methodGNMax, methodGNExact, methodVoteOpt},
			{methodGNExact, methodMajority}, {methodSub, methodDisjoint}, {methodOpt, methodDisjoint}} {
			p.judgeChain(r, m, e, chain)
		}
	}
	r.Table(t)
}

// judgeChain tests that each method is right at least as often as the one before it: less
// noise on the votes of the same teachers.
func (p *imageParameters) judgeChain(r *experiment.Run, m int, e evaluation,
	chain []experiment.Method) {
	holds, names, values := true, make([]string, len(chain)), make([]float64, len(chain))
	for i, method := range chain {
		names[i], values[i] = r.Title(method), e.of(method).All
		holds = holds && (i == 0 || values[i] >= values[i-1]-1e-9)
	}
	r.Sentence("chain", holds, map[string]any{"m": m, "lines": strings.Join(names, " ≤ "), "values": values})
}

// judge tests the order of the methods at one m and Q by their means over the draws, the
// mechanism's noise averaged out: over ten draws of 20 queries the noise of the labels
// alone would drown it.
func (p *imageParameters) judge(r *experiment.Run, m, q, qi int, e evaluation) {
	opt, sub, gnmax := e.of(methodOpt).Expected[qi], e.of(methodSub).Expected[qi],
		e.of(methodGNMax).Expected[qi]
	first, second := experiment.Paired(opt, sub), experiment.Paired(sub, gnmax)
	if m == 1 {
		r.Sentence("same", math.Abs(first.Mean) <= 1e-3, map[string]any{"q": q, "value": first.Mean})
	}
	if slices.Contains(p.Ordered, m) {
		r.Sentence("ordered", first.Mean >= 0 && second.Mean > 0, map[string]any{"m": m, "q": q, "mean": first.Mean, "low": first.Low,
			"high": first.High, "second": second.Mean, "second_low": second.Low, "second_high": second.High})
	}
}

// total is the cost of Q queries by one way of counting.
type total struct {
	Name  string          `json:"name"` // in files
	Way   string          `json:"way"`  // for people
	Cost  accountant.Cost `json:"cost"`
	Holds string          `json:"holds"` // for what it is a guarantee
}

// totalQueries returns for how many queries totals are worked out: those of the tables,
// and those that make a curve.
func (p *imageParameters) totalQueries() []int {
	list := append([]int{1, 3, 10, 100}, p.Queries...)
	slices.Sort(list)
	return slices.Compact(list)
}

// totals returns the cost of each of totalQueries, by all ways of counting, for answers of one cost
// and GNMax's noise.
func (p *imageParameters) totals(query accountant.Cost, sigma float64,
	teacher accountant.Cost) ([][]total, error) {
	mechanism, err := ensemble.GNMax(p.voteSetting(), query, sigma)
	if err != nil {
		return nil, err
	}
	var out [][]total
	for _, q := range p.totalQueries() {
		release := ensemble.Answers{Queries: q, PerAnswer: query, Teachers: teacher, K: p.Teachers,
			Affected: p.Teachers, Randomness: ensemble.FrozenTeachers, Slack: p.Slack}
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
			{"frozen_disjoint", "trained once, disjoint images", disjoint.Cost,
				"teachers trained once on disjoint images"},
			{"gnmax", "GNMax, by its own noise", accountant.Cost{Epsilon: noisy, Delta: all.QueryFold.Delta},
				"GNMax, one vote per image"},
		})
	}
	return out, nil
}

func (p *imageParameters) reportTotals(r *experiment.Run, totals [][][]total) error {
	t := r.TableOf("totals", map[string]any{"slack": p.Slack})
	colours := []experiment.Method{methodTight, methodOpt, methodDisjoint, methodGNMax}
	var panels []experiment.Panel
	for i, byQueries := range totals {
		m := p.Allowances[i]
		chart := experiment.Panel{Title: fmt.Sprintf("m = %d", m), X: "Q, queries", Y: "total ε",
			LogY: true}
		for k, q := range p.totalQueries() {
			for j, c := range byQueries[k] {
				if slices.Contains(p.Queries, q) {
					t.Add(m, q, c.Name, c.Cost.Epsilon, c.Cost.Delta, c.Holds)
				}
				if len(chart.Series) == j {
					chart.Series = append(chart.Series, experiment.Series{Method: colours[j], Name: c.Way,
						Plain: true, Dashed: j == 0})
				}
				chart.Series[j].Add(float64(q), c.Cost.Epsilon)
			}
		}
		panels = append(panels, chart)
	}
	r.Table(t)
	r.Note("The source adds up the cost of its Q answers as if every answer were drawn afresh. "+
		"Teachers that are trained once share that randomness between answers, so this is no guarantee "+
		"for them. What always holds: all answers together are a function of the %d trained teachers, "+
		"so they cost at most what %d teachers cost, or, the images being disjoint, what one teacher "+
		"costs, however many queries are asked.", p.Teachers, p.Teachers)
	return r.Figure("totals",
		"What Q answers cost together. The dashed line is how the source counts; for teachers trained "+
			"once it is no guarantee.", 2, panels)
}
