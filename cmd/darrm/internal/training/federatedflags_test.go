package training

import (
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/loss"
)

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
