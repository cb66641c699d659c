package handle_test

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants of what is copied and of what promises nothing, each with the test that must fail for it.
func TestMutantsDie(t *testing.T) {
	const out, in = "TestWhatIsGivenOutIsACopy", "TestWhatIsTakenIsACopy"
	const nothing = "TestZeroPromisesNothing"
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a mechanism shares its noise function", File: "../../ensemble/mechanism.go",
			Old: "handle.Copy(handle.Made(m).noise)", New: "handle.Made(m).noise", Killer: out},
		{Name: "a mechanism shares its table", File: "../../ensemble/mechanism.go",
			Old: "handle.Copy(handle.Made(m).table)", New: "handle.Made(m).table", Killer: out},
		{Name: "a mechanism shares its joint price", File: "../../ensemble/mechanism.go",
			Old: "handle.Copy(m.joint())", New: "m.joint()", Killer: out},
		{Name: "a mechanism shares its table for many answers", File: "../../ensemble/manyanswers.go",
			Old: "handle.Copy(handle.Made(m).answers)", New: "handle.Made(m).answers", Killer: out},
		{Name: "a plan shares its mechanism", File: "../../release/plan.go",
			Old: "handle.Copy(plan.mechanism)", New: "plan.mechanism", Killer: out},
		{Name: "a plan shares the lists of its table", File: "handle.go",
			Old: "case reflect.Slice:\n\t\tif !v.IsNil() {", New: "case reflect.Slice:\n\t\tif false {",
			Killer: out},
		{Name: "a table shares its histograms", File: "../../plurality/problem.go",
			Old: "c.Space = handle.Copy(c.Space)", New: "_ = c.Space", Killer: out + "|" + in},
		{Name: "a system of many answers shares its histograms",
			File: "../../plurality/answers/problem.go", Old: "handle.Copy(handle.Made(s).space)",
			New: "handle.Made(s).space", Killer: out},
		{Name: "a table for many answers shares its system",
			File: "../../plurality/answers/certify.go", Old: "return handle.Copy(c.system)",
			New: "return c.system", Killer: out},
		{Name: "answers on line share their ledger", File: "../../release/onlineledger.go",
			Old: "return handle.Copy(book), err", New: "return handle.Made(book), err", Killer: out},
		{Name: "a releaser shares its handle", File: "../../darrm.go", Old: "return &online",
			New: "_ = online; return r.online", Killer: out},
		{Name: "a plan takes a mechanism as it is", File: "../../release/plan.go",
			Old: "m = handle.Copy(m)", New: "_ = handle.Copy(m)", Killer: in},
		{Name: "DaRRM takes a noise function as it is", File: "../../ensemble/darrm.go",
			Old: "c = handle.Copy(c)", New: "_ = handle.Copy(c)", Killer: in},
		{Name: "Plurality takes a table as it is", File: "../../ensemble/plurality.go",
			Old: "c = handle.Copy(c)", New: "_ = handle.Copy(c)", Killer: in},
		{Name: "ManyAnswers takes a table as it is", File: "../../ensemble/manyanswers.go",
			Old: "many answers need a certified table\")\n\t}\n\tc = handle.Copy(c)",
			New: "many answers need a certified table\")\n\t}\n\t_ = handle.Copy(c)", Killer: in},
		{Name: "a certificate is for the caller's system", File: "../../plurality/certify.go",
			Old: "system: s.copy()", New: "system: s", Killer: in},
		{Name: "answers on line are paid for in the caller's ledger", File: "../../release/online.go",
			Old: "= handle.Copy(options.Charge.Slack), handle.Copy(options.Book)",
			New: "= handle.Copy(options.Charge.Slack), options.Book", Killer: in},
		{Name: "a batch spends the caller's slack", File: "../../release/online.go",
			Old: "= handle.Copy(options.Charge.Slack), handle.Copy(options.Book)",
			New: "= options.Charge.Slack, handle.Copy(options.Book)", Killer: in},
		{Name: "a budget says nothing in JSON", File: "../../ledger/amount.go",
			Old: "func (b Budget) MarshalJSON()", New: "func (b Budget) asJSON()", Killer: "TestAnsweredEncodes"},
		{Name: "a cost that is not read is none", File: "../../ledger/amount.go",
			Old: "func (c *Cost) UnmarshalJSON(", New: "func (c *Cost) fromJSON(", Killer: "TestAnsweredEncodes"},
		{Name: "totals that nobody worked out are free", File: "../../release/plan.go",
			Old: "case t == Totals{}:", New: "case false:", Killer: nothing},
		{Name: "what nobody proved is free", File: "../../accountant/hockeystick.go",
			Old: "return Cost{Epsilon: math.Inf(1), Delta: 1}", New: "_ = math.Inf(1)\n\t\treturn Cost{}",
			Killer: nothing},
		{Name: "a training that nobody planned is free", File: "../../learn/shuffled/plan.go",
			Old: "report: iteration.Report{Cost: accountant.Cost{Epsilon: math.Inf(1), Delta: 1}}}",
			New: "report: iteration.Report{}}", Killer: nothing},
		{Name: "a method without an event has the price 0", File: "../../learn/train/plan.go",
			Old: "p.Cost.Epsilon = math.Inf(1)", New: "_ = math.Inf(1)", Killer: nothing},
		{Name: "a randomiser that nobody made promises all", File: "../../learn/federated/randomiser/randomiser.go",
			Old: "return math.Inf(1)", New: "_ = math.Inf(1)", Killer: nothing},
	})
}
