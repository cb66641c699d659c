package problem

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// MechanismFlags select the mechanism that answers.
type MechanismFlags struct {
	name       string // "" where none was named
	Neighbours string
	Threshold  int
	CheckRatio float64
	Relation   accountant.Relation
}

// MechanismNames returns the values of --mechanism for which of holds.
func MechanismNames(of func(ensemble.Description) bool) (names []string) {
	for _, d := range ensemble.Mechanisms() {
		if of(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

func anyMechanism(ensemble.Description) bool { return true }

// IsBaseline reports whether noise functions are compared with the mechanism.
func IsBaseline(d ensemble.Description) bool { _, ok := d.Baseline(); return ok }

// Register adds the flags to a command.
func (f *MechanismFlags) Register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.name, "mechanism", "",
		"what answers: "+ensemble.OptimalTeachers+" (of two classes the optimum for teachers with a "+
			"promise of their own, the default where they have one), or with the same flags "+
			strings.Join(MechanismNames(IsBaseline), ", ")+"; or "+ensemble.OptimalCounts+
			" (the optimum by vote counts, the default else), "+
			strings.Join(MechanismNames(ensemble.Description.Calibrated), ", ")+
			", which take any classes, need --label-eps, --affected (or --data) and no promise of "+
			"the teachers")
	cli.OneOf(c, "mechanism", MechanismNames(anyMechanism)...)
	fl.IntVar(&f.Threshold, "threshold", 0, choose.CheckNames()+
		": votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be "+
		"chosen by these votes")
	fl.Float64Var(&f.CheckRatio, "check-ratio", ensemble.CheckRatio,
		choose.CheckNames()+": noise of that check, in units of the noise of the counts")
	f.RegisterRelation(c)
}

// RegisterRelation adds --neighbours alone.
func (f *MechanismFlags) RegisterRelation(c *cobra.Command) {
	c.Flags().StringVar(&f.Neighbours, "neighbours", "replace",
		"which datasets differ by one person in the teachers' promise and in --affected: \"replace\" a "+
			"record, or \"add-remove\" one")
	cli.OneOf(c, "neighbours", release.RelationNames()...)
}

// PrepareRelation parses --neighbours.
func (f *MechanismFlags) PrepareRelation() (err error) {
	f.Relation, err = release.ParseRelation(f.Neighbours)
	return err
}
