package training

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
)

// weightFlags hold the weights of records: a private column, cut to a public bound, times a public weight of the class.
type weightFlags struct {
	Column  string  `flag:"weights" help:"column of the weights of the records, from 0 on; private, as the records are"`
	Bound   float64 `flag:"weight-bound" help:"public bound for noise and steps; larger $weights are cut to it"`
	Classes string  `flag:"class-weights" help:"CLASS=WEIGHT,CLASS=WEIGHT…: public weights of classes, times those of the records; other classes have 1"`

	stated []classWeight // of --class-weights
	of     []float64     // by class; nil where each is 1
}

// classWeight is the weight of a class by its word.
type classWeight struct {
	Class  string  `json:"class"`
	Weight float64 `json:"weight"`
}

// weightReport describes the weights in a model's file.
type weightReport struct {
	Column  string        `json:"column,omitempty"`
	Bound   float64       `json:"bound,omitempty"`
	Classes []classWeight `json:"classes,omitempty"`
}

// weightNames are the flags, which candidates of a grid share.
var weightNames = []string{"weights", "weight-bound", "class-weights"}

// any reports whether there are weights.
func (f *weightFlags) any() bool { return f.Column != "" || f.Classes != "" }

// check refuses what can be refused before a file is read.
func (f *weightFlags) check(c *cobra.Command, task string) error {
	switch bounded := c.Flags().Changed("weight-bound"); {
	case bounded && f.Column == "":
		return cli.Usagef("--weight-bound goes with --weights: what it bounds")
	case f.Column != "" && !bounded:
		return cli.Usagef("--weight-bound must be given: larger --weights are cut to it, and it is public")
	case bounded && !(f.Bound > 0 && f.Bound <= data.MaxMagnitude):
		return cli.Usagef("--weight-bound = %g, but it must be above 0, and at most %g", f.Bound, float64(data.MaxMagnitude))
	case f.any() && c.Flags().Changed("grid"):
		return cli.Usagef("--grid is not for --weights and --class-weights: it scores each record once")
	case f.Classes == "":
		return nil
	case task == "linear":
		return cli.Usagef("--class-weights is not for --task linear, which has no classes")
	case strings.EqualFold(strings.TrimSpace(f.Classes), "balanced"):
		return cli.Usagef("--class-weights = balanced, but it must be CLASS=WEIGHT,…: balanced weights " +
			"would depend on the private records, and no charge covers that; state weights from public " +
			"knowledge")
	}
	given, err := list(f.Classes)
	if err != nil {
		return cli.Usagef("--class-weights = %q, but it must be CLASS=WEIGHT,CLASS=WEIGHT…", f.Classes)
	}
	for _, one := range given {
		at := strings.LastIndex(one, "=")
		w, err := 0.0, error(nil)
		if at >= 0 {
			w, err = data.ParseNumber(one[at+1:])
		}
		if at < 0 || err != nil || !(w >= 0 && w <= data.MaxMagnitude) {
			return cli.Usagef("--class-weights: %q, but it must be CLASS=WEIGHT, a weight from 0 on", one)
		}
		word := strings.TrimSpace(one[:at])
		if slices.ContainsFunc(f.stated, func(s classWeight) bool { return s.Class == word }) {
			return cli.Usagef("--class-weights: class %q is given twice", word)
		}
		f.stated = append(f.stated, classWeight{word, w})
	}
	return nil
}

// resolve finds the classes by the words of the response, which are 0 and 1 without categories.
func (f *weightFlags) resolve(m *prepare.Map) error {
	words := []string{"0", "1"}
	if m != nil && m.Response != nil && m.Response.Categories != nil {
		words = m.Response.Categories
	}
	if f.of = nil; f.stated == nil {
		return nil
	}
	f.of = make([]float64, len(words))
	for k := range f.of {
		f.of[k] = 1
	}
	for _, s := range f.stated {
		k := slices.Index(words, s.Class)
		if k < 0 {
			return cli.Usagef("--class-weights: class %q, but it must be one of %q", s.Class, words)
		}
		f.of[k] = s.Weight
	}
	if slices.Max(f.of) == 0 {
		return cli.Usagef("--class-weights = %q, but one must be above 0", f.Classes)
	}
	return nil
}

// most returns the public bound on the weight of a record, 0 without weights.
func (f *weightFlags) most() float64 {
	if !f.any() {
		return 0
	}
	most := 1.0
	if f.Column != "" {
		most = f.Bound
	}
	if f.of != nil {
		most *= slices.Max(f.of)
	}
	return most
}

// weigh returns the records with their weights, cut to the bound, times those of their classes.
func (f *weightFlags) weigh(r *data.Records) (*data.Records, error) {
	if !f.any() {
		return r, nil
	}
	weights := r.Weights()
	if weights == nil {
		weights = make([]float64, r.Len())
		for i := range weights {
			weights[i] = 1
		}
	}
	for i := range weights {
		if f.Column != "" {
			weights[i] = min(weights[i], f.Bound)
		}
		y := r.Response(i)
		for k, w := range f.of { // a response of no class is the task's to refuse
			if y == float64(k) {
				weights[i] *= w
			}
		}
	}
	return r.Weighted(weights)
}

// report describes the weights, nil for none.
func (f *weightFlags) report() *weightReport {
	if !f.any() {
		return nil
	}
	return &weightReport{Column: f.Column, Bound: f.Bound, Classes: f.stated}
}
