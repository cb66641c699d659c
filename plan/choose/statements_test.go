package choose

import (
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/internal/testing/golden"
	"github.com/darrm/darrm/plurality"
)

// A statement states one parameter of a request.
type statement struct {
	parameter, value string
}

func (s statement) String() string {
	if s.value == "" {
		return s.parameter
	}
	return s.parameter + " " + s.value
}

// in returns the request with the statement.
func (s statement) in(r Request) Request {
	switch s.parameter {
	case "nothing":
	case "missing":
		r.Missing = true
	case "checkpoint":
		r.Checkpoint = true
	case "service":
		r.Service = true
	case "accept constant":
		r.Many.AcceptConstant = true
	case "timeout", "time to solve":
		d := must1(time.ParseDuration(s.value))
		if s.parameter == "timeout" {
			r.Timeout = &d
		} else {
			r.SolveWithin = &d
		}
	default:
		all := param.Of(&r)
		i := slices.IndexFunc(all, func(p param.Param) bool { return string(p.Name) == s.parameter })
		if err := all[i].Set(s.value); err != nil {
			panic(err)
		}
	}
	return r
}

func must1[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// statements lists values of every parameter: first such as may stand, then such as break a rule.
func statements() (all []statement) {
	for _, s := range strings.Split(`nothing|missing|checkpoint|service|accept constant|timeout 1s|time to solve 1s|
number of teachers K 3|epsilon 0.5|epsilon inf|teacher delta 1e-6|teachers fresh|affected 2|affected 0|neighbours add-remove|
privacy allowance m 1.5|label epsilon 2|delta 1e-4|threshold 2|check ratio 2|
objective source|objective agreement|prior uniform|prior clear|prior custom|prior counts|prior worst-case|prior mean 0.8|
prior counts uniform|prior counts binomial|prior counts file.csv|shape monotone|shape by-name|method exhaustive|on interrupt best|
accuracy 0.8|concentration 2|value of abstaining 0.5|shares 0.7,0.3|cost 0:1=9|cost ordered|gap 0.01|
time to solve 0s|timeout 0s|number of teachers K -1|epsilon 0|epsilon NaN|teacher delta 1|affected -1|affected 4|privacy allowance m 0|
label epsilon 0|label epsilon -1|delta 1|threshold -1|threshold 4|check ratio 0|objective best|prior none|prior mean 0.5|shape round|
method none|accuracy 1.5|concentration 0|value of abstaining 2|shares 0.7|cost x|cost balanced|gap 0`, "|") {
		s = strings.TrimSpace(s)
		i := strings.LastIndexByte(s, ' ')
		switch {
		case s == "accept constant" || i < 0:
			all = append(all, statement{s, ""})
		case strings.HasPrefix(s, "prior counts ") || !strings.HasPrefix(s, "prior counts"):
			all = append(all, statement{s[:i], s[i+1:]})
		default:
			all = append(all, statement{"prior", "counts"})
		}
	}
	return all
}

// stated leaves out the fields of a printed problem or objective that are not stated.
func stated(text string) string {
	return strings.ReplaceAll(unstated.ReplaceAllString(text, "$2"), " }", "}")
}

var unstated = regexp.MustCompile(`\b(?:[A-Z]\w*|near):(0|false|\[0 0\]|<nil>|\[\]|)(?:[ ]|([}]))`)

// recording is a request whose solvers end with what they were asked.
func recording(classes int, mechanism string) Request {
	return Request{
		Stated: ensemble.Stated{Classes: classes, Neighbours: accountant.ReplaceOne, Mechanism: mechanism},
		Solve: Solvers{
			Noise: func(_ context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
				return nil, fmt.Errorf("SOLVES %+v, %+v", p, o)
			},
			Plurality: func(_ context.Context, p plurality.Problem, o plurality.Objective, work int64) (*plurality.Table, error) {
				return nil, fmt.Errorf("SOLVES %+v, %+v, work %d", p, o, work)
			},
			Histogram: func(_ context.Context, file string, k int) ([]float64, error) {
				return []float64{1, 2, 3, 4}, nil
			},
			Histograms: func(_ context.Context, file string, k, classes int) ([]plurality.HistogramCount, error) {
				return nil, fmt.Errorf("READS %s of %d teachers, %d classes", file, k, classes)
			},
		},
	}
}

// chosen says what becomes of a request for a release: its refusal, what is solved, or the mechanism.
func chosen(ctx context.Context, r Request) string {
	c, err := Prepare(ctx, r)
	if err != nil {
		return "refused: " + err.Error()
	}
	s := c.Stated()
	out := fmt.Sprintf("K %d, each %v, reach %d of 9, teachers' promise %t", c.K(), s.Each(), s.Reach(9), c.Promise())
	g, err := c.Choose(ctx, 3, r.Classes)
	if err != nil {
		return out + ": " + err.Error()
	}
	return out + ": " + mechanismOf(g.Mechanism())
}

// mechanismOf says what a mechanism is and costs.
func mechanismOf(m *ensemble.Mechanism) string {
	return fmt.Sprintf("%s %s %v %+v", m.Name(), m.Title(), m.PerAnswer(), m.Problem())
}

// compared says what becomes of a request for a comparison.
func compared(ctx context.Context, r Request) string {
	c, err := PrepareComparison(r)
	if err != nil {
		return "refused: " + err.Error()
	}
	o, err := c.Options(ctx, 3)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", o)
}

// priced says what becomes of a request for the price of an answer.
func priced(ctx context.Context, r Request) string {
	if r.K == 0 {
		r.K = 3
	}
	x, err := Priced(ctx, r)
	if err != nil {
		return "refused: " + err.Error()
	}
	return fmt.Sprintf("%s %t %v %+v %T", x.Mechanism, x.Teachers, x.PerAnswer, x.Problem, x.Answer)
}

// All that is said of requests that state one parameter more than is needed, or two: refusals word by word, the
// problem and the objective that would be solved, and the mechanism with its promise.
func TestAllThatIsSaidOfStatements(t *testing.T) {
	all := statements()
	for _, p := range param.Of(&Request{}) {
		if p.Name != "mechanism" && p.Name != "number of classes" && !slices.ContainsFunc(all, func(s statement) bool { return s.parameter == string(p.Name) }) {
			t.Errorf("nothing states %s", p.Name)
		}
	}
	var b strings.Builder
	base := func(classes int, mechanism, about string) Request {
		r := recording(classes, mechanism)
		one, label, m, teachers, inf, delta := 1, 1.0, 1.0, 0.5, math.Inf(1), 1e-5
		switch about {
		case "a label's promise":
			r.LabelEpsilon, r.Affected = &label, &one
		case "teachers' promise":
			r.M, r.Stated.Epsilon, r.TeacherDelta = &m, &teachers, &delta
		case "teachers without a promise":
			r.LabelEpsilon, r.Stated.Epsilon = &label, &inf
		}
		return r
	}
	for _, what := range []struct {
		name       string
		of         func(context.Context, Request) string
		mechanisms []string
	}{
		{"release", chosen, []string{"", ensemble.OptimalTeachers, ensemble.OptimalCounts, "gnmax", "confident-gnmax", "subsampling",
			ensemble.TableOfAnswers}},
		{"comparison", compared, []string{""}},
		{"price", priced, []string{"", "gnmax", "subsampling"}},
	} {
		for _, classes := range []int{2, 3} {
			for _, mechanism := range what.mechanisms {
				for _, about := range []string{"nothing", "a label's promise", "teachers' promise", "teachers without a promise"} {
					if mechanism != "" && (about == "nothing" || about == "teachers without a promise") {
						continue
					}
					title := fmt.Sprintf("%s, %d classes, mechanism %q, stated %s", what.name, classes, mechanism, about)
					fmt.Fprintf(&b, "\n## %s\n", title)
					outcomes := map[string][]string{}
					r := base(classes, mechanism, about)
					for _, s := range all {
						outcome := stated(what.of(t.Context(), s.in(r)))
						outcomes[outcome] = append(outcomes[outcome], s.String())
					}
					for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
						fmt.Fprintf(&b, "%s\n\t%s\n", outcome, strings.Join(outcomes[outcome], " | "))
					}
				}
			}
		}
	}
	// Two of the parameters that one optimum has.
	for _, of := range []struct {
		classes          int
		stated           string
		from, after, out string
	}{{2, "teachers' promise", "objective source", "accuracy 0.8", ""}, {3, "a label's promise", "accuracy 0.8", "time to solve 0s", "prior counts file.csv"}} {
		fmt.Fprintf(&b, "\n## release, %d classes, stated %s and two more\n", of.classes, of.stated)
		at := func(name string) int {
			return slices.IndexFunc(all, func(s statement) bool { return s.String() == name })
		}
		some := slices.Clone(all[at(of.from):at(of.after)])
		if of.out != "" {
			some = append(some, all[at(of.out)])
		}
		outcomes := map[string][]string{}
		for i, x := range some {
			for _, y := range some[i+1:] {
				outcome := stated(chosen(t.Context(), y.in(x.in(base(of.classes, "", of.stated)))))
				outcomes[outcome] = append(outcomes[outcome], x.String()+" + "+y.String())
			}
		}
		for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
			fmt.Fprintf(&b, "%s\n\t%s\n", outcome, strings.Join(outcomes[outcome], " | "))
		}
	}
	golden.Compare(t, "statements.golden", b.String(), 1e-9)
}
