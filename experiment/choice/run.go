package choice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/choose"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/prepare"
)

// parameters are the parameters of kind choice.
type parameters struct {
	// Judges are the tables of files that judge; else the others and MadeUp.
	Judges  bool       `json:"judges"`
	Tables  []string   `json:"tables"` // of those, these alone; all if empty
	MadeUp  []madeUp   `json:"made_up"`
	Ratios  []float64  `json:"ratios"` // values of n·ε/d
	Epsilon [2]float64 `json:"eps"`    // the least and the largest
	Least   int        `json:"least_records"`
	Most    int        `json:"most_records"`
	Test    int        `json:"most_test"` // records that judge at most
	// Seeds are the repetitions of a cell, of which Choosing choose its best method, and the others judge.
	Seeds    int    `json:"seeds"`
	Choosing int    `json:"choosing"`
	Claims   claims `json:"claims"`
}

// methods are those that the rule chooses among.
var methods = []string{"dp-sgd", "sufficient-statistics", "objective-perturbation", "output-perturbation", "phased-sgd"}

// rule is the method that package choose takes.
const rule = "rule"

// What the rule takes with another centre or radius. None is the best method of a cell.
const (
	zero  = "zero"  // 0 stays 0 in ranges that have it
	short = "short" // records of length 2
	long  = "long"  // records as long as their columns make them
)

var geometries = []string{zero, short, long}

// lines are all that is measured.
func lines() []string { return slices.Concat([]string{rule}, methods, geometries) }

func (p *parameters) Validate() error {
	err := cmp.Or(check.Some("ratios", len(p.Ratios)),
		check.Each("ratios", p.Ratios, check.AtMost(1e9)),
		check.UpTo("eps", p.Epsilon[0], 100), check.UpTo("eps", p.Epsilon[1], 100),
		check.Whole("least_records", p.Least, 2, 1<<20), check.Whole("most_records", p.Most, p.Least, 1<<20),
		check.Whole("most_test", p.Test, 1, 1<<20), check.Whole("seeds", p.Seeds, 3, 1000),
		check.Whole("choosing", p.Choosing, 1, p.Seeds-2), p.Claims.validate())
	if err == nil && !(p.Epsilon[0] <= p.Epsilon[1]) {
		err = check.Want("eps", p.Epsilon, "the least first")
	}
	for _, m := range p.MadeUp {
		err = cmp.Or(err, m.validate())
	}
	if err == nil {
		_, err = p.subjects()
	}
	return err
}

// subject is a table of either kind.
type subject struct {
	name, title, task string
	classes           int // 0 of numbers
	file              *table
	made              *madeUp
}

// subjects lists the tables of the run.
func (p *parameters) subjects() (list []subject, err error) {
	all, err := tables()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Judge == p.Judges && (p.Tables == nil || slices.Contains(p.Tables, t.Name)) {
			list = append(list, subject{t.Name, t.Title, t.task(), len(t.Classes), &t, nil})
		}
	}
	for _, name := range p.Tables {
		if !slices.ContainsFunc(list, func(s subject) bool { return s.name == name }) {
			return nil, check.Want("tables", fmt.Sprintf("%q", name), "tables of the study, or of its judges")
		}
	}
	for _, m := range p.MadeUp {
		list = append(list, subject{m.Name, m.Title, m.task(), m.Classes, nil, &m})
	}
	return list, nil
}

// folder is below Options.Data.
const folder = "choice"

// NeedsData returns the folder of the tables' files.
func (p *parameters) NeedsData() string {
	list, _ := p.subjects()
	if slices.ContainsFunc(list, func(s subject) bool { return s.file != nil }) {
		return folder
	}
	return ""
}

// Inputs returns the hashes of the files that are read, which tables.json states.
func (p *parameters) Inputs(_ context.Context, root string) (map[string]string, error) {
	out := map[string]string{}
	list, err := p.subjects()
	for _, s := range list {
		if s.file != nil {
			maps.Copy(out, s.file.Files)
		}
	}
	return out, err
}

// Steps: one for each table.
func (p *parameters) Steps() int {
	list, _ := p.subjects()
	return len(list)
}

// outcome is one table. Lists go with Cells.
type outcome struct {
	Cells  []cell                 `json:"cells"`
	Dim    int                    `json:"dim"`
	Takes  []string               `json:"takes"`  // the rule's methods
	Scores map[string][][]float64 `json:"scores"` // by method, cell and seed; none of a method that is not for the task
}

func (p *parameters) Run(r *experiment.Run) error {
	list, err := p.subjects()
	if err != nil {
		return err
	}
	var found []outcome
	for _, s := range list {
		var hashes map[string]string
		if s.file != nil {
			hashes = s.file.Files
		}
		key := []any{"choice 1", s.name, hashes, s.made, p.Ratios, p.Epsilon, p.Least, p.Most, p.Test, p.Seeds, r.Seed}
		o, err := experiment.Step(r, s.name, key, func() (outcome, error) { return p.measure(r, s) })
		if err != nil {
			return err
		}
		found = append(found, o)
	}
	return p.report(r, list, found)
}

// cells returns the places of a table: ε from n·ε/d at all records, and fewer records where ε would be below the
// least. A value that neither reaches is left out.
func (p *parameters) cells(n, d int) (list []cell) {
	n = min(n, p.Most)
	for _, ratio := range p.Ratios {
		eps := min(max(ratio*float64(d)/float64(n), p.Epsilon[0]), p.Epsilon[1])
		records := int(math.Round(ratio * float64(d) / eps))
		if records <= n && records >= p.Least {
			list = append(list, cell{ratio, records, eps})
		}
	}
	return list
}

// measure trains all methods on a table.
func (p *parameters) measure(r *experiment.Run, s subject) (o outcome, err error) {
	read := map[string]records{} // by center
	for _, center := range []string{"", prepare.Zero} {
		if s.made != nil {
			read[center], err = s.made.records(r.Seed, center)
		} else {
			read[center], err = s.file.read(r, filepath.Join(r.Data, folder), center)
		}
		if err != nil {
			return o, err
		}
	}
	usual := read[""]
	n := usual.all.Len()
	if usual.test == nil {
		n -= int(testShare * float64(n))
	}
	o.Dim = usual.all.Dim() + 1
	o.Cells = p.cells(n, o.Dim)
	o.Takes, o.Scores = make([]string, len(o.Cells)), map[string][][]float64{}
	for _, method := range lines() {
		scores := make([][]float64, len(o.Cells))
		for i, c := range o.Cells {
			if method == o.Takes[i] { // it is the same training
				scores[i] = o.Scores[rule][i]
				continue
			}
			for seed := range uint64(p.Seeds) {
				a, err := s.arm(method, c, o.Dim, usual.bound)
				if err != nil {
					return o, err
				}
				o.Takes[i] = a.takes
				draw, err := read[a.center].draw(c.Records, p.Test, r.Seed<<16+seed)
				if err != nil {
					return o, err
				}
				v, err := draw.train(r, a.name, a.options, a.radius, s.classes, r.Seed<<16+seed)
				var broken *check.Error
				if errors.As(err, &broken) { // the method is not for this task, or for so few records
					scores[i] = nil
					break
				}
				if err != nil {
					return o, err
				}
				scores[i] = append(scores[i], v)
			}
		}
		o.Scores[method] = scores
	}
	return o, nil
}

// arm is a method with its geometry.
type arm struct {
	name, center, takes string
	radius              float64 // of records without the constant feature
	options             convex.Options
}

// arm returns a method for a cell: that of the rule, or a stated one, whose records are shorter: on the tables of
// the study the others are better so.
func (s subject) arm(method string, c cell, d int, bound float64) (a arm, err error) {
	problem := choose.Problem{Task: s.task, Records: c.Records, Dim: d, Target: c.target(),
		Neighbours: accountant.ReplaceOne}
	if s.classes > 2 {
		problem.Classes = s.classes
	}
	a.radius = choose.Radius(bound)
	switch method {
	case rule, "dp-sgd":
	case zero:
		a.center = prepare.Zero
	case long:
		a.radius = bound
	default:
		a.radius = min(a.radius, shorter)
	}
	length := geometry.WithIntercept(a.radius, 2)
	problem.Radius = func(float64) float64 { return length }
	choice, err := choose.Method(problem)
	if err != nil {
		return a, err
	}
	a.name, a.takes, a.options = choice.Name, choice.Name, choice.Options
	if method == rule || slices.Contains(geometries, method) {
		return a, nil
	}
	a.name = method
	a.options = convex.Options{Setting: choice.Options.Setting}
	switch method {
	case "dp-sgd":
		a.options.Rate = 1
	case "objective-perturbation", "output-perturbation", "phased-sgd":
		a.options.Set, err = geometry.ParseSet(fmt.Sprintf("l2:%.3g", largestScore/length), d)
	}
	return a, err
}

const (
	shorter      = 2 // bound on the records of methods that have a ball or sums
	largestScore = 5 // of models in a ball
)
