package training

import (
	"cmp"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/selection"
)

// shortened returns the records with features as long as --radius, where it is given. The constant
// feature of --intercept comes after, so that it is 1 of every record.
func (f *trainFamily) shortened(r *data.Records) *data.Records {
	if radius := f.common().Radius; radius > 0 && !f.varies("radius") && !f.varies("set") {
		return train.Shortened(r, radius, f.dual())
	}
	return r
}

// prepared returns the records as the method takes them: shortened, and with --intercept.
func (f *trainFamily) prepared(r *data.Records) *data.Records {
	if r = f.shortened(r); f.common().intercept {
		r = r.WithIntercept()
	}
	return r
}

// classesOf returns what several classes are called, nil for two or none.
func (f *trainFamily) classesOf(records recordsRead) []string {
	if f.classes != nil && f.classes() > 0 {
		if m := records.prepare; m != nil && m.Response != nil && m.Response.Categories != nil {
			return m.Response.Categories
		}
		words := make([]string, f.classes()) // of a file whose classes are numbers
		for k := range words {
			words[k] = strconv.Itoa(k)
		}
		return words
	}
	return nil
}

// split returns the rule that leaves records out, nil for none.
func (f *trainFamily) split() *prepare.HoldOut {
	if f.HoldOut == 0 {
		return nil
	}
	return &prepare.HoldOut{Share: f.HoldOut,
		ByContent: f.relation() == accountant.AddOrRemoveOne}
}

// learnFrom returns the records that are not held out.
func (f *trainFamily) learnFrom(r *data.Records) (*data.Records, error) {
	h := f.split()
	if h == nil {
		return r, nil
	}
	learn, held, err := h.Split(r)
	if err == nil && learn == nil {
		return nil, cli.Usagef("--hold-out = %g, but it must leave records to learn from", f.HoldOut)
	}
	if f.TestEps > 0 && held != nil {
		f.held = f.prepared(held.Unweighted()) // a score counts each record once
	}
	return learn, err
}

// recordsRead describes the training records in a model's file.
type recordsRead struct {
	name, response string
	columns        []string
	standin        bool
	prepare        *prepare.Map // nil of files of other formats
	n              int          // public figure of how many there are
}

// ruled returns the map, nil where it has no rule.
func ruled(m *prepare.Map) *prepare.Map {
	if m == nil || m.Plain() {
		return nil
	}
	return m
}

// algorithm reads the records and sets the training's algorithm and measure.
func (f *trainFamily) algorithm(c *cobra.Command, a *cli.App,
	t *training) (recordsRead, train.Plan, error) {
	read := recordsRead{name: filepath.Base(f.private)}
	priced := func(n, d int) (train.Plan, error) {
		n = cmp.Or(f.count, n)
		read.n = n
		return pricing(c, a, func() (train.Plan, error) {
			return f.selectFlags.plan(n, d, &f.common().privacyFlags, f.about().task, f.about().link,
				func() (train.Plan, error) { return f.checkedPlan(c, n, d, len(f.points) > 0) })
		})
	}
	if f.sparse != nil && f.sparse() && len(f.points) == 0 &&
		f.formatOf(f.private) == formatLIBSVM && !f.common().intercept && f.HoldOut == 0 {
		records, err := f.readSparse(c, a, f.private)
		if err != nil {
			return read, train.Plan{}, err
		}
		plan, err := priced(records.Len(), records.Dim())
		if err == nil {
			t.measure = f.measureSparse(records)
			t.algorithm, err = plan.TrainSparse(records)
		}
		return read, plan, err
	}
	records, err := f.records(c, a, &read)
	if err != nil {
		return read, train.Plan{}, err
	}
	plan, err := priced(records.Len(), records.Dim())
	if err == nil {
		t.measure = f.measure(records)
		t.algorithm, err = plan.Train(records)
	}
	return read, plan, err
}

// records reads the records, with --intercept, and their description for a model's file.
func (f *trainFamily) records(c *cobra.Command, a *cli.App,
	read *recordsRead) (*data.Records, error) {
	describe := func(r *data.Records) {
		read.columns, read.response, read.prepare = r.Columns(), r.ResponseName(), f.mapped
	}
	if f.methods.take != nil {
		set, err := f.Open(c, a, f.common().Task)
		if err != nil {
			return nil, err
		}
		read.name, read.standin = set.Name, set.Standin
		describe(set.Private)
		if set.Private, err = f.learnFrom(set.Private); err != nil {
			return nil, err
		}
		f.SayShared(a, set)
		set.Private = f.shortened(set.Private)
		return f.methods.take(set, f.SharedRecords)
	}
	records, err := f.read(c, a, f.private, f.labels, reading{responses: true})
	if err != nil {
		return nil, err
	}
	if err := f.checkClasses(); err != nil {
		return nil, err
	}
	describe(records)
	if f.methods.weigh != nil {
		if records, err = f.methods.weigh(records); err != nil {
			return nil, err
		}
	}
	if records, err = f.learnFrom(records); err != nil {
		return nil, err
	}
	return f.prepared(records), nil
}

// checkClasses refuses several classes where no model is of several.
func (f *trainFamily) checkClasses() error {
	m := f.mapped
	if m == nil || m.Response == nil || len(m.Response.Categories) <= 2 {
		return nil
	}
	count := len(m.Response.Categories)
	switch {
	case f.classes != nil && f.methods.complete == nil && f.classes() != count:
		return cli.Usagef("--categories of the response: %d words are for darrm train FILE, without a "+
			"method's name, or --task softmax:%d", count, count)
	case f.classes != nil && f.classes() == count && f.about().link == model.LinkSoftmax:
		return nil
	case f.classes == nil:
		return cli.Usagef("--categories of the response: %d words are for darrm train FILE, without a "+
			"method's name", count)
	case f.classes() == 0 || len(f.points) > 0:
		return cli.Usagef("--grid is not for %d classes", count)
	}
	return nil
}

// checkTest refuses --score-eps without records to test on, or where no score is of one record.
// It turns the ε of a person into that of a row, as perRow does.
func (f *trainFamily) checkTest(c *cobra.Command) error {
	if !c.Flags().Changed("score-eps") {
		return nil
	}
	if f.HoldOut == 0 {
		return cli.Usagef("--score-eps goes with --hold-out: the records that the model is scored on")
	}
	if f.methods.take == nil && (f.about().link == model.LinkMetric || f.isNetwork()) {
		return cli.Usagef("--score-eps is not for %s: it scores linear models", f.common().Method)
	}
	if f.varies("radius") || f.varies("set") { // a candidate shortens records by its own
		return cli.Usagef("--score-eps is not for --grid radius= or set=")
	}
	if f.Rows > 1 && f.TestEps > 0 {
		f.TestEps = f.TestEps / float64(f.Rows) * (1 - 0x1p-49) // rounded down, as train.ForGroup
	}
	if f.methods.take != nil { // whose task is known with the records
		return nil
	}
	return f.test(f.relation()).Check()
}

// isNetwork reports whether the task is a network.
func (f *trainFamily) isNetwork() bool {
	l, err := loss.ParseSized(f.about().task)
	_, network := l.(loss.Network)
	return err == nil && network
}

// test returns the test of the model on the records held out.
func (f *trainFamily) test(relation accountant.Relation) selection.HeldOut {
	k := f.about()
	s, _ := f.scoreOf(k.task, k.link) // the task is one of the family's
	if f.methods.score != nil {
		f.methods.score(&s)
	}
	return selection.HeldOut{Score: s, Epsilon: f.TestEps, Relation: relation}
}
