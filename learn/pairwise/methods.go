package pairwise

import (
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "pairwise"

// Options state a method for programs that take it by its name. The zero value of a field is the
// method's default.
type Options struct {
	Setting
	Parameters
}

// Parameters are those of all methods of this package (internal/param).
type Parameters struct {
	StepSize float64     `json:"step_size,omitempty" for:"cyclic one-pass minimised random-steps localized full-batch sgd online random-pairs localized-sgd olp oam spauc" help:"η (the first phase takes a quarter of it); ζ of minimised, random-steps and localized-sgd, C of oam (default: the theory's for $ball)"`
	Decay    Decay       `json:"decay,omitempty" for:"sgd online random-pairs olp spauc" help:"not private methods: steps of η at every step, \"constant\", of η/√t, \"root\", or of η/(t+1), \"inverse\" (default constant)"`
	Passes   float64     `json:"passes,omitempty" for:"cyclic localized full-batch sgd online random-pairs olp oam spauc" help:"passes over the records (default: cyclic 32, or 2¹⁸/n of fewer records, localized ln(4/δ), full-batch and online 1, others 10)"` // whole but for localized and full-batch
	Rule     Rule        `json:"rule,omitempty" for:"localized" help:"localized: how the occurrences of a record are bounded, \"averaged\", \"mixture\", \"exact\", \"chernoff\" or \"paper\" (default averaged)"`
	Noise    train.Noise `json:"noise,omitempty" for:"minimised random-steps localized full-batch" help:"localized, minimised, random-steps, full-batch: \"calibrated\" to $eps by the exact account, \"printed\", the source's, where that keeps its promise, or for minimised and random-steps \"corrected\" (default calibrated)"`
	Output   Output      `json:"output,omitempty" flag:"average" for:"sgd online random-pairs" help:"sgd, online, random-pairs: the model is the \"uniform\" average of the iterates, \"lagged\" or \"lagged-strong\", that of the second half, \"suffix\", or the \"last\" iterate (default uniform)"`
	Lambda   float64     `json:"lambda,omitempty" flag:"l2" for:"sgd online random-pairs" help:"sgd, online, random-pairs: λ of the regulariser (λ/2)‖w‖²"`
	Buffer   int         `json:"buffer,omitempty" for:"olp oam" help:"olp, oam: records that are kept (default: 200, 100 of each class)"`
}

// catalogue lists the methods that New makes.
var catalogue = train.Catalogue[Options]{
	{Name: "cyclic", Private: true, Make: of(func(o Options) Method { return Cyclic{o.Setting, o.StepSize, o.whole()} })},
	{Name: "one-pass", Private: true, Make: of(func(o Options) Method { return OnePass{o.Setting, o.StepSize} })},
	{Name: "minimised", Private: true, Make: of(func(o Options) Method { return Minimised{o.Setting, o.StepSize, o.Noise} })},
	{Name: "random-steps", Private: true, Make: of(func(o Options) Method { return RandomSteps{o.Setting, o.StepSize, o.Noise} })},
	{Name: "localized", Private: true, Make: of(func(o Options) Method {
		return Localized{o.Setting, o.StepSize, o.Passes, o.Rule, o.Noise}
	})},
	{Name: "full-batch", Private: true, Make: of(func(o Options) Method {
		return FullBatch{o.Setting, o.StepSize, o.Passes, o.Noise}
	})},
	{Name: "sgd", Make: of(func(o Options) Method { return o.sgd(Consecutive) })},
	{Name: "online", Make: of(func(o Options) Method { return o.sgd(InOrder) })},
	{Name: "random-pairs", Make: of(func(o Options) Method { return o.sgd(Fresh) })},
	{Name: "localized-sgd", Make: of(func(o Options) Method {
		return LocalizedSGD{o.Setting, o.StepSize}
	})},
	{Name: "olp", Make: of(func(o Options) Method {
		return OLP{o.Setting, o.schedule(), o.Buffer, o.whole()}
	})},
	{Name: "oam", Make: of(func(o Options) Method {
		return OAM{o.Setting, o.StepSize, o.Buffer, o.whole()}
	})},
	{Name: "spauc", Make: of(func(o Options) Method {
		return SPAUC{o.Setting, o.schedule(), o.whole()}
	})},
}

// of returns a function that makes a method of any options.
func of(make func(o Options) Method) func(o Options) (Method, error) {
	return func(o Options) (Method, error) { return make(o), nil }
}

// Methods returns the names that New takes, the private ones first, and of them the default.
func Methods() []string { return catalogue.Names() }

// Private reports whether a method's models may be released.
func Private(name string) bool { return catalogue.Private(name) }

// ByLosses reports whether a method is priced by privacy losses alone, so that no choice among a random number of runs
// of it is priced: that needs Rényi divergences.
func ByLosses(name string) bool { return name == "localized" || name == "random-steps" }

// New returns the method of a name. It refuses options that the method does not have, rather
// than to leave them out in silence; the error, a train.OptionError, names the first.
func New(name string, o Options) (Method, error) {
	m, err := catalogue.New(name, o)
	if fractions := name == "localized" || name == "full-batch"; err == nil && !fractions &&
		(float64(o.whole()) != o.Passes || math.IsNaN(o.Passes)) {
		return nil, check.Want("passes", o.Passes, "a whole number for "+name)
	}
	return m, err
}

// whole returns the passes of methods that make whole ones.
func (o Options) whole() int { return int(min(o.Passes, maxPasses+1)) }

func (o Options) schedule() Schedule { return Schedule{StepSize: o.StepSize, Decay: o.Decay} }

func (o Options) sgd(sampling Sampling) Method {
	return SGD{Setting: o.Setting, Schedule: o.schedule(), Sampling: sampling, Output: o.Output,
		Lambda: o.Lambda, Passes: o.whole()}
}
