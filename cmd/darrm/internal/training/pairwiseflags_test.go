package training

import (
	"io"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

// Every flag of a method reaches the option of its name, and --l2 is the λ of (λ/2)‖w‖², where
// the library's is of λ‖w‖².
func TestPairwiseFlagsAreOptions(t *testing.T) {
	var f pairwiseFlags
	c := pairwiseFamily.trains.command("pairwise")
	f.register(c)
	args := []string{
		"--task", "square:ordered", "--ball", "2", "--radius", "3", "--clip", "4", "--eps", "0.5",
		"--delta", "0.25", "--step-size", "5", "--passes", "6",
		"--rule", "exact", "--noise", "printed", "--decay", "root", "--average", "last", "--l2", "7",
		"--buffer", "8",
	}
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(c); err != nil {
		t.Fatal(err)
	}
	square, err := loss.ParsePair("square:ordered")
	if err != nil {
		t.Fatal(err)
	}
	want := pairwise.Options{
		Setting: pairwise.Setting{Base: pairwise.Base{Loss: square, Radius: 3, Clip: 4,
			Target: accountant.Cost{Epsilon: .5, Delta: .25}}, Ball: 2},
		Parameters: pairwise.Parameters{StepSize: 5, Passes: 6, Rule: pairwise.Exact, Noise: train.Printed,
			Decay: pairwise.Root, Output: pairwise.Last, Lambda: 3.5, Buffer: 8},
	}
	if got := f.all(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if k := f.about(); k != (modelKind{task: "square:ordered", paidFor: "square:ordered pairs",
		set: "l2:2", link: model.LinkRank}) {
		t.Errorf("%+v", k)
	}
}

// A method that promises nothing has no price, and is for simulations only; of the private ones
// none gets away without a target.
func TestOnlyPrivateMethodsAreReleased(t *testing.T) {
	for _, name := range pairwise.Methods() {
		for _, c := range []struct {
			args []string
			ok   bool
		}{
			{nil, false},
			{[]string{"--insecure-seed", "1"}, !pairwise.Private(name)},
			{[]string{"--radius", "1", "--eps", "1", "--delta", "0.1"}, pairwise.Private(name)},
			{[]string{"--radius", "1", "--eps", "1", "--delta", "0.1", "--insecure-seed", "1"},
				pairwise.Private(name)},
			{[]string{"--radius", "1", "--eps", "1"}, false},
			{[]string{"--eps", "1", "--delta", "0.1"}, false},
		} {
			command := newTrainFamily(&cli.App{Out: io.Discard, Err: io.Discard}, pairwiseFamily)
			if err := command.ParseFlags(slices.Concat([]string{"--private", "none", "--task", "logistic",
				"--method", name}, c.args)); err != nil {
				t.Fatal(err)
			}
			p := pairwiseFlags{methodFlags: methodFlags{Method: name, Task: "logistic"}}
			if err := p.Check(command); (err == nil) != c.ok {
				t.Errorf("%s %v: %v", name, c.args, err)
			}
		}
	}
}
