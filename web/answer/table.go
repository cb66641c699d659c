package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/web/answer/chart"
)

// Table is a table that was checked from scratch.
type Table struct {
	Verdict string `json:"verdict"` // that of darrm verify
	Picture string `json:"picture"` // SVG
	Lines   []Line `json:"lines"`
}

// Line is a line of a table's certificate, with what it means.
type Line struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Means string `json:"means"`
}

// means explains the lines of certificates, by the names that they have in a file.
var means = map[string]string{
	"k":             "The number of teachers, each of which casts one vote.",
	"classes":       "The number of answers that a teacher may choose from.",
	"m":             "One answer costs m times what one teacher's own privacy does.",
	"epsilon":       "ε of each teacher's own promise; inf where teachers promise nothing.",
	"teacher_delta": "δ of each teacher's own promise.",
	"total_epsilon": "ε of the promise. The factor e^ε is by how much more likely any answer can be with a person's record than with another in its place.",
	"delta":         "δ of the promise: a chance that is left out of that factor.",
	"affected":      "The most votes that one person's record can change.",
	"missing_votes": "Whether a teacher may cast no vote.",
	"shape":         "Which functions of the votes were searched. It decides what is useful and never what is private.",
	"prior_mean":    "How often a teacher was presumed to vote for the likelier class. It decides what is useful and never what is private.",
	"prior_counts":  "The votes that were presumed. They decide what is useful and never what is private.",
	"accuracy":      "How often a teacher was presumed to be right. It decides what is useful and never what is private.",
	"concentration": "How uneven the classes' shares of the votes were presumed to be. It decides what is useful and never what is private.",
	"abstain_value": "What no class was worth as an answer.",
	"objective":     "What the table is best for. It decides what is useful and never what is private.",
	"answers":       "The number of answers that the promise covers together.",
	"noise":         "The law of the whole number that is added to each count. The class of the largest sum is the answer.",
	"sigma":         "σ of that noise.",
	"law":           "The family from which the table was chosen. Only its integers are priced.",
	"price":         "How finely the cost of all answers was worked out; every rounding is upward.",

	"expected_error":  "How far the answer's probability is from the plain majority's, on average under the prior.",
	"disagreement":    "How often an answer is expected to differ from the majority of its votes.",
	"expected_errors": "The same for several priors.",
	"baselines":       "The error of published mechanisms with the same promise.",
	"value":           "How often an answer is expected to be a class with the most votes.",
	"upper_bound":     "No private mechanism has a larger value under this prior: the proof in the file was worked out again.",
	"law_bound":       "No mechanism of this family has a larger value.",
	"gap":             "The distance between the table and that bound: how much better any other table can be.",
	"hash":            "A fingerprint of the table's integers, or of the noise and its promise.",

	"certificate.method":                "How all constraints were checked: by a search of all of them, or because the teachers' own privacy suffices.",
	"certificate.constraints":           "The number of inequalities that privacy needs. All of them were evaluated again, rounding errors included.",
	"certificate.bound":                 "The largest value of the privacy constraint that occurs, rounded up.",
	"certificate.right_hand_side":       "What that value may be at most, rounded down: e^ε - 1 + 2δ.",
	"certificate.slack":                 "What is left between the two. It is not negative, so the promise holds.",
	"certificate.objective_lower_bound": "No private function has a smaller error: the proof in the file was worked out again.",
	"certificate.gap":                   "The distance between the table and that bound: how much better any other table can be.",
	"certificate.pairs":                 "The pairs of votes that differ in one person's record. All of them were compared.",
	"certificate.rows":                  "The inequalities of these pairs. All of them hold, in whole numbers.",
	"certificate.spent":                 "The largest chance that a pair leaves out of the factor e^ε: at most δ.",
	"certificate.delta":                 "What all answers together cost at the promised ε, rounded up: at most δ.",
}

// Check certifies a table file from scratch, as darrm verify does. Cost: that of release.ReadTable.
func Check(ctx context.Context, data []byte) (*Table, error) {
	t, err := release.ReadTable(ctx, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out := &Table{Verdict: t.Verdict()}
	var summary []byte
	switch {
	case t.Gamma != nil:
		summary, err = t.Gamma.Summary()
		out.Picture = curveOf(t.Gamma.Func().Values())
	case t.Plurality != nil:
		summary, err = t.Plurality.Summary()
		p := t.Plurality.Problem()
		out.Picture, err = probabilities(p.K, p.Classes, t.Plurality.Law, err)
	case t.Noise != nil:
		var m *ensemble.Mechanism
		if m, err = ensemble.NoiseOfAnswers(t.Noise.Certified, accountant.ReplaceOne); err != nil {
			return nil, err
		}
		summary, err = t.Noise.MarshalJSON()
		s := m.Setting()
		out.Picture, err = probabilities(s.K, s.Classes, m.Probabilities, err)
	default:
		summary, err = t.Answers.Summary()
		p := t.Answers.Problem()
		out.Picture, err = probabilities(p.K, p.Classes, t.Answers.Certified.Law, err)
	}
	if err != nil {
		return nil, err
	}
	out.Lines, err = lines("", summary)
	if t.Gamma != nil && gamma.Dips(t.Gamma.Func().Values()) {
		out.Lines = append(out.Lines, Line{"γ(l)", "dips", gamma.WhyItDips})
	}
	return out, err
}

// lines lists the fields of a summary that have a meaning for people, in their order.
func lines(within string, summary []byte) (out []Line, err error) {
	d := json.NewDecoder(bytes.NewReader(summary))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		name := within + fmt.Sprint(key)
		if name == "certificate" {
			inner, err := lines("certificate.", value)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		} else if m, ok := means[name]; ok {
			out = append(out, Line{Name: name, Value: shown(value), Means: m})
		}
	}
	return out, nil
}

// shown returns a value of a summary for people: an object's fields one after the other.
func shown(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) == nil && fields != nil {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			parts = append(parts, name+" "+shown(fields[name]))
		}
		return strings.Join(parts, ", ")
	}
	const most = 200
	if len(value) > most {
		return string(value[:most]) + "…"
	}
	return string(value)
}

// curveOf draws a noise function.
func curveOf(values []float64) string {
	l := chart.Line{Class: "c1", Y: values}
	for i := range values {
		l.X = append(l.X, float64(i))
	}
	return (&chart.Chart{Title: "γ(l): probability of the majority itself",
		X: "votes for the second class", Low: 0, High: 1, Lines: []chart.Line{l}}).SVG()
}

// probabilities draws what the first class is answered with, by its votes, where the other classes
// share the others as evenly as may be.
func probabilities(k, classes int, law func([]int) ([]float64, error), err error) (string, error) {
	if err != nil {
		return "", err
	}
	l := chart.Line{Class: "c1"}
	for n := range k + 1 {
		counts := make([]int, classes)
		counts[0] = n
		for i := range k - n {
			counts[1+i%(classes-1)]++
		}
		p, err := law(counts)
		if err != nil {
			return "", err
		}
		l.X, l.Y = append(l.X, float64(n)), append(l.Y, p[0])
	}
	return (&chart.Chart{Title: "How often a class is the answer", X: "its votes, of " +
		strconv.Itoa(k) + "; the other classes share the rest evenly",
		Low: 0, High: 1, Percent: true, Lines: []chart.Line{l}}).SVG(), nil
}
