package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sketch"
	"github.com/darrm/darrm/sketch/wire"
)

// meanNotPrivate begins the help of every command that handles clients' vectors.
const meanNotPrivate = `This promises no privacy: messages are images of the clients' vectors, and no noise is
added.`

// NewMean makes the commands that send vectors' means in few numbers.
func NewMean(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "mean",
		Short: "Estimate the mean of many vectors from few numbers each; not private",
		Long: meanNotPrivate + `

n clients send k numbers each instead of their d, and the server estimates the mean of
their vectors. Estimators that use how alike the vectors are, as clients' gradients or
cluster centres often are, have a smaller error for the same numbers.

"darrm mean predict" says which estimator to use, and whether the vectors are alike
enough for it. Clients and server share a root; from it both draw the same projections,
which are never sent. docs/mean.md says when correlation pays, and
how a client in another language writes messages.`,
		Example: `  darrm mean predict --n 10 --k 102 --d 1024 --rho 0.5
  darrm mean simulate --n 10 --k 10,102 --d 1024 --rho 0,0.5,1
  darrm mean encode gradient.npy --k 102 --client 3 --root 7 --out 3.msg
  darrm mean decode *.msg --k 102 --d 1024 --root 7 --out mean.npy`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMeanPredict(a), newMeanSimulate(a), newMeanEncode(a), newMeanDecode(a))
	return c
}

// codecFlags holds the parameters that clients and server must agree on.
type codecFlags struct {
	estimator   sketch.Estimator
	k, bits     int
	root, round uint64
}

func (f *codecFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar((*string)(&f.estimator), "estimator", string(sketch.RandProjAvg),
		"the estimator, as darrm mean predict lists them; clients need to know its family only")
	fl.IntVar(&f.k, "k", 0, "numbers that a client sends")
	registerBits(c, &f.bits)
	fl.Uint64Var(&f.root, "root", 0,
		"the seed of all random projections; clients and server must use the same")
	fl.Uint64Var(&f.round, "round", 0, "the round's number; use a new one for each round")
}

func registerBits(c *cobra.Command, bits *int) {
	c.Flags().IntVar(bits, "bits", 64,
		"bits of each number: 64, or 1 to 16 to round them at random; EDEN takes 1 to 4")
}

// compressor returns the estimator for n clients and vectors of length d.
func (f *codecFlags) compressor(n, d int, rho float64, beta string) (sketch.Compared, error) {
	mode, err := sketch.ParseBetaMode(beta)
	if err != nil {
		return sketch.Compared{}, err
	}
	return f.estimator.New(sketch.Config{N: n, K: f.k, D: d, Root: f.root, Beta: mode}, rho, f.bits)
}

// maxVectors limits a file of vectors to 4 GiB.
const maxVectors = 4 << 30

// readVectors reads a .npy file of one vector, or of one per row.
func readVectors(ctx context.Context, a *cli.App, path string) (npy.Matrix, error) {
	r, err := a.Open(ctx, path, maxVectors)
	if err != nil {
		return npy.Matrix{}, err
	}
	defer r.Close() // only read from
	m, err := npy.ReadMatrix(r)
	if err != nil {
		return m, &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

func rowsOf(m npy.Matrix) [][]float64 {
	out := make([][]float64, m.Rows)
	for i := range out {
		out[i] = m.Row(i)
	}
	return out
}

// meanFault marks an unusable message as an error of the input.
func meanFault(path string, err error) error {
	if errors.Is(err, wire.ErrMessage) {
		return &release.InputError{Err: fmt.Errorf("%s: %w", cmp.Or(path, "messages"), err)}
	}
	return err
}
