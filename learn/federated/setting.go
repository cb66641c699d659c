package federated

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "federated"

// Setting holds the parameters of every method. Nothing in it may depend on the private data.
type Setting struct {
	Loss loss.Loss
	// Silos are the numbers of records n_m of the silos. Records come in their order: the first
	// Silos[0] are the first silo's.
	Silos []int
	// Start is x_0; nil is 0, or for a loss that draws its start (loss.Sized) a draw from StartSeed.
	Start     []float64
	StartSeed uint64 `flag:"start-seed" for:"" help:"seed of the model that a network starts from; others start from 0"`
	Rounds    int    `flag:"rounds" for:"" help:"R"`
	// StepSize is η. 0 is the theory's for PSGM, with DifferenceClip or else Local.Clip as the
	// smoothness; its price states it.
	StepSize float64 `flag:"step-size" for:"" help:"η of each step (default for psgm with $difference-clip: the theory's, with that as the smoothness)"`
	// GradientClip is C_2, the bound on a record's gradient, and DifferenceClip C_1: a record's
	// difference of gradients at two models is cut to C_1 times their distance.
	GradientClip   float64 `flag:"clip" for:"" help:"C_2, bound on the norm of a record's gradient; larger ones are cut to it"`
	DifferenceClip float64 `flag:"difference-clip" for:"" help:"C_1: a record's change of gradient between two models is cut to C_1 times their distance; with $momentum below 1"`
	// Local is the phase of the selected silo; the zero value is none: one step, without data.
	Local Local
	// Target is the (ε, δ) to be met.
	Target accountant.Cost
	// Output names the model that a run returns.
	Output Output `flag:"output" for:"" help:"the model is the \"last\" iterate, or one of all, each as likely, \"uniform\""`
	// Workers are the goroutines of a simulation, 0 for as many as there are processors. No number
	// depends on it.
	Workers int
}

// Local sets the selected silo's steps between two rounds.
type Local struct {
	// Steps is H; 0 is 1, which needs no data. Batch is B_2, the records of a step. Clip is C_3: a
	// difference of gradients is cut to C_3 times the distance of the models.
	Steps int     `json:"steps" flag:"local-steps" for:"" help:"H, steps that one silo makes on its own records after each round"`
	Batch int     `json:"batch" flag:"local-batch" for:"" help:"B_2, records of a local step"`
	Clip  float64 `json:"clip" flag:"local-clip" for:"" help:"C_3, as C_1, of local steps"`
	// Noise is σ, the deviation of the noise per coordinate over C_3 times that distance; 0 takes
	// the least noise that meets the target. NoNoise measures the effect of noise, and has no
	// price.
	Noise   float64 `json:"noise" flag:"local-noise" for:"" help:"σ of local steps, over C_3 times the distance of the models (default: what $eps needs)"`
	NoNoise bool    `json:"-"`
}

// Output is a rule for the model that a run returns.
type Output string

// The outputs. Both are private: the account is of all iterates.
const (
	// Last is the model after the last round. The default.
	Last Output = "last"
	// Uniform is one of all iterates, each as likely: what the theorems are about.
	Uniform Output = "uniform"
)

// Limits of what a run may ask for.
const (
	maxSilos   = 1_000_000
	maxRounds  = 10_000_000
	maxSteps   = 1_000_000
	maxWorkers = 1024
)

// task is a checked Setting for records of so many features.
type task struct {
	Setting
	features, d int // of a record, of a model
	n           int // records of all silos
	smallest    int // silo
	start       []float64
	first       []int // record of each silo
}

// check returns the task.
func (s Setting) check(n, features int) (*task, error) {
	t := &task{Setting: s, n: n, features: features}
	if s.Loss == nil {
		return nil, check.Want("task", "none", "stated, such as logistic")
	}
	if err := cmp.Or(check.Whole("features", features, 1, 0),
		check.Whole("silos", len(s.Silos), 1, maxSilos)); err != nil {
		return nil, err
	}
	sum := 0
	t.smallest = s.Silos[0]
	for m, size := range s.Silos {
		if err := check.Whole(fmt.Sprintf("records of silo %d", m+1), size, 1, math.MaxInt32); err !=
			nil {
			return nil, err
		}
		t.first = append(t.first, sum)
		sum += size
		t.smallest = min(t.smallest, size)
	}
	if n != sum {
		return nil, check.Wantf("number of records", n, "the %d of all silos", sum)
	}
	t.Silos = slices.Clone(s.Silos)
	var err error
	t.Output, err = check.OneOf("output", s.Output, Last, Uniform)
	if err := cmp.Or(check.Whole("rounds", s.Rounds, 1, maxRounds),
		train.CheckScale("gradient clip", s.GradientClip), err,
		check.Whole("workers", s.Workers, 0, maxWorkers)); err != nil {
		return nil, err
	}
	if s.Workers == 0 {
		t.Workers = runtime.GOMAXPROCS(0)
	}
	if err := t.checkLocal(); err != nil {
		return nil, err
	}
	t.d = loss.ModelDim(s.Loss, features)
	return t, t.setStart()
}

// checkLocal checks the local phase, and takes the parameters of one that is left out for 0.
func (t *task) checkLocal() error {
	if t.Local.Steps <= 1 {
		if t.Local.Steps < 0 || t.Local != (Local{Steps: t.Local.Steps}) {
			return check.Want("local steps", t.Local.Steps,
				"at least 2 beside a batch, clip or noise of local steps: the first step needs none")
		}
		t.Local.Steps = 1
		return nil
	}
	if err := cmp.Or(check.Whole("local steps", t.Local.Steps, 1, maxSteps),
		check.Whole("local batch", t.Local.Batch, 1, t.smallest),
		train.CheckScale("local clip", t.Local.Clip)); err != nil {
		return err
	}
	if t.Local.Noise != 0 && (t.Local.NoNoise || !train.InScale(t.Local.Noise)) {
		return check.Want("local noise", t.Local.Noise, "0 for what the target needs, or "+
			train.ScaleRule)
	}
	return nil
}

// checkStep checks η, which may be 0 where the theory has one.
func (t *task) checkStep(theory bool) error {
	if t.StepSize == 0 && theory {
		return nil
	}
	if t.StepSize == 0 {
		return check.SettledBy(check.Want("step size", t.StepSize, train.ScaleRule+
			": the theory's is for shuffled reports with a difference clip, which "+
			"it takes for the smoothness"), "step size")
	}
	return train.CheckScale("step size", t.StepSize)
}

// setStart sets x_0.
func (t *task) setStart() error {
	t.start = make([]float64, t.d)
	switch sized, ok := t.Loss.(loss.Sized); {
	case t.Start != nil:
		if err := train.CheckStart(t.Start, t.d, "model"); err != nil {
			return err
		}
		copy(t.start, t.Start)
	case ok:
		sized.Start(t.start, t.features, rand.New(stream.Seeded(t.StartSeed).Stream("start", 0)))
	}
	t.Start = nil
	return nil
}

// take checks the records.
func (t *task) take(r *data.Records) error { return t.fits(r, t.n) }

// fits checks that there are n records, and that the loss can use each.
func (t *task) fits(r *data.Records, n int) error {
	if t.Loss == nil {
		return check.Want("loss", "nil", "given")
	}
	return train.CheckRecords(r, n, t.features, t.Loss.Check)
}

// silo returns the silo that a round selects, from 0: each in its turn.
func (t *task) silo(round int) int { return round % len(t.Silos) }

// turns returns the largest number of rounds in which a silo is selected.
func (t *task) turns() int { return (t.Rounds + len(t.Silos) - 1) / len(t.Silos) }

// text describes the parameters for a digest, without Workers, of which nothing depends.
func (t *task) text() string {
	start, _ := binary.Append(nil, binary.LittleEndian, t.start) // numbers of one size always fit
	return fmt.Sprintf("%q %v %v %v %v %v %v %+v %q %x", t.Loss.Name(), t.features, t.Silos, t.Rounds,
		t.StepSize, t.GradientClip, t.DifferenceClip, t.Local, t.Output, start)
}
