package problem

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

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

// RegisterMechanism adds the flags of the mechanism that answers, and --neighbours.
func (f *Flags) RegisterMechanism(c *cobra.Command) {
	f.Register(c, "mechanism", "threshold", "check-ratio", "neighbours")
	c.Flag("mechanism").Usage = "what answers: " + ensemble.OptimalTeachers + " (of two classes the optimum for teachers with a " +
		"promise of their own, the default where they have one), or with the same flags " +
		strings.Join(MechanismNames(IsBaseline), ", ") + "; or " + ensemble.OptimalCounts +
		" (the optimum by vote counts, the default else), " +
		strings.Join(MechanismNames(ensemble.Description.Calibrated), ", ") +
		", which take any classes, need --label-eps, --affected (or --data) and no promise of " +
		"the teachers"
	c.Flag("threshold").Usage = choose.CheckNames() +
		": votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be " +
		"chosen by these votes"
	c.Flag("check-ratio").Usage = choose.CheckNames() + ": noise of that check, in units of the noise of the counts"
}

// ReadAnyTable reads and certifies a table file within the time limit.
func (f *TimeoutFlag) ReadAnyTable(c *cobra.Command, a *cli.App,
	path string) (release.Table, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	bar.Wait("checking the table")
	t, err := checkTable(ctx, a, path)
	bar.Stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // not an error of reading, which it may be wrapped in
	}
	return t, f.Late("check "+path, err)
}

func checkTable(ctx context.Context, a *cli.App, path string) (t release.Table, err error) {
	r, err := a.Open(ctx, path, release.MaxTableBytes)
	if err != nil {
		return t, err
	}
	defer r.Close()
	if t, err = release.ReadTable(ctx, r); err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
