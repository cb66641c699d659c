package release_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// errOf drops a result.
func errOf[T any](_ T, err error) error { return err }

// Calls that an engineer can write and that make no sense are errors, and none of them panics: not
// here, and in no goroutine that nobody could recover.
func TestMisuse(t *testing.T) {
	ctx := t.Context()
	s := ensemble.Setting{K: 3, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	cost := accountant.Cost{Epsilon: 1, Delta: 1e-5}
	m := must.Get(ensemble.LNMax(s, 1))(t)
	p := must.Get(constraints.NewProblem(3, 1, 0.5, 0))(t)
	three := must.Get(gamma.Constant(3, 0.5))(t)
	ballots := must.Get(ensemble.NewBallots(3, 2))(t)
	if err := ballots.Add([]int{1, 2}, ensemble.NoTruth); err != nil {
		t.Fatal(err)
	}
	other := must.Get(ensemble.NewBallots(4, 2))(t)
	system := must.Get(plurality.NewSystem(plurality.Problem{K: 3, Classes: 2, Epsilon: 1,
		Affected: 1}))(t)
	budget := must.Get(ledger.NewBudget(1, 0.1))(t)
	book := must.Get(ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), budget, ledger.ReplaceOne))(t)
	unit := must.Get(ledger.NewCost(0.1, 0))(t)
	law := must.Get(plan.Prior(3, 2, 0.7))(t)
	zero, online := new(ensemble.Mechanism), new(release.Online)

	for name, call := range map[string]func() error{
		// release
		"Labels{}.Run":   func() error { return errOf(release.Labels{}.Run(ctx)) },
		"Labels{}.Quote": func() error { return errOf(release.Labels{}.Quote(ctx)) },
		"Labels without a plan": func() error {
			return errOf(release.Labels{Votes: []string{"-"}, Stdin: bytes.NewBufferString("0,1,0\n"),
				Output: release.FileOutput{Path: filepath.Join(t.TempDir(), "out.csv")}}.Run(ctx))
		},
		"Labels without stdin": func() error {
			return errOf(release.Labels{Votes: []string{"-"}, Plan: must.Get(release.NewPlan(m))(t)}.Run(ctx))
		},
		"Labels with a zero plan": func() error {
			return errOf(release.Labels{Votes: []string{"-"}, Stdin: bytes.NewBufferString("0,1,0\n"),
				Output: release.FileOutput{Path: filepath.Join(t.TempDir(), "out.csv")}}.Run(ctx))
		},
		"Model{}.Run":       func() error { return errOf(release.Model{}.Run(ctx)) },
		"Model{}.Quote":     func() error { return release.Model{}.Quote(ctx) },
		"Transaction{}.Run": func() error { return errOf(new(release.Transaction).Run(ctx)) },
		"Transaction without a draw": func() error {
			return errOf((&release.Transaction{Output: release.FileOutput{
				Path: filepath.Join(t.TempDir(), "out")}}).Run(ctx))
		},
		"Transaction with a ledger alone": func() error {
			return errOf((&release.Transaction{Ledger: book, Output: release.FileOutput{
				Path: filepath.Join(t.TempDir(), "out")}}).Run(ctx))
		},
		"Transaction with a bill alone": func() error {
			return errOf((&release.Transaction{Bill: new(release.Bill), Output: release.FileOutput{
				Path: filepath.Join(t.TempDir(), "out")}}).Run(ctx))
		},
		"Bill{}.Check":              func() error { return errOf(new(release.Bill).Check(ctx, book)) },
		"Bill{}.Pay":                func() error { return errOf(new(release.Bill).Pay(ctx, book, false)) },
		"Bill.Pay without a ledger": func() error { return errOf(new(release.Bill).Pay(ctx, nil, false)) },
		"Bill.Check without a ledger": func() error {
			return errOf(new(release.Bill).Check(ctx, nil))
		},
		"OpenOnline of nothing": func() error {
			return errOf(release.OpenOnline(ctx, release.OnlineOptions{}))
		},
		"Online{}.State":    func() error { return errOf(online.State(ctx)) },
		"Online{}.Ready":    func() error { return online.Ready(ctx) },
		"Online{}.Ledger":   func() error { return errOf(online.Ledger(ctx)) },
		"Online{}.SpentBy":  func() error { return errOf(online.SpentBy(ctx, "a")) },
		"Online{}.Answer":   func() error { return errOf(online.Answer(ctx, release.Query{ID: "a"})) },
		"release.NewPlan":   func() error { return errOf(release.NewPlan(nil)) },
		"release.DaRRM":     func() error { return errOf(release.DaRRM(nil, accountant.ReplaceOne)) },
		"release.Plurality": func() error { return errOf(release.Plurality(nil, accountant.ReplaceOne)) },
		"Plan{}.Totals":     func() error { return errOf(release.Plan{}.Totals(nil)) },
		"Plan{}.Bill":       func() error { return errOf(release.Plan{}.Bill(release.Charge{})) },
		"Plan{}.Fits":       func() error { return release.Plan{}.Fits(0, 0) },
		"Table{}.Plan":      func() error { return errOf(release.Table{}.Plan(accountant.ReplaceOne)) },
		"ReadTable(nil)":    func() error { return errOf(release.ReadTable(ctx, nil)) },
		"negative answers": func() error {
			return errOf(must.Get(release.NewPlan(m))(t).WithQueries(-1).Totals(nil))
		},
		"slack NaN": func() error {
			return errOf(must.Get(release.NewPlan(m))(t).WithQueries(1).Totals(new(math.NaN())))
		},
		"NewQuote without a ledger": func() error {
			return errOf(release.NewQuote(ctx, release.Summary{}, nil, new(release.Bill)))
		},
		"NewBudgetReport(nil)": func() error { return errOf(release.NewBudgetReport(ctx, nil)) },
		"NewBudgetView(nil)":   func() error { return errOf(release.NewBudgetView(ctx, nil)) },
		"NewHistory(nil)":      func() error { return errOf(release.NewHistory(ctx, nil)) },

		"ExpectedError of weights of others": func() error {
			return errOf(gamma.ExpectedError(three, []float64{1}))
		},
		"Score of a short record": func() error {
			m := &model.Model{Task: loss.Logistic{}, Link: model.LinkLogit, Weights: []float64{1, 2}}
			return errOf(m.Score([]float64{1}))
		},
		"Score of the zero Model": func() error { return errOf(new(model.Model).Score([]float64{1})) },
		"Online{}.Batch": func() error {
			return errOf(online.Batch(ctx, release.Batch{Name: "a", Counts: [][]int{{1, 2}}}))
		},

		// ensemble
		"ensemble.DaRRM(nil)": func() error { return errOf(ensemble.DaRRM(nil, accountant.ReplaceOne)) },
		"DaRRM for no relation": func() error {
			return errOf(ensemble.DaRRM(must.Get(gamma.Certify(ctx, p, must.Get(gamma.Constant(3, 0))(t)))(t),
				accountant.Relation(*new(accountant.Relation))))
		},
		"ensemble.Plurality(nil)": func() error {
			return errOf(ensemble.Plurality(nil, accountant.ReplaceOne))
		},
		"Baseline of nothing": func() error {
			return errOf(ensemble.Baseline(gamma.Named{}, accountant.ReplaceOne))
		},
		"LNMax for no setting": func() error { return errOf(ensemble.LNMax(ensemble.Setting{}, 1)) },
		"LNMax at 0":           func() error { return errOf(ensemble.LNMax(s, 0)) },
		"LNMax at NaN":         func() error { return errOf(ensemble.LNMax(s, math.NaN())) },
		"PermuteAndFlip at Inf": func() error {
			return errOf(ensemble.PermuteAndFlip(s, math.Inf(1)))
		},
		"GNMax without noise": func() error { return errOf(ensemble.GNMax(s, cost, 0)) },
		"GNMax at NaN":        func() error { return errOf(ensemble.GNMax(s, cost, math.NaN())) },
		"ConfidentGNMax":      func() error { return errOf(ensemble.ConfidentGNMax(s, cost, -1, 0, 0)) },
		"SigmaForGNMax":       func() error { return errOf(ensemble.SigmaForGNMax(s, cost, 0)) },
		"Calibrated by no name": func() error {
			return errOf(ensemble.Calibrated("", s, cost, ensemble.Check{}))
		},
		"Calibrated without a check": func() error {
			return errOf(ensemble.Calibrated("confident-gnmax", s, cost, ensemble.Check{}))
		},
		"Mechanism{}.Simulate": func() error { return errOf(zero.Simulate(1, "q", nil)) },
		"Mechanism{}.Law":      func() error { return errOf(zero.Probabilities(nil)) },
		"Mechanism{}.Evaluate": func() error { return errOf(zero.Evaluate(ballots)) },
		"Simulate, no counts":  func() error { return errOf(m.Simulate(1, "q", nil)) },
		"Simulate, too few":    func() error { return errOf(m.Simulate(1, "q", []int{3})) },
		"Simulate, overflow": func() error {
			return errOf(m.Simulate(1, "q", []int{math.MaxInt, math.MinInt}))
		},
		"Evaluate(nil)":   func() error { return errOf(m.Evaluate(nil)) },
		"Evaluate others": func() error { return errOf(m.Evaluate(other)) },
		"Compare(nil)": func() error {
			return errOf(ensemble.Compare(ctx, nil, ensemble.CompareOptions{}))
		},
		"Compare without options": func() error {
			return errOf(ensemble.Compare(ctx, ballots, ensemble.CompareOptions{}))
		},
		"Compare with a nil table": func() error {
			return errOf(ensemble.Compare(ctx, ballots, ensemble.CompareOptions{Target: cost, Affected: 1,
				Teachers:   accountant.Cost{Epsilon: math.Inf(1)},
				Neighbours: accountant.ReplaceOne, Tables: []ensemble.NamedTable{{Name: "x"}}}))
		},
		"NewBallots of nobody":  func() error { return errOf(ensemble.NewBallots(0, 0)) },
		"Ballots{}.Add":         func() error { return new(ensemble.Ballots).Add([]int{1, 2}, 0) },
		"Ballots.Add, a length": func() error { return ballots.Add([]int{3}, 0) },
		"Ballots.Add, truth":    func() error { return ballots.Add([]int{1, 2}, 7) },
		"Answers{}.Total":       func() error { return errOf(ensemble.Answers{}.Total()) },
		"Answers{}.AnyNumber":   func() error { return errOf(ensemble.Answers{}.AnyNumber()) },
		"NewStatement of nothing": func() error {
			return errOf(ensemble.NewStatement(ctx, ensemble.StatementOptions{Queries: []int{1}}))
		},
		"OptimalTables, no solver": func() error { return errOf(ensemble.OptimalTables(p, nil)) },

		// plan
		"plan.New of nothing": func() error { return errOf(plan.New(ctx, plan.Request{})) },
		"Prior of nobody":     func() error { return errOf(plan.Prior(0, 0, 0.5)) },
		"Law{}.Add":           func() error { return new(plan.Law).Add([]int{1, 2}) },
		"Law.Add, overflow": func() error {
			return must.Get(plan.NewSample(5, 3))(t).Add([]int{math.MaxInt, math.MaxInt, 7})
		},
		"Law.Agreement(nil)":   func() error { return errOf(law.Agreement(ctx, nil)) },
		"Law{}.Agreement":      func() error { return errOf(new(plan.Law).Agreement(ctx, m)) },
		"Law.Agreement, zero":  func() error { return errOf(law.Agreement(ctx, zero)) },
		"plan.Uneven, nothing": func() error { return errOf(plan.Uneven(3, 2, 0)) },

		// gamma, constraints, plurality
		"Certify for no problem": func() error {
			return errOf(gamma.Certify(ctx, constraints.Problem{}, three))
		},
		"Certify no function": func() error { return errOf(gamma.Certify(ctx, p, gamma.Func{})) },
		"Certify, a length": func() error {
			return errOf(gamma.Certify(ctx, p, must.Get(gamma.Constant(4, 0))(t)))
		},
		"CertifyLargest(nil)": func() error { return errOf(gamma.CertifyLargest(ctx, nil, three)) },
		"CertifyShrunk":       func() error { return errOf(gamma.CertifyShrunk(ctx, p, gamma.Func{})) },
		"gamma.New(nil)":      func() error { return errOf(gamma.New(nil)) },
		"gamma.New, NaN":      func() error { return errOf(gamma.New([]float64{math.NaN(), 0})) },
		"FromFree(-1)":        func() error { return errOf(gamma.FromFree(-1, nil)) },
		"Constant(-1)":        func() error { return errOf(gamma.Constant(-1, 0)) },
		"Subsampling(0, 0)":   func() error { return errOf(gamma.Subsampling(0, 0)) },
		"Disagreement, a length": func() error {
			return errOf(gamma.Disagreement(three, []float64{1}))
		},
		"ErrorAt, a length": func() error { return errOf(gamma.ErrorAt(three, []float64{0.5})) },
		"gamma.NewTable(nil)": func() error {
			return errOf(gamma.NewTable(ctx, nil, gamma.Objective{}, gamma.Proof{}))
		},
		"gamma.Decode":  func() error { return errOf(gamma.Decode(ctx, bytes.NewReader(nil))) },
		"gamma.Claim{}": func() error { return errOf(new(gamma.Claim).Verify(ctx)) },
		"solve of nothing": func() error {
			return errOf(solve.Optimal(ctx, constraints.Problem{}, solve.Options{}))
		},
		"plurality.Certify(nil)": func() error { return errOf(plurality.Certify(ctx, nil, nil)) },
		"Certify no masses":      func() error { return errOf(plurality.Certify(ctx, system, nil)) },
		"Round, a length":        func() error { return errOf(plurality.Round(ctx, system, []float64{1})) },
		"Round(nil)":             func() error { return errOf(plurality.Round(ctx, nil, nil)) },
		"Law of no table":        func() error { return errOf(new(plurality.Certified).Law([]int{1})) },
		"Profile of no table": func() error {
			return errOf(new(plurality.Certified).Profile(ctx, []float64{1}))
		},
		"plurality.NewTable(nil)": func() error {
			return errOf(plurality.NewTable(ctx, nil, plurality.Objective{}, plurality.Proof{}))
		},
		"plurality.Claim{}": func() error { return errOf(new(plurality.Claim).Verify(ctx)) },

		// ledger, accountant, votes
		"ledger.Create nowhere": func() error {
			return errOf(ledger.Create(ctx, "", budget, ledger.ReplaceOne))
		},
		"ledger.Open nowhere": func() error { return errOf(ledger.Open(ctx, "")) },
		"Charge of nothing":   func() error { return errOf(book.Charge(ctx, ledger.Request{})) },
		"Charge, no relation": func() error {
			return errOf(book.Charge(ctx, ledger.Request{ID: "a", Count: 1, Unit: unit}))
		},
		"Receipt{}.Redeem":  func() error { return new(ledger.Receipt).Redeem() },
		"RecordResult(nil)": func() error { return errOf(book.RecordResult(ctx, nil, ledger.Digest{})) },
		"Ledger{}.State":    func() error { return errOf(new(ledger.Ledger).State(ctx)) },
		"Ledger{}.Charge":   func() error { return errOf(new(ledger.Ledger).Charge(ctx, ledger.Request{})) },
		"accountant.New of no relation": func() error {
			return errOf(accountant.New(*new(accountant.Relation)))
		},
		"Accountant{}.Charge": func() error { return errOf(accountant.Accountant{}.Charge(nil, 1)) },
		"Accountant, nil event": func() error {
			return errOf(must.Get(accountant.New(accountant.ReplaceOne))(t).Charge(nil, 1))
		},
		"Compose nil":        func() error { return errOf(accountant.Compose(accountant.Charge{})) },
		"OneOf nothing":      func() error { return errOf(accountant.OneOf()) },
		"BestOf nothing":     func() error { return errOf(accountant.BestOf(nil, accountant.Stopping{})) },
		"General -1":         func() error { return errOf(accountant.General(-1, cost, 0)) },
		"votes.NewReader":    func() error { return errOf(votes.NewReader(ctx, nil, votes.Options{})) },
		"votes.Open(none)":   func() error { return errOf(votes.Open(ctx, votes.Options{})) },
		"CreateLabels(\"\")": func() error { return errOf(votes.CreateLabels("", votes.LabelOptions{})) },
	} {
		panicked, err := safely(call)
		switch {
		case panicked != nil:
			t.Errorf("%s panics: %v", name, panicked)
		case err == nil:
			t.Errorf("%s is no error", name)
		}
	}
	if got := len(must.Get(book.History(ctx))(t)); got != 0 {
		t.Errorf("%d entries were charged", got)
	}
	// What has no error to return has a zero answer.
	for name, call := range map[string]func(){
		"Mechanism{}": func() {
			_ = fmt.Sprint(zero.Name(), zero.Title(), zero.Parameters(), zero.Setting(), zero.PerAnswer(),
				zero.Event(), zero.Assumptions(), zero.Problem(), zero.Teachers())
			zero.Noise()
		},
		"Plan{}": func() {
			release.Plan{}.AnswerNames([]string{"a"})
			release.Plan{}.Summary(votes.Roles{}, release.Charge{}).Facts()
		},
		"Online{}":  func() { online.Plan(); online.Teachers(); online.Stated(); online.Unit() },
		"Summary{}": func() { release.Summary{}.Facts(); release.Summary{}.Warnings() },
		"Ballots{}": func() { new(ensemble.Ballots).Plain() },
		"Func{}":    func() { _ = gamma.Func{}.String(); gamma.Func{}.Values() },
	} {
		if panicked, _ := safely(func() error { call(); return nil }); panicked != nil {
			t.Errorf("%s panics: %v", name, panicked)
		}
	}
}

// safely calls f and returns what it panicked with.
func safely(f func() error) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, f()
}
