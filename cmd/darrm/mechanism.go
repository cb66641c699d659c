package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// mechanismFlags choose what answers.
type mechanismFlags struct {
	name       string // "" where none was named
	neighbours string
	threshold  int
	checkRatio float64
	relation   accountant.Relation
}

// mechanismNames returns the values of --mechanism that the table has, those of some kind alone.
func mechanismNames(of func(ensemble.Description) bool) (names []string) {
	for _, d := range ensemble.Mechanisms() {
		if of(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

func anyMechanism(ensemble.Description) bool { return true }
func isBaseline(d ensemble.Description) bool { _, ok := d.Baseline(); return ok }

func (f *mechanismFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.name, "mechanism", "",
		"what answers: darrm (the optimal γ, the default for two classes), or with the same flags "+
			strings.Join(mechanismNames(isBaseline), ", ")+"; or "+ensemble.OptimalPlurality+
			" (the best for the vote counts, the default for more classes), "+
			strings.Join(mechanismNames(ensemble.Description.Calibrated), ", ")+
			", which take any classes, need --total-eps, --affected (or --data) and no promise of "+
			"the teachers")
	oneOf(c, "mechanism", mechanismNames(anyMechanism)...)
	fl.IntVar(&f.threshold, "threshold", 0, choose.CheckNames()+
		": votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be "+
		"chosen by these votes")
	fl.Float64Var(&f.checkRatio, "check-ratio", ensemble.CheckRatio,
		choose.CheckNames()+": noise of that check, in units of the noise of the counts")
	f.registerRelation(c)
}

func (f *mechanismFlags) registerRelation(c *cobra.Command) {
	c.Flags().StringVar(&f.neighbours, "neighbours", "replace",
		"which datasets differ by one person in the teachers' promise and in --affected: \"replace\" a "+
			"record, or \"add-remove\" one")
	oneOf(c, "neighbours", release.RelationNames()...)
}

func (f *mechanismFlags) prepareRelation() (err error) {
	f.relation, err = release.ParseRelation(f.neighbours)
	return err
}
