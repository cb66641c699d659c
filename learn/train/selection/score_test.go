package selection

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

// drawRecord draws two features and a class, with ties and features out of range.
func drawRecord(t *rapid.T, label string) []float64 {
	x := rapid.SampledFrom([]float64{-1e40, -2, -1, -0.5, 0, 0.5, 1, 2, 1e40})
	return []float64{x.Draw(t, label+" x"), x.Draw(t, label+" x2"),
		float64(rapid.IntRange(0, 1).Draw(t, label+" y"))}
}

func recordsOf(t must.TB, rows [][]float64) *data.Records {
	var x, y []float64
	for _, r := range rows {
		x, y = append(x, r[:2]...), append(y, r[2])
	}
	return must.Get(data.NewRecords(len(rows), 2, x, y))(t)
}

var scores = map[Kind]Score{
	Accuracy: {Kind: Accuracy, Loss: loss.Logistic{}}, Pairs: {Kind: Pairs},
	MeanLoss: {Kind: MeanLoss, Loss: loss.Logistic{}, Bound: 1.5},
}

// A record that is replaced moves a score by at most a unit and two scores apart by at most two,
// one that is added or removed moves all the same way: for any models, records and ties.
func TestScoresChangeByAtMostAUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "n")
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = drawRecord(t, "record")
		}
		w := rapid.SliceOfN(rapid.SampledFrom([]float64{-1e90, -3, -1, 0, 1, 2, 1e90}), 2, 2)
		models := [2][]float64{w.Draw(t, "w"), w.Draw(t, "v")}
		i := rapid.IntRange(0, n-1).Draw(t, "replaced")
		other := slices.Clone(rows)
		other[i] = drawRecord(t, "by")
		more := append(slices.Clone(rows), drawRecord(t, "added"))
		for kind, s := range scores {
			d := changes(t, s, models, rows, other)
			if max(d[0], d[1], -d[0], -d[1]) > unit ||
				max(d[0]-d[1], d[1]-d[0]) > int64(s.spread(accountant.ReplaceOne)) {
				t.Fatalf("%s: a record replaced moves scores by %v", kind, d)
			}
			if v := s.of(models[0], recordsOf(t, rows)); v < 0 || v > unit*int64(n) {
				t.Fatalf("%s is %d", kind, v)
			}
			if d := changes(t, s, models, rows, more); kind != Pairs &&
				(min(d[0], d[1]) < 0 || max(d[0], d[1]) > int64(s.spread(accountant.AddOrRemoveOne))) {
				t.Fatalf("%s: a record added moves scores by %v", kind, d)
			}
		}
	})
}

// changes returns by how much the scores of two models change between records.
func changes(t must.TB, s Score, models [2][]float64, from, to [][]float64) (d [2]int64) {
	a, b := recordsOf(t, from), recordsOf(t, to)
	for j, m := range models {
		d[j] = s.of(m, b) - s.of(m, a)
	}
	return d
}

// What the account takes for the changes of scores is reached, so that nothing less may be taken: a
// record that one model is right about becomes one that the other is.
func TestScoresReachTheirChanges(t *testing.T) {
	models := [2][]float64{{1, 0}, {-1, 0}}
	for kind, c := range map[Kind][2][][]float64{
		Accuracy: {{{-1, 0, 1}, {0, 1, 0}}, {{1, 0, 1}, {0, 1, 0}}},
		Pairs: {{{-1, 0, 1}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}},
			{{1, 0, 1}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}}},
		MeanLoss: {{{-1e6, 0, 1}, {0, 1, 0}}, {{1e6, 0, 1}, {0, 1, 0}}},
	} {
		if d := changes(t, scores[kind], models, c[0], c[1]); d != [2]int64{unit, -unit} {
			t.Errorf("%s: %v", kind, d)
		}
	}
	if d := changes(t, scores[Accuracy], models, [][]float64{{0, 1, 0}},
		[][]float64{{0, 1, 0}, {1, 0, 1}}); d != [2]int64{unit, 0} {
		t.Errorf("a record added: %v", d)
	}
}

// Scores equal the count of right classes, the count of pairs by brute force, and the mean loss.
func TestScoresByBruteForce(t *testing.T) {
	rows := [][]float64{{1, 0, 1}, {2, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {3, 0, 0}}
	r, w := recordsOf(t, rows), []float64{1, 0}
	if got := scores[Accuracy].of(w, r); got != 3*unit {
		t.Errorf("accuracy %d", got)
	}
	twice := 0
	for _, p := range rows {
		for _, q := range rows {
			if p[2] == 1 && q[2] == 0 && p[0] > q[0] {
				twice += 2
			} else if p[2] == 1 && q[2] == 0 && p[0] == q[0] {
				twice++
			}
		}
	}
	if got, want := scores[Pairs].of(w, r), int64(twice*unit/8); got != want {
		t.Errorf("pairs %d, not %d", got, want)
	}
	sum := 0.0
	for i := range rows {
		sum += min(1.5, loss.Logistic{}.Loss(w, r.Row(i), r.Response(i)))
	}
	shown, _ := scores[MeanLoss].shown(float64(scores[MeanLoss].of(w, r)), 0, 5)
	if math.Abs(shown-sum/5) > 1.5/unit {
		t.Errorf("mean loss %g, not %g", shown, sum/5)
	}
}

// The score of pairs neither wraps around nor loses its bound at the most records that there may
// be, half of them of each class and all pairs in order.
func TestPairUnitsDoNotOverflow(t *testing.T) {
	const n = math.MaxInt32
	all := 2 * (n / 2) * (n - n/2)
	got := pairUnits(all, n)
	if want := float64(unit) * float64(all) / (2 * (n - 1)); math.Abs(float64(got)-want) > 2 {
		t.Errorf("%d units, not %g", got, want)
	}
	if d := got - pairUnits(all-2*(n-1), n); d != unit {
		t.Errorf("a record's pairs change it by %d units, not %d", d, unit)
	}
}

// below is a loss that is below 0.
type below struct{ loss.Logistic }

func (below) Loss(_, _ []float64, _ float64) float64 { return -5 }

// A record counts for a unit at most where its loss is below 0 too, as some losses are.
func TestLossesBelowZeroCountAsZero(t *testing.T) {
	s := Score{Kind: MeanLoss, Loss: below{}, Bound: 1}
	if got := s.of([]float64{1, 0}, recordsOf(t, [][]float64{{1, 0, 1}, {2, 0, 0}})); got != 2*unit {
		t.Errorf("two records score %d, not %d", got, 2*unit)
	}
}
