package pairwise

import (
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "pairwise"

// Options are the parameters of whatever method, for programs that take it by its name. The
// zero value of a field is the method's default.
type Options struct {
	Setting
	StepSize float64 // η; ζ of minimised and localized-sgd, C of oam
	Decay    Decay
	Passes   float64 // whole for all methods but localized and full-batch
	Rule     Rule
	Noise    train.Noise
	Output   Output
	Lambda   float64
	Buffer   int
}

// catalogue lists the methods that New makes. uses names the fields of Options that a method takes,
// besides Setting.
var catalogue = []struct {
	name    string
	private bool
	uses    string
	make    func(o Options, passes int) Method
}{
	{"cyclic", true, "StepSize Passes", func(o Options, passes int) Method {
		return Cyclic{o.Setting, o.StepSize, passes}
	}},
	{"one-pass", true, "StepSize", func(o Options, _ int) Method {
		return OnePass{o.Setting, o.StepSize}
	}},
	{"minimised", true, "StepSize Noise", func(o Options, _ int) Method {
		return Minimised{o.Setting, o.StepSize, o.Noise}
	}},
	{"random-steps", true, "StepSize Noise", func(o Options, _ int) Method {
		return RandomSteps{o.Setting, o.StepSize, o.Noise}
	}},
	{"localized", true, "StepSize Passes Rule Noise", func(o Options, _ int) Method {
		return Localized{o.Setting, o.StepSize, o.Passes, o.Rule, o.Noise}
	}},
	{"full-batch", true, "StepSize Passes Noise", func(o Options, _ int) Method {
		return FullBatch{o.Setting, o.StepSize, o.Passes, o.Noise}
	}},
	{"sgd", false, "StepSize Decay Passes Output Lambda", func(o Options, passes int) Method {
		return o.sgd(Consecutive, passes)
	}},
	{"online", false, "StepSize Decay Passes Output Lambda", func(o Options, passes int) Method {
		return o.sgd(InOrder, passes)
	}},
	{"random-pairs", false, "StepSize Decay Passes Output Lambda", func(o Options, passes int) Method {
		return o.sgd(Fresh, passes)
	}},
	{"localized-sgd", false, "StepSize", func(o Options, _ int) Method {
		return LocalizedSGD{o.Setting, o.StepSize}
	}},
	{"olp", false, "StepSize Decay Passes Buffer", func(o Options, passes int) Method {
		return OLP{o.Setting, o.schedule(), o.Buffer, passes}
	}},
	{"oam", false, "StepSize Passes Buffer", func(o Options, passes int) Method {
		return OAM{o.Setting, o.StepSize, o.Buffer, passes}
	}},
	{"spauc", false, "StepSize Decay Passes", func(o Options, passes int) Method {
		return SPAUC{o.Setting, o.schedule(), passes}
	}},
}

// Methods returns the names that New takes, the private ones first, and of them the default.
func Methods() []string {
	names := make([]string, len(catalogue))
	for i, m := range catalogue {
		names[i] = m.name
	}
	return names
}

// Private reports whether a method's models may be released.
func Private(name string) bool {
	for _, m := range catalogue {
		if m.name == name {
			return m.private
		}
	}
	return false
}

// New returns the method of a name. It refuses options that the method does not have, rather
// than to leave them out in silence; the error, a train.OptionError, names the first.
func New(name string, o Options) (Method, error) {
	for _, m := range catalogue {
		if m.name != name {
			continue
		}
		uses := append(strings.Fields(m.uses), "Setting")
		if err := train.CheckOptions(name, o, uses); err != nil {
			return nil, err
		}
		passes := int(min(o.Passes, maxPasses+1))
		if fractions := name == "localized" || name == "full-batch"; !fractions &&
			(float64(passes) != o.Passes || math.IsNaN(o.Passes)) {
			return nil, &check.Error{Name: "passes", Value: o.Passes, Rule: "a whole number for " + name +
				""}
		}
		return m.make(o, passes), nil
	}
	return nil, &check.Error{Name: "method", Value: fmt.Sprintf("%q", name),
		Rule: "one of " + strings.Join(Methods(), ", ")}
}

func (o Options) schedule() Schedule { return Schedule{StepSize: o.StepSize, Decay: o.Decay} }

func (o Options) sgd(sampling Sampling, passes int) Method {
	return SGD{Setting: o.Setting, Schedule: o.schedule(), Sampling: sampling, Output: o.Output,
		Lambda: o.Lambda, Passes: passes}
}
