package rounds

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/learn/train"
)

// MaxPlan is the most bytes that a plan's file has.
const MaxPlan = 64 << 20

const planFormat = "darrm federated plan 1"

// ErrFormat is the error for a file that is malformed, or of another plan or round.
var ErrFormat = errors.New("the file does not fit")

func formatf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
}

// Columns holds the public rules that turn rows into records, alike for all silos.
type Columns struct {
	// Preparation has the columns and their rules; nil where the features have no names, and are
	// taken as they are.
	Preparation *prepare.Map `json:"preparation,omitempty"`
	Intercept   bool         `json:"intercept"` // a feature 1 comes after the others
}

// Names returns the names of the features, nil where they have none.
func (c Columns) Names() []string {
	if c.Preparation == nil {
		return nil
	}
	return c.Preparation.Names()
}

// Response returns the name of the response's column, "" where it has none.
func (c Columns) Response() string {
	if c.Preparation == nil || c.Preparation.Response == nil {
		return ""
	}
	return c.Preparation.Response.Name
}

// check refuses rules that contradict each other, and features in another number.
func (c Columns) check(features int) error {
	if c.Preparation == nil {
		return nil
	}
	if err := c.Preparation.Check(); err != nil {
		return err
	}
	if n := len(c.Names()); n != features {
		return check.Wantf("features", features, "the %d of the columns' rules", n)
	}
	if r := c.Preparation.Response; r != nil && len(r.Categories) > 2 {
		return check.Want("categories", fmt.Sprintf("%q", r.Categories),
			"two for the response of a federated run")
	}
	return nil
}

// document is a plan's file.
type document struct {
	Format         string `json:"format"`
	Run            string `json:"run"` // tells a run from another with the same parameters
	Task           string `json:"task"`
	FeatureCount   int    `json:"features"` // without the intercept
	Columns        `json:"records"`
	Silos          []int            `json:"silos"`
	Rounds         int              `json:"rounds"`
	StepSize       float64          `json:"step_size"`
	GradientClip   float64          `json:"gradient_clip"`
	DifferenceClip float64          `json:"difference_clip"`
	Momentum       float64          `json:"momentum"`
	FirstBatch     []int            `json:"first_batch,omitempty"` // none is all records
	Batch          []int            `json:"batch,omitempty"`
	Local          *federated.Local `json:"local,omitempty"`
	Missing        int              `json:"missing"`
	Colluding      int              `json:"colluding"`
	Account        string           `json:"account"`
	Randomizer     string           `json:"randomizer"`
	Output         string           `json:"output"`
	StartSeed      uint64           `json:"start_seed"`
	Epsilon        float64          `json:"local_epsilon"`
	Cost           accountant.Cost  `json:"cost"`
}

// Run is a priced run that all parts have the file of. It is immutable and safe for concurrent
// use.
type Run struct {
	doc    document
	loss   loss.Loss
	priced *federated.Plan
	digest [32]byte
	coins  stream.Coins // of the iterate that is kept, which is a public choice: of the digest
}

// New plans and prices a run: it finds ε₀ and σ for the target, and gives the run a new name.
// c.Silos has the numbers of records, features is the number of columns without an intercept. New
// takes the time of one calibration, seconds.
func New(c federated.PSGM, features int, columns Columns) (*Run, error) {
	if c.Loss == nil {
		return nil, check.Want("task", "none", "stated, such as logistic")
	}
	if c.Start != nil {
		return nil, check.Want("start", len(c.Start),
			"left out: the first round's file has the model to start from")
	}
	if c.Local.NoNoise {
		return nil, check.Want("local noise", "none", "above 0: without noise there is no price")
	}
	first, err := c.New(records(c.Silos), width(features, columns))
	if err != nil {
		return nil, err
	}
	doc := document{
		Format: planFormat, Run: rand.Text(), Task: c.Loss.Name(), FeatureCount: features,
		Columns: columns,
		Silos:   slices.Clone(c.Silos), Rounds: c.Rounds, StepSize: first.StepSize,
		GradientClip: c.GradientClip, DifferenceClip: c.DifferenceClip,
		Momentum: c.Momentum, FirstBatch: slices.Clone(c.FirstBatch),
		Batch: slices.Clone(c.Batch), Missing: c.Missing,
		Colluding: c.Colluding, Account: string(c.Account),
		Randomizer: string(c.Randomizer), Output: string(c.Output), StartSeed: c.StartSeed,
		Epsilon: first.LocalEpsilon(), Cost: accountant.Cost{Delta: c.Target.Delta},
	}
	if c.Local.Steps > 1 {
		local := c.Local
		local.Noise = first.LocalNoise()
		doc.Local = &local
	}
	p, err := doc.plan()
	if err != nil {
		return nil, err
	}
	cost := p.priced.Price().Cost
	if limit := max(c.Target.Epsilon, first.Price().Cost.Epsilon); !(cost.Epsilon <= limit) {
		return nil, fmt.Errorf("the run costs %v, more than %v", cost, limit)
	}
	doc.Cost = cost
	return doc.settled(p)
}

func records(silos []int) (n int) {
	for _, size := range silos {
		n += max(size, 0) // what is no size is refused later
	}
	return n
}

func width(features int, c Columns) int {
	if c.Intercept {
		features++
	}
	return features
}

// plan computes the price of the document's parameters, and ignores the price that it states.
func (d document) plan() (*Run, error) {
	p := &Run{doc: d}
	var err error
	if p.loss, err = loss.ParseSized(d.Task); err != nil {
		return nil, err
	}
	if err := check.Whole("features", d.FeatureCount, 1, math.MaxInt32); err != nil {
		return nil, err
	}
	// Before memory is taken for a model: the file may be a stranger's.
	if err := check.Whole("length of the model",
		loss.ModelDim(p.loss, width(d.FeatureCount, d.Columns)), 1, randomiser.MaxDim); err != nil {
		return nil, err
	}
	if err := d.Columns.check(d.FeatureCount); err != nil {
		return nil, err
	}
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: p.loss, Silos: d.Silos, StartSeed: d.StartSeed, Rounds: d.Rounds, StepSize: d.StepSize,
			GradientClip: d.GradientClip, DifferenceClip: d.DifferenceClip,
			Target: accountant.Cost{Delta: d.Cost.Delta}, Output: federated.Output(d.Output),
		},
		Momentum: d.Momentum, FirstBatch: d.FirstBatch, Batch: d.Batch, Epsilon: d.Epsilon,
		Account: federated.Account(d.Account),
		Missing: d.Missing, Colluding: d.Colluding, Randomizer: federated.Randomizer(d.Randomizer),
	}
	if err := cmp.Or(check.Positive("step size", d.StepSize), // every part has the same
		check.Positive("local epsilon", d.Epsilon)); err != nil {
		return nil, err
	}
	if l := d.Local; l != nil {
		if err := check.Positive("local noise", l.Noise); err != nil {
			return nil, err
		}
		c.Local = *l
	}
	p.priced, err = c.New(records(d.Silos), width(d.FeatureCount, d.Columns))
	return p, err
}

// settled gives a plan its digest, which is of every field.
func (d document) settled(p *Run) (*Run, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	p.doc, p.digest = d, sha256.Sum256(append([]byte(planFormat+"\n"), b...))
	p.coins = stream.Restore(p.digest, false)
	return p, nil
}

// costSlack is by how much, relatively, two processors may price a plan apart.
const costSlack = 1e-9

// ReadPlan reads a plan's file and prices it again: the cost that a file states is not believed.
// The price is the larger of the two, and a stated one that is too small is refused.
func ReadPlan(b []byte) (*Run, error) {
	var d document
	if err := strictjson.DecodeKnown(b, MaxPlan, &d); err != nil {
		return nil, formatf("not a plan: %w", err)
	}
	if d.Format != planFormat {
		return nil, formatf("its format is %.40q, but must be %q", d.Format, planFormat)
	}
	if len(d.Run) < 16 || len(d.Run) > 64 {
		return nil, formatf("the run's name has %d bytes, but must have 16 to 64", len(d.Run))
	}
	p, err := d.plan()
	if err != nil {
		return nil, formatf("%w", err)
	}
	if own := p.priced.Price().Cost; !(own.Epsilon <= d.Cost.Epsilon*(1+costSlack)) ||
		math.IsInf(d.Cost.Epsilon, 1) {
		return nil, formatf("it states a cost of ε = %v, but costs %v", d.Cost.Epsilon, own.Epsilon)
	}
	return d.settled(p)
}

func encode(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}

// Encode returns the plan's file.
func (p *Run) Encode() ([]byte, error) { return encode(handle.Made(p).doc) }

// Digest names the plan. FullDigest is for where somebody may want two plans to have one name.
func (p *Run) Digest() string { return hex.EncodeToString(handle.Made(p).digest[:16]) }

// FullDigest is a hash of every field of the plan.
func (p *Run) FullDigest() string { return hex.EncodeToString(handle.Made(p).digest[:]) }

// Federated returns the plan of the roles.
func (p *Run) Federated() *federated.Plan { return handle.Copy(handle.Made(p).priced) }

// Cost returns the privacy cost of all rounds together to a record. It holds if no round is
// released with fewer reports than the plan requires.
func (p *Run) Cost() accountant.Cost {
	p = handle.Made(p)
	c := p.priced.Price().Cost
	c.Epsilon = max(c.Epsilon, p.doc.Cost.Epsilon)
	return c
}

// Price is on what grounds.
func (p *Run) Price() train.Price {
	p = handle.Made(p)
	price := p.priced.Price()
	price.Cost = p.Cost()
	return price
}

// Silos returns the numbers of records n_m.
func (p *Run) Silos() []int { return slices.Clone(handle.Made(p).doc.Silos) }

// Records returns the number of records of all silos together.
func (p *Run) Records() int { return records(handle.Made(p).doc.Silos) }

// Rounds returns R.
func (p *Run) Rounds() int { return handle.Made(p).doc.Rounds }

// LocalSteps returns H.
func (p *Run) LocalSteps() int {
	p = handle.Made(p)
	if p.doc.Local == nil {
		return 1
	}
	return p.doc.Local.Steps
}

// Columns returns the rules by which silos make records.
func (p *Run) Columns() Columns { return handle.Deep(handle.Made(p).doc.Columns) }

// Features returns the number of columns of features, without the intercept.
func (p *Run) Features() int { return handle.Made(p).doc.FeatureCount }

// Loss returns the loss that is minimised.
func (p *Run) Loss() loss.Loss { return handle.Made(p).loss }
