package sketch

import (
	"context"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
)

// Estimator is the name of an estimator, as commands and experiments write it.
type Estimator string

// The estimators. Avg takes the vectors for half alike, Opt knows how alike they are, Max
// takes them for identical, Plug estimates it from the messages.
const (
	RandK            Estimator = "rand-k"
	RandKSpatialAvg  Estimator = "rand-k-spatial-avg"
	RandKSpatialOpt  Estimator = "rand-k-spatial-opt"
	RandKSpatialMax  Estimator = "rand-k-spatial-max"
	RandProjAvg      Estimator = "rand-proj-spatial-avg"
	RandProjOpt      Estimator = "rand-proj-spatial-opt"
	RandProjMax      Estimator = "rand-proj-spatial-max"
	RandProjPlug     Estimator = "rand-proj-spatial-plug"
	RandKWangni      Estimator = "wangni"
	TopKInduced      Estimator = "induced"
	RotatedQuantised Estimator = "eden"
)

var estimatorTitles = []struct {
	name  Estimator
	title string
}{
	{RandK, "Rand-k"},
	{RandKSpatialAvg, "Rand-k-Spatial(Avg)"}, {RandKSpatialOpt, "Rand-k-Spatial(Opt)"},
	{RandKSpatialMax, "Rand-k-Spatial(Max)"},
	{RandProjAvg, "Rand-Proj-Spatial(Avg)"}, {RandProjOpt, "Rand-Proj-Spatial(Opt)"},
	{RandProjMax, "Rand-Proj-Spatial(Max)"}, {RandProjPlug, "Rand-Proj-Spatial(plug-in)"},
	{RandKWangni, "Rand-k(Wangni)"}, {TopKInduced, "Induced"}, {RotatedQuantised, "EDEN"},
}

// estimators returns all names.
func estimators() []Estimator {
	out := make([]Estimator, len(estimatorTitles))
	for i, e := range estimatorTitles {
		out[i] = e.name
	}
	return out
}

// Title returns the estimator's name for people.
func (e Estimator) Title() string {
	for _, t := range estimatorTitles {
		if t.name == e {
			return t.title
		}
	}
	return string(e)
}

// Check refuses an estimator that is unknown.
func (e Estimator) Check() error { return check.Known("estimator", e, estimators()) }

// Config completes c, which has N, K, D and Root, to the estimator's: its ensemble and T. star
// is ρ*, which only Opt looks at. ok is false for estimators that are no Codec.
func (e Estimator) Config(c Config, star float64) (_ Config, ok bool) {
	c.Ensemble, c.T = SRHT, Transform{}
	switch e {
	case RandK, RandKSpatialAvg, RandKSpatialOpt, RandKSpatialMax:
		c.Ensemble, c.Beta = RowSelect, BetaMode{}
	}
	switch e {
	case RandK:
	case RandKSpatialAvg, RandProjAvg:
		c.T.Avg = true
	case RandKSpatialOpt, RandProjOpt:
		c.T.Rho = RhoOpt(c.N, star*float64(c.N-1))
	case RandKSpatialMax, RandProjMax:
		c.T.Rho = 1 // as if vectors were identical: the error explodes where they are not and nk comes near d
	case RandProjPlug:
		c.T.PlugIn = true
	default:
		return c, false
	}
	return c, true
}

// Compared is an estimator for vectors of one shape, with what it costs and what error it has.
type Compared struct {
	Compressor
	// Predict returns the expected squared error for these vectors.
	Predict func(ctx context.Context, xs [][]float64) (float64, error)
	// Bits is the mean length of a client's message, without the header.
	Bits float64
	// Warnings are remarks on the choice of parameters; see Codec.Warnings.
	Warnings []string
}

// float is the bits of a number that is not rounded.
const float = 64

// New makes the estimator for c's N, K, D and Root. star is ρ* in [-1/(n-1), 1], which only Opt
// uses. bitsEach is the number of bits per number: 64, or up to 16 for rounded ones. Wangni and
// Induced take 64 only, and EDEN sends K coordinates of up to 4 bits.
func (e Estimator) New(c Config, star float64, bitsEach int) (Compared, error) {
	if bitsEach != float && (e == RandKWangni || e == TopKInduced) {
		return Compared{}, check.Want("bits per number", bitsEach, "64 for "+e.Title())
	}
	b := baseline{N: c.N, K: c.K, D: c.D, Root: c.Root}
	place := float64(bits.Len(uint(max(c.D, 1) - 1)))
	switch e {
	case RandKWangni:
		w, err := newWangni(b)
		return Compared{Compressor: w, Predict: w.MSE, Bits: (float + place) * float64(c.K)}, err
	case TopKInduced:
		i, err := newInduced(b, inducedTop(c.K))
		return Compared{Compressor: i, Predict: i.MSE, Bits: float*float64(c.K) + place*float64(inducedTop(c.K))}, err
	case RotatedQuantised:
		r, err := newRotated(b, bitsEach)
		if err != nil {
			return Compared{}, err
		}
		return Compared{Compressor: r, Predict: bySums(func(_ context.Context, _, q float64) (float64, error) {
			return r.MSE(q), nil
		}), Bits: float64(r.Bits())}, nil
	}
	if e == RandKSpatialOpt || e == RandProjOpt {
		if err := checkStar(c.N, star); err != nil {
			return Compared{}, err
		}
	}
	c, ok := e.Config(c, star)
	if !ok {
		return Compared{}, e.Check()
	}
	codec, err := NewCodec(c)
	if err != nil {
		return Compared{}, err
	}
	if bitsEach == float {
		return Compared{codec, bySums(func(ctx context.Context, r, q float64) (float64, error) {
			return PredictMSE(ctx, c, r, q)
		}), float * float64(c.K), codec.Warnings()}, nil
	}
	r, err := newRounded(codec, bitsEach)
	if err != nil {
		return Compared{}, err
	}
	return Compared{r, bySums(r.MSE), float64(r.Bits()), codec.Warnings()}, nil
}

// bySums is a prediction from the vectors' correlation R and Σ‖x‖² alone.
func bySums(mse func(ctx context.Context, r, q float64) (float64, error)) func(context.Context,
	[][]float64) (float64, error) {
	return func(ctx context.Context, xs [][]float64) (float64, error) {
		r, q := Correlation(xs)
		return mse(ctx, r, q)
	}
}
