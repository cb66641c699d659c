package research

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sketch"
)

// predictFlags are the flags of mean predict.
type predictFlags struct {
	n, k, d int
	rho     float64
	vectors string
}

func newMeanPredict(a *cli.App) *cobra.Command {
	f := predictFlags{}
	c := &cobra.Command{
		Use:   "predict --n clients --k numbers --d length",
		Short: "Say which estimator to use, and whether the correlation is enough",
		Long: meanNotPrivate + `

Predict every estimator's error, and say which to use. With --rho, or --vectors, how alike
the vectors are is known: ρ* = R/(n-1), 0 for orthogonal vectors, 1 for identical ones.
Without, the answer is how alike they must be.

Errors are mean squared errors in units of Q/n², the mean squared length by n: by them
estimators compare whatever the vectors. Avg takes the vectors for half alike, Opt is
told ρ*, Max takes them for identical. EDEN rounds all coordinates instead of sending a
few numbers; its error does not depend on how alike vectors are.`,
		Example: `  darrm mean predict --n 10 --k 102 --d 1024
  darrm mean predict --n 10 --k 102 --d 1024 --rho 0.9
  darrm mean predict --vectors gradients.npy --k 100`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.IntVar(&f.n, "n", 0, "number of clients")
	fl.IntVar(&f.k, "k", 0, "numbers that a client sends, of 64 bits")
	fl.IntVar(&f.d, "d", 0, "length of the vectors")
	fl.Float64Var(&f.rho, "rho", 0, "how alike the vectors are, ρ*")
	fl.StringVar(&f.vectors, "vectors", "", "take n, d and ρ* from the rows of this file (.npy)")
	cli.ExcludeEach(c, "the vectors say it", "vectors", "n", "d", "rho")
	return c
}

func (f *predictFlags) run(c *cobra.Command, a *cli.App) error {
	star := math.NaN()
	if f.vectors != "" {
		if err := cli.Require(c, "k"); err != nil {
			return err
		}
		m, err := readVectors(c.Context(), a, f.vectors)
		if err != nil {
			return err
		}
		r, q := sketch.Correlation(rowsOf(m))
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return &release.InputError{Err: fmt.Errorf("%s: the vectors' squared lengths add up to %g, but "+
				"they "+
				"must be finite", f.vectors, q)}
		}
		f.n, f.d, star = m.Rows, m.Columns, r/float64(max(1, m.Rows-1))
	} else {
		if err := cli.Require(c, "n", "k", "d"); err != nil {
			return err
		}
		if c.Flags().Changed("rho") {
			if star = f.rho; math.IsNaN(star) { // which is how Advise is told that it is not known
				return cli.Usagef("--rho = NaN, but it must be a number")
			}
		}
	}
	advice, err := sketch.Advise(c.Context(), f.n, f.k, f.d, star)
	if err != nil {
		return err
	}
	return a.Show(advice, func(w *terminal.Page) error { return writeAdvice(w, advice) })
}

// shortError writes an error, or "huge" for one too large to be of use.
func shortError(v float64) string {
	if math.IsInf(v, 1) || v >= 1e6 {
		return "huge"
	}
	return fmt.Sprintf("%.4g", v)
}

func writeAdvice(w *terminal.Page, a sketch.Advice) error {
	w.Text("", adviceText(a))
	w.Printf("\n")
	known := !math.IsNaN(a.Star)
	header := []string{"estimator", "numbers × bits", "ρ* = 0", "ρ* = 0.5", "ρ* = 1"}
	if known {
		header = append(header, fmt.Sprintf("ρ* = %.3g", a.Star))
	}
	var cells [][]string
	for _, r := range slices.Concat(a.Rows, a.SameBits) {
		row := []string{string(r.Estimator), fmt.Sprintf("%d × %d", r.Sent, r.Bits), shortError(r.None),
			shortError(r.Half), shortError(r.Full)}
		if known {
			row = append(row, shortError(r.Here))
		}
		cells = append(cells, row)
	}
	if err := w.Table(terminal.TextTable{Header: header, Rows: cells}); err != nil {
		return err
	}
	at := "ρ* = 0.5"
	if known {
		at = fmt.Sprintf("ρ* = %.3g", a.Star)
	}
	w.Printf("\n")
	w.Text("", fmt.Sprintf("Errors are in units of Q/n², the mean squared length by n. The last "+
		"three rows spend the same %d bits per client on more numbers of fewer bits. How many is best "+
		"depends on ρ*, and each column has the error of its own best choice; \"numbers × bits\" is "+
		"the choice for %s.", 64*a.K, at))
	return nil
}

func bitsText(bits int) string {
	if bits == 1 {
		return "1 bit"
	}
	return fmt.Sprintf("%d bits", bits)
}

// adviceText gives advice in sentences: the best estimator, whether the correlation suffices for
// Rand-Proj-Spatial(Avg), and a rounded estimator if its error is smaller for the same bits.
func adviceText(a sketch.Advice) string {
	var s []string
	say := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	threshold := fmt.Sprintf("from ρ* = %.3f on", a.Threshold)
	if a.Threshold > 1 {
		threshold = "at no ρ*"
	}
	if math.IsNaN(a.Star) && a.Best == sketch.RandK {
		say("Use Rand-k: with these n, k and d Rand-Proj-Spatial(Avg) has a smaller error at no ρ*.")
		return strings.Join(s, " ")
	}
	if math.IsNaN(a.Star) {
		also := ""
		if a.OverSpatial <= 1 {
			also = fmt.Sprintf(", and than Rand-k-Spatial(Avg) from %.3f on", a.OverSpatial)
		}
		say("Rand-Proj-Spatial(Avg) has a smaller error than Rand-k %s%s.", threshold, also)
		say("Use it for vectors that are more alike than that, and Rand-k for others. Opt, which must " +
			"be told ρ*, is never worse than either.")
		say("For numbers of fewer bits see the last rows: EDEN's error does not depend on ρ*.")
		say("With --rho, or one round's vectors as --vectors, the answer is about yours.")
		return strings.Join(s, " ")
	}
	use := a.Rows[slices.IndexFunc(a.Rows, func(r sketch.AdviceRow) bool {
		return r.Estimator == a.Best
	})]
	if a.Best == sketch.RandK {
		say("Use Rand-k: at ρ* = %.3g nothing that sends %d numbers of 64 bits is better by more "+
			"than 1 %%.", a.Star, a.K)
	} else {
		say("Of those that send %d numbers of 64 bits use %s: its error is %.3g %% of Rand-k's.", a.K,
			a.Best.Title(), 100*use.Here/a.Rows[0].Here)
	}
	enough := "enough"
	if a.Star < a.Threshold {
		enough = "not enough"
	}
	say("The correlation is %s for Rand-Proj-Spatial(Avg), which need not know it: that is better "+
		"than Rand-k %s.", enough, threshold)
	same := slices.MinFunc(a.SameBits, func(x, y sketch.AdviceRow) int {
		return cmp.Compare(x.Here, y.Here)
	})
	if same.Here < use.Here {
		say("Smaller still, for the same bits, is the error of %s with %d numbers of %s: %.3g "+
			"against %.3g.", same.Estimator.Title(), same.Sent, bitsText(same.Bits), same.Here, use.Here)
	}
	return strings.Join(s, " ")
}
