package training

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated"
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

// Every flag of a run reaches the field of its parameter, and a run has the defaults of the help.
func TestFederatedFlagsAreOptions(t *testing.T) {
	parsed := func(args string) federated.PSGM {
		t.Helper()
		var f federatedFlags
		c := federatedFamily.trains.command("federated")
		f.register(c)
		if err := c.ParseFlags(strings.Fields("--task logistic --delta 0.25 --clip 2 " + args)); err != nil {
			t.Fatal(err)
		}
		if err := f.Check(c); err != nil {
			t.Fatal(err)
		}
		return f.run([]int{5, 6})
	}
	want := federated.PSGM{Setting: federated.Setting{Loss: loss.Logistic{}, Silos: []int{5, 6},
		Rounds: 50, GradientClip: 2, Target: accountant.Cost{Epsilon: 3, Delta: .25},
		Output: federated.Last}, Momentum: .1, Randomizer: federated.OneBit}
	if got := parsed("--eps 3"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	want = federated.PSGM{Setting: federated.Setting{Loss: loss.Logistic{}, Silos: []int{5, 6},
		StartSeed: 18446744073709551615, Rounds: 4, StepSize: 5, GradientClip: 2, DifferenceClip: 6,
		Local:  federated.Local{Steps: 7, Batch: 8, Clip: 9, Noise: 10},
		Target: accountant.Cost{Delta: .25}, Output: federated.Uniform},
		Momentum: .5, FirstBatch: []int{1, 2}, Batch: []int{3}, Missing: 11, Colluding: 12,
		Account: federated.Unshuffled, Randomizer: "rand-k:3", Epsilon: 13}
	if got := parsed("--start-seed 18446744073709551615 --rounds 4 --step-size 5 --difference-clip 6 " +
		"--local-steps 7 --local-batch 8 --local-clip 9 --local-noise 10 --output uniform --momentum 0.5 " +
		"--first-batch 1,2 --batch 3 --missing 11 --colluding 12 --account unshuffled " +
		"--randomizer rand-k:3 --local-eps 13"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A flag that the method does not have is refused, whatever its value.
func TestFlagsOfOtherFederatedMethods(t *testing.T) {
	for args, flag := range map[string]string{
		"central --momentum 0.1": "momentum", "central --batch 0": "batch", "psgm --period 1": "period",
		"central --period 2": "", "psgm --momentum 1": "", "central --local-steps 2": "",
	} {
		var f federatedFlags
		c := federatedFamily.trains.command("federated")
		f.register(c)
		if err := c.ParseFlags(strings.Fields("--task logistic --clip 1 --eps 1 --delta 0.25 --method " +
			args)); err != nil {
			t.Fatal(err)
		}
		err := f.Check(c)
		if (err == nil) != (flag == "") || err != nil && !strings.HasPrefix(err.Error(), "--"+flag+" is not") {
			t.Errorf("%s: %v", args, err)
		}
	}
}
