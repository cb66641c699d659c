package experiment

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/darrm/darrm/internal/check"
)

// Found holds what a run measured: for each place, line and measure a value of each repeat. One
// goroutine at a time may use it.
type Found struct {
	Places []Place
	Lines  []Line
	values map[cell][]float64
	words  map[cell]string
}

// cell is where the repeats of one measure are.
type cell struct {
	place, line int
	measure     string
}

// Place is a condition under which lines are measured.
type Place struct {
	Name string             // in claims: "n = 64, ε = 1"
	At   map[string]float64 // its coordinates, by the names of columns
	Text map[string]string  // further columns
}

// Line is one way to reach a result.
type Line struct {
	Name  string // in claims of definitions
	Title string // in sentences; "" is the name
	Look  Method
	Plain bool              // drawn without marks
	Text  map[string]string // columns
}

// Add appends a repeat's values of a measure of a line at a place, both by their numbers.
func (f *Found) Add(place, line int, measure string, values ...float64) {
	if f.values == nil {
		f.values = map[cell][]float64{}
	}
	at := cell{place, line, measure}
	f.values[at] = append(f.values[at], values...)
}

// Say adds a word of a line at a place.
func (f *Found) Say(place, line int, column, word string) {
	if f.words == nil {
		f.words = map[cell]string{}
	}
	f.words[cell{place, line, column}] = word
}

// Values returns the repeats of a measure, nil where it was not measured.
func (f *Found) Values(place, line int, measure string) []float64 {
	return f.values[cell{place, line, measure}]
}

// Line returns the number of the line of that name.
func (f *Found) Line(name string) int {
	return slices.IndexFunc(f.Lines, func(l Line) bool { return l.Name == name })
}

// Stat returns a measure, as its mean, or a statistic of one: of auc the columns auc_sd, auc_se,
// auc_low, auc_high and auc_half are its standard deviation and error, and the ends and half the
// length of its 95 % confidence interval. It is NaN where the measure was not taken.
func (f *Found) Stat(place, line int, column string) float64 {
	if v := f.Values(place, line, column); v != nil {
		mean, _ := MeanDeviation(v)
		return mean
	}
	i := strings.LastIndexByte(column, '_')
	v := f.Values(place, line, column[:max(i, 0)])
	if v == nil {
		return math.NaN()
	}
	_, sd := MeanDeviation(v)
	d := Interval(v)
	switch column[i:] {
	case "_sd":
		return sd
	case "_se":
		return sd / math.Sqrt(float64(len(v)))
	case "_low":
		return d.Low
	case "_high":
		return d.High
	case "_half":
		return d.High - d.Mean
	}
	return math.NaN()
}

// text returns what a table has in a column for a line at a place: a text, a number, or nil.
func (f *Found) text(place, line int, column string) any {
	p, l := f.Places[place], f.Lines[line]
	if v, ok := p.At[column]; ok {
		return v
	}
	if s, ok := f.words[cell{place, line, column}]; ok {
		return s
	}
	for _, words := range []map[string]string{p.Text, l.Text} {
		if s, ok := words[column]; ok {
			return s
		}
	}
	if column == "line" {
		return l.Name
	}
	if v := f.Stat(place, line, column); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return nil
}

// MeanDeviation returns the mean and the standard deviation, 0 for one value.
func MeanDeviation(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}

// Difference is a mean with its 95 % confidence interval by Student's t.
type Difference struct{ Mean, Low, High float64 }

// Interval returns the mean of d with its confidence interval, which one value has not: NaN.
func Interval(d []float64) Difference {
	if len(d) < 2 {
		return Difference{stat.Mean(d, nil), math.NaN(), math.NaN()}
	}
	mean, sd := stat.MeanStdDev(d, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.Quantile(0.975)
	half := t * sd / math.Sqrt(float64(len(d)))
	return Difference{mean, mean - half, mean + half}
}

// Paired returns by how much a exceeds b, which were measured in pairs.
func Paired(a, b []float64) Difference {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return Interval(d)
}

// Negligible is the largest error that is shown, and meant, as 0: what rounding and the
// solver's tolerances leave. It is far below what can be seen in a picture.
const Negligible = 1e-10

// Below reports whether a is less than b, or both are Negligible.
func Below(a, b float64) bool { return a < b || a <= Negligible && b <= Negligible }

// Agrees reports whether v, rounded to as many decimals as printed has, is printed.
func Agrees(v float64, printed string) bool {
	_, decimals, _ := strings.Cut(printed, ".")
	return strconv.FormatFloat(v, 'f', len(decimals), 64) == printed
}

// CheckOrdering checks a claim of a definition that each of better is better than each of
// worse: some of each, all different and among the known ones.
func CheckOrdering[M ~string](better, worse, known []M) error {
	return cmp.Or(check.Some("better and worse", len(better), len(worse)),
		check.Each("methods of a claim", slices.Concat(better, worse), check.Among(known)))
}

// Edge returns "largest" or "smallest" where the best value is an end of the grid of those tried,
// so that a better one may lie beyond. It returns "" inside the grid, and for a grid of one.
func Edge(best float64, tried []float64) string {
	least, most := slices.Min(tried), slices.Max(tried)
	switch {
	case least == most:
		return ""
	case best == most:
		return "largest"
	case best == least:
		return "smallest"
	}
	return ""
}
