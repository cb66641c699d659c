package handle_test

import (
	"bytes"
	"encoding/json"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// notProduct are packages for evidence, tests and commands.
var notProduct = regexp.MustCompile(`/(internal|cmd|bench|experiment|examples|web|docs|scripts|\w+test)(/|$)`)

// notReached has the accessors that no mechanism, plan or release leads to, by the reason why none
// of them needs to be overwritten here.
var notReached = map[string][]string{
	"it is made anew by each call": {
		"accountant.Relation.MarshalText", "cache.Store.List", "ensemble.Answers.Bounds",
		"ensemble.Comparison.Report", "ensemble.Comparison.Table", "ensemble.Sets.AlwaysNo",
		"ensemble/labellaw.Channel.Transition", "ensemble/labellaw.Law.Encode",
		"ensemble/labellaw.Law.MarshalJSON",
		"learn/convex.Interval.MarshalText", "learn/data.Records.Mean",
		"learn/data.Records.WithIntercept", "learn/data.Records.Unweighted", "learn/data.Sparse.Dense", "learn/data.Sparse.Transpose",
		"learn/data.SparseBuilder.Records", "learn/data.Table.Next", "learn/data.Table.Numbers", "learn/federated.Plan.Compare",
		"learn/federated.Plan.Noiseless", "learn/federated.Plan.Rehearsal",
		"learn/federated/rates.Setting.Rates", "learn/federated/rounds.Columns.Names",
		"learn/federated/rounds.Mix.Head", "learn/federated/rounds.Mix.Missing",
		"learn/federated/rounds.Pass.Encode", "learn/federated/rounds.Round.Encode",
		"learn/federated/rounds.Run.Encode", "learn/federated/rounds.Run.First",
		"learn/federated/rounds.SealKey.Encode", "learn/federated/rounds.Shuffle.Missing",
		"learn/federated/rounds.ShufflerKey.Encode", "learn/prepare.Map.Names",
		"learn/prepare.Rules.Stated", "learn/prepare.SchemaColumn.MarshalJSON",
		"learn/federated.Plan.Plan", "learn/shuffled.Forecast.Quote", "learn/shuffled.Plan.Plan",
		"learn/shuffled.Plan.Price", "learn/shuffled.Plan.Priced", "learn/train.Catalogue.Names",
		"learn/train.Plan.Bound",
		"learn/train.Plan.Compare", "ledger.Digest.MarshalText", "release.HistoryEntry.Row", "release.Part.MarshalText",
		"learn/shuffled/iteration.Steps.Contraction", "learn/train.Problem.Optimum",
		"learn/train.Release.Checkpoint", "learn/train.Release.Choice",
		"learn/train.Simulation.Checkpoint", "learn/train.Simulation.Choice", "plan.Law.Leads", "plan.Losses.ClassShares", "plan.Plan.Table",
		"plurality.Change.MarshalJSON",
		"plan/choose.Noise.Options", "release.Quote.Rows", "release.Summary.Facts",
		"release.Summary.Warnings", "sketch.Codec.Warnings", "sweep.ClassGrid.Problems",
		"sweep.Grid.Points", "votes.Description.Says", "votes.Description.Table",
	},
	"it is a copy": {
		"accountant.Accountant.Charges", "accountant/game.Game.Renyi", "ensemble.Statement.Methods",
		"ensemble/teachers.Simulated.Models", "ensemble/teachers.Simulated.Plan",
		"ensemble/teachers.Trained.Models", "ensemble/teachers.Trained.Plan",
		"learn/data.Records.Columns", "learn/data.Records.Weights", "learn/federated.Plan.Price", "learn/federated.Server.Broadcast",
		"learn/federated/rounds.Round.Result", "learn/federated/rounds.Run.Columns",
		"learn/federated/rounds.Run.Federated", "learn/federated/rounds.Run.Price",
		"learn/federated/rounds.Run.Silos", "learn/pairwise.Online.Model",
		"learn/shuffled.Plan.Report", "learn/train.Price.Clone", "learn/train.Simulation.Model",
		"ledger.Receipt.Entry", "plan.Law.Shares", "plan/choose.Chooser.Stated", "plurality.Costs.Uneven", "release.LabelRun.Need", "votes.Batch.ClassRanks",
		"votes.Reader.Classes", "votes.Reader.Columns",
	},
	"it does what its receiver's own fields say, once, and gives the outcome": {
		"ensemble/teachers.Plan.NewTraining", "ensemble/teachers.Training.Run",
		"learn/federated/randomiser.Shuffler.Release", "release.Charge.Open", "release.Labels.Quote",
		"release.Labels.Run", "release.LabelRun.Quote", "release.LabelRun.Run", "release.Model.Run", "release.Told.Run", "release.Transaction.Run",
		"release/folder.Leader.Step", "release/folder.Place.Plan", "release/folder.Shuffler.Step",
		"release/folder.Silo.Step", "release/silo.Answer.Run", "votes.Reader.Next",
	},
	"it is proved of a file's numbers, which the claim goes on to have": {
		"accountant/noisymax.Claim.Certify", "accountant/noisymax.Claim.Verify", "gamma.Claim.Certify", "gamma.Claim.Verify", "plurality.Claim.Certify",
		"plurality.Claim.Verify", "plurality/answers.Claim.Certify", "plurality/answers.Claim.Verify",
	},
	"its receiver's comment says whose memory it is, and no noise is drawn by it": {
		"learn/federated.Server.Model", "learn/federated.Server.State", "learn/train.Simulation.State",
	},
	"it tells of a model that was released": {
		"learn/train.Release.Test", "learn/train.Simulation.Test",
	},
}

// everyAccessor demands that each exported method of the product that takes nothing, or a context
// alone, and gives out a pointer, a slice or a map was reached, or has its reason.
func everyAccessor(t *testing.T, reached map[string]bool) {
	t.Helper()
	reasons := map[string]string{}
	for reason, of := range notReached {
		for _, accessor := range of {
			reasons[module+"/"+accessor] = reason
		}
	}
	accessors, reasoned := 0, len(reasons)
	for _, p := range packages(t) {
		path := p.Path()
		for _, name := range p.Scope().Names() {
			of, ok := p.Scope().Lookup(name).(*types.TypeName)
			named, isNamed := types.Unalias(p.Scope().Lookup(name).Type()).(*types.Named)
			if !ok || !isNamed || !of.Exported() || of.IsAlias() || types.IsInterface(named) {
				continue
			}
			for m := range named.Methods() {
				if !m.Exported() || !takesNothing(m.Signature()) || !givesOut(m.Signature().Results()) {
					continue
				}
				accessors++
				key := path + "." + name + "." + m.Name()
				if reached[key] == (reasons[key] != "") {
					t.Errorf("%s: reached %t, reason %q", key, reached[key], reasons[key])
				}
				delete(reasons, key)
			}
		}
	}
	if accessors < 60 {
		t.Errorf("%d accessors were found", accessors)
	}
	for accessor := range reasons {
		t.Errorf("%s has a reason, and is none", accessor)
	}
	t.Logf("%d accessors, %d of them with a reason", accessors, reasoned)
}

// typesOf returns what imports packages as the compiler saw them, and the files of their types.
func typesOf(t *testing.T) (types.Importer, map[string]string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var one struct{ ImportPath, Export string }
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		if err := in.Decode(&one); err != nil {
			t.Fatal(err)
		}
		exports[one.ImportPath] = one.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	}), exports
}

func takesNothing(s *types.Signature) bool {
	p := s.Params()
	return p.Len() == 0 || p.Len() == 1 && p.At(0).Type().String() == "context.Context"
}

// givesOut reports whether a result leads to memory that its receiver may share.
func givesOut(results *types.Tuple) bool {
	for v := range results.Variables() {
		if shares(v.Type(), 0) {
			return true
		}
	}
	return false
}

func shares(of types.Type, depth int) bool {
	switch u := of.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && depth < 4 && shares(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}
