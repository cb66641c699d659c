package answer

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/web/answer/chart"
)

// axis is the horizontal axis of a curve of expected agreement: one stated number, varied.
type axis struct {
	flag, name, title string
	low, high         float64 // as multiples of what is stated
	most              float64
	whole             bool
}

var axes = map[string]axis{
	"budget-eps": {flag: "budget-eps", name: "ε of all labels", title: "Agreement by budget",
		low: 1. / 4, high: 4, most: check.MaxTotalEpsilon},
	"K": {flag: "K", name: "teachers", title: "Agreement by teachers",
		low: 1. / 4, high: 2, most: mostTeachers, whole: true},
	"queries": {flag: "queries", name: "labels", title: "Agreement by labels",
		low: 1. / 8, high: 8, most: mostQueries, whole: true},
}

// pointsOfCurve is the number of steps of a curve.
const pointsOfCurve = 6

// Axis returns the values at which a curve over budget-eps, K or queries is worked out, ascending
// and with what is stated among them.
func Axis(s Stated, over string) ([]float64, error) {
	a, ok := axes[over]
	if !ok {
		return nil, check.Want("axis", over, "budget-eps, K or queries")
	}
	at, err := s.number(a.flag, a.flag, 0)
	if err != nil {
		return nil, err
	}
	if !(at > 0 && at <= a.most) {
		return nil, check.Wantf(a.flag, at, "in (0, %v]", a.most)
	}
	classes, err := s.count("num-classes", "number of classes", 2)
	if err != nil {
		return nil, err
	}
	low, high := at*a.low, min(at*a.high, a.most)
	if over == "K" {
		histograms := plurality.Histograms
		if s.many().Lossy() {
			histograms = plurality.NamedHistograms
		}
		for classes > 2 && high > at && histograms(int(high), classes) > mostHistograms {
			high--
		}
		high = math.Floor(high)
	}
	values := []float64{at}
	for i := range pointsOfCurve + 1 {
		v := low * math.Pow(high/low, float64(i)/pointsOfCurve)
		if a.whole {
			v = math.Round(v)
		} else if v, err = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64); err != nil {
			return nil, err
		}
		if v >= 1 || !a.whole {
			values = append(values, min(v, high))
		}
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

// Point is one point of a curve.
type Point struct {
	X         float64  `json:"x"`
	Agreement *float64 `json:"agreement"` // of the best mechanism; null where none keeps the budget
	Bound     *float64 `json:"bound"`     // no table that is used for all labels agrees more; null: unknown
	Shown     string   `json:"shown"`     // Agreement for people
	Most      string   `json:"most"`      // Bound for people
}

// NewPoint works out the expected agreement at a value of Axis. Cost: that of plan.New.
func NewPoint(ctx context.Context, s Stated, over string, x float64) (Point, error) {
	at := maps.Clone(s)
	at[over] = strconv.FormatFloat(x, 'f', -1, 64)
	point := Point{X: x, Shown: "nothing fits", Most: "-"}
	r, err := request(at, nil)
	if err != nil {
		return point, err
	}
	if over == "K" { // one record reaches no more teachers than there are
		r.Affected = new(min(r.Reach(r.K), r.K))
	}
	r.Agreement = 0 // no advice
	p, err := plan.New(ctx, r)
	var infeasible *plan.InfeasibleError
	if errors.As(err, &infeasible) {
		return point, nil
	}
	if err != nil {
		return point, err
	}
	return pointOf(x, plan.NewReport(r, p, plan.ReportOptions{}), p), nil
}

// pointOf returns the point of a plan and its report at x.
func pointOf(x float64, r *plan.Report, p *plan.Plan) Point {
	best := r.Choices[0]
	point := Point{X: x, Agreement: &best.Agreement, Shown: p.Choices[0].Agreement.String(), Most: "-"}
	if best.UpperBound > 0 {
		point.Bound, point.Most = &best.UpperBound, num.PercentUp(best.UpperBound)
	}
	return point
}

// DrawCurve returns the picture of a curve as far as its points are known, in ascending order.
// reached marks where the wanted agreement is reached, 0 for nowhere.
func DrawCurve(s Stated, over string, points []Point, reached float64) (string, error) {
	a, ok := axes[over]
	if !ok {
		return "", check.Want("axis", over, "budget-eps, K or queries")
	}
	wanted, err := s.number("agreement", "agreement", 0.9)
	if err != nil {
		return "", err
	}
	values, err := Axis(s, over)
	if err != nil {
		return "", err
	}
	best := chart.Line{Name: "the best mechanism that fits", Class: "c1"}
	bound, bounded := chart.Line{Name: "no table can be above", Class: "c2", Dashed: true}, false
	// The whole axis from the start, so that nothing moves while points come.
	c := chart.Chart{Title: a.title, X: a.name, LogX: true, Low: 0, High: 1, Percent: true,
		Lines: []chart.Line{{X: []float64{values[0], values[len(values)-1]},
			Y: []float64{math.NaN(), math.NaN()}}}}
	for _, p := range points {
		if p.Agreement != nil {
			best.X, best.Y = append(best.X, p.X), append(best.Y, *p.Agreement)
			// Until what lies between is known, the line is a guess.
			i := slices.Index(values, p.X)
			best.Rough = append(best.Rough, i < 1 || !slices.ContainsFunc(points, func(q Point) bool {
				return q.X == values[i-1]
			}))
		}
		most := math.NaN() // nothing is claimed of what lies about a place without a bound
		if p.Bound != nil {
			most = *p.Bound
			// A bound of one point is no line yet.
			bounded = bounded || len(bound.Y) > 0 && !math.IsNaN(bound.Y[len(bound.Y)-1])
		}
		bound.X, bound.Y = append(bound.X, p.X), append(bound.Y, most)
	}
	if len(best.X) > 0 {
		c.Lines = append(c.Lines, best)
	}
	if bounded {
		c.Lines = append(c.Lines, bound)
	}
	if wanted > 0 {
		c.Level, c.LevelName = &wanted, "wanted"
	}
	stated, err := s.number(a.flag, a.flag, 0)
	if err != nil {
		return "", err
	}
	if over == "K" { // from there on, as plan.Reaching has it
		for _, p := range slices.Backward(points) {
			if p.Agreement == nil || *p.Agreement < wanted {
				break
			}
			reached = p.X
		}
	}
	c.Marks = append(c.Marks, chart.Mark{X: stated, Text: "stated"})
	if reached > 0 && reached != stated {
		c.Marks = append(c.Marks, chart.Mark{X: reached, Text: "reached at " +
			strconv.FormatFloat(reached, 'g', -1, 64)})
	}
	return c.SVG(), nil
}
