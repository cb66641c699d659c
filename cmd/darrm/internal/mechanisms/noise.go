package mechanisms

import (
	"context"
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
)

// checkNoise refuses the flags that noise has no use for, where it is asked for by its name.
func (f *solveFlags) checkNoise(c *cobra.Command) error {
	if f.method != ensemble.LabelNoise {
		return nil
	}
	return cli.Refuse(c, "does not go with --mechanism "+ensemble.LabelNoise+", which is the same noise for all "+
		"expected votes and has no picture", "accuracy", "concentration", "prior-counts", "shares", "cost", "abstain",
		"plot")
}

// tooLarge returns why a table for many answers would be too large, nil where it is not.
func tooLarge(ctx context.Context, p answers.Problem) (limit, err error) {
	if _, err = answers.NewSystem(ctx, p); errors.As(err, new(*answers.SizeError)) {
		return err, nil
	}
	return nil, err
}

// priced finds noise that is priced by its labels.
func (f *solveFlags) priced(c *cobra.Command, a *cli.App, p answers.Problem) error {
	s, err := f.PriceNoise(c.Context(), a, noisymax.Problem{Teachers: p.K, Classes: p.Classes, Missing: p.Missing,
		Affected: p.Affected, Answers: p.Answers, Epsilon: p.Epsilon, Delta: p.Delta})
	if err != nil {
		return err
	}
	return f.files.write(c, a, release.Table{Noise: s.Table}, s.PricedAs("Found"), s.Unsaved)
}

// renderNoise writes noise that is priced by its label for people.
func renderNoise(w *terminal.Page, t *noisymax.Table) error {
	p := t.Problem()
	w.Printf("Noise for up to %d labels of K = %d votes for %d classes\n\n", p.Answers, p.Teachers, p.Classes)
	w.Text("  ", fmt.Sprintf("Noise: a whole number on each count, of the discrete normal law with σ = %v. The class of the "+
		"largest sum is the label, and of equal ones each is as likely. The label alone is priced.", t.Sigma()))
	renderGuarantee(w, answers.Problem{Affected: p.Affected, Missing: p.Missing, Answers: p.Answers, Epsilon: p.Epsilon,
		Delta: p.Delta})
	w.Text("  ", fmt.Sprintf("Certificate: at ε = %v the labels cost δ ≤ %s, over all counts that any votes may have, with "+
		"every rounding upward.", p.Epsilon, num.Outward(t.Certificate().Delta, 6, true)))
	w.Text("  ", "How often a label agrees with the majority depends on the votes: plan says it of those that are expected.")
	return nil
}
