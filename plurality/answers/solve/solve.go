package solve

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// defaultWork is the work of the convex program unless Options state another: some half a minute of
// a core. It is a count, so that the same problem has the same table on every machine.
const defaultWork = 20_000_000_000

// Options configures a solve. The zero value is fine.
type Options struct {
	// Law is the only kind of table to make. Without it, normal noise is made first, and the better
	// one of it and of what else there is for the problem is returned.
	Law answers.Name
	// Order α of the chain and of the program, a whole number up to answers.MaxOrder. The chain's
	// is chosen by the prior unless it is given, the program's is DefaultOrder of the problem.
	Order int
	// Work bounds the convex program, all its repetitions together: then the best point so far is
	// priced. It counts a pivot as the numbers that it touches, and never time. Defaults to 2·10¹⁰,
	// some half a minute of a core.
	Work int64
	// Price sets the precision of the price, which is stored with it. Without a Step, that is chosen
	// by size.
	Price game.Options
	// Version of the program, recorded in the table. May be empty.
	Version string
	// BestOnCancel asks for the best certified table when ctx ends and there is one. Without it,
	// ctx.Err() is returned.
	BestOnCancel bool
	// Progress, if not nil, is called after each price from the goroutine of the caller.
	Progress func(Progress)
}

// Progress describes a running solve.
type Progress struct {
	Elapsed time.Duration
	Law     answers.Name // that is being made
	Prices  int          // so far
	Delta   float64      // of the last one
	// Share estimates the share of the work that is done, by the usual number of prices of each law, and Next
	// the share after one more price. Both are in [0, 1) and for display only.
	Share, Next float64
}

// commonly is how many prices a law takes: on problems of 9 to 101 teachers, 2 to 4 classes and 10 to 1,000 answers
// it took up to so many.
var commonly = map[answers.Name]int{answers.NormalLaw: 3, answers.ChainLaw: 10, answers.CoinsLaw: 16, answers.OneLaw: 5,
	answers.ProgramLaw: 4}

// way makes the best table of a law.
type way struct {
	law  answers.Name
	make func(context.Context) (*answers.Table, error)
}

// begin says which ways are to come, for progress: the first is begun.
func (v *solver) begin(ways ...way) {
	v.rest = 0
	for i, w := range ways {
		if i == 0 {
			v.until = v.prices + commonly[w.law]
		} else {
			v.rest += commonly[w.law]
		}
	}
}

// share returns the share of the work that so many prices are.
func (v *solver) share(prices int) float64 {
	return float64(prices) / float64(max(v.until, prices+1)+v.rest)
}

// DefaultOrder returns the order of the program where none is stated: three quarters of the order
// at which normal noise of this budget converts to (ε, δ),
//
//	α = ¾·(1 + √(ln(1/δ)/ρ)),   √ρ = √(ε + ln(1/δ)) - √ln(1/δ)
//
// and at least 2. For 25 teachers, 4 classes, δ = 1e-6 and 100 answers that is 22 at ε = 1, 8 at 3
// and 4 at 8: each agrees more often than the others that were tried there (8 and 12; 4 and 16; 8
// and 16).
func DefaultOrder(p answers.Problem) int {
	alpha := 1 + math.Sqrt(-math.Log(p.Delta)/rate(p))
	return int(math.Round(min(answers.MaxOrder, max(2, 0.75*alpha))))
}

func (o Options) validate() error {
	if o.Law != "" {
		if err := check.Among([]answers.Name{answers.NormalLaw, answers.ChainLaw, answers.CoinsLaw,
			answers.OneLaw, answers.ProgramLaw})("law", o.Law); err != nil {
			return err
		}
	}
	if o.Order != 0 {
		if err := check.Whole("order", o.Order, 2, answers.MaxOrder); err != nil {
			return err
		}
	}
	if o.Work < 0 {
		return check.Want("work of the program", o.Work, "≥ 0")
	}
	return nil
}

// solver is a running solve.
type solver struct {
	Options
	system  *answers.System
	prior   answers.Prior
	weights plurality.Weights
	began   time.Time
	prices  int
	// of progress: at how many prices the law at work should be done, and how many are to come after it
	until, rest int

	chosenStep bool // Price.Step is none that was asked for
}

// Best returns the best table that is found for p, certified: normal noise priced by its label, or
// a better one. For two classes at t = 1 that is the best table that a Rényi bound of one order
// allows, otherwise the optimum of a convex program under such a bound.
//
// The errors are a *constraints.ParameterError for p, prior or o, game.ErrTooLarge, or ctx.Err().
func Best(ctx context.Context, p answers.Problem, prior answers.Prior,
	o Options) (*answers.Table, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := prior.Validate(p); err != nil {
		return nil, err
	}
	v := &solver{Options: o, prior: prior, began: time.Now()}
	var err error
	if v.system, err = answers.NewSystem(ctx, p); err != nil {
		return nil, err
	}
	if v.weights, err = prior.Weights(ctx, v.system); err != nil {
		return nil, err
	}
	if v.Price.Step == 0 {
		v.Price.Step, v.chosenStep = stepOf(v.system), true
	}
	best, err := v.best(ctx)
	if err != nil && (best == nil || ctx.Err() == nil || !o.BestOnCancel) {
		return nil, err
	}
	if err == nil { // of two classes there is a bound already
		if best, err = v.bounded(ctx, best); err != nil && (best == nil || !o.BestOnCancel) {
			return nil, err
		}
	}
	best.Solver, best.Version = string(best.Law.Name), o.Version
	return best, nil
}

// best returns a table with the error that kept it from a better one.
func (v *solver) best(ctx context.Context) (*answers.Table, error) {
	p := v.system.Problem()
	two := p.HasChains()
	if p.Named && v.Law == "" {
		return v.bestOf(ctx, nil, math.Inf(-1), v.named())
	}
	if p.Pure() && v.Law != "" && v.Law != answers.OneLaw {
		return nil, check.Want("law", v.Law, "left out, or that of one answer, where delta is 0")
	}
	v.begin(way{law: v.Law})
	if p.Labels > 0 && (v.Law == answers.NormalLaw || v.Law == answers.ProgramLaw) {
		return nil, check.Want("law", v.Law, "left out, or of chains, where each label has masses of its own")
	}
	switch v.Law {
	case answers.NormalLaw:
		if p.Named {
			return v.offset(ctx)
		}
		t, _, err := v.normal(ctx)
		return t, err
	case answers.OneLaw:
		return v.one(ctx)
	case answers.ChainLaw, answers.CoinsLaw:
		if !two {
			return nil, check.Want("law", v.Law,
				"not a chain, which is for two classes without abstentions")
		}
		if v.Law == answers.CoinsLaw {
			return v.coins(ctx)
		}
		return v.chain(ctx)
	}
	if p.Named { // the program's proof is of classes that are alike
		return nil, check.Want("law", v.Law, "not the program, whose proof is for classes that are treated alike")
	}
	var at []float64 // normal noise, where the program begins
	others := []way{{answers.ProgramLaw, func(ctx context.Context) (*answers.Table, error) { return v.program(ctx, at) }}}
	if two && v.Law == "" {
		if others[0] = (way{answers.ChainLaw, v.chain}); p.Answers <= fewAnswers {
			others = append(others, way{answers.CoinsLaw, v.coins})
		}
	}
	if v.Law == "" && p.Answers <= mostComposed && (two || p.Answers <= fewAnswers) {
		others = append(others, way{answers.OneLaw, v.one})
	}
	v.begin(append([]way{{law: answers.NormalLaw}}, others...)...)
	best, value := (*answers.Table)(nil), 0.
	var err error
	if best, at, value, err = v.beside(ctx); err != nil {
		return nil, err
	}
	if v.Law == answers.ProgramLaw {
		v.begin(others...)
		return others[0].make(ctx)
	}
	best, err = v.bestOf(ctx, best, value, others)
	if best == nil && (err == nil || errors.Is(err, errNoTable)) {
		best, _, err = v.normal(ctx)
	}
	return best, err
}

// bestOf returns the best table of a first one of such a value, which may be nil, and of others, with the
// error that kept it from a better one.
func (v *solver) bestOf(ctx context.Context, best *answers.Table, value float64, others []way) (*answers.Table, error) {
	for i, other := range others {
		v.begin(others[i:]...)
		t, err := other.make(ctx)
		switch {
		case errors.Is(err, errNoProgram), errors.Is(err, errNoTable), errors.Is(err, game.ErrTooLarge):
			// then another is the best
		case err != nil:
			return best, err
		case t.Value > value:
			best, value = t, t.Value
		}
	}
	if best == nil {
		return nil, errNoTable
	}
	return best, nil
}

// beside returns what normal noise is good for beside other tables: the table, in floating point, and
// its value. The certified table itself is nil where it would take a second price and is not asked
// for: another is mostly better, and then it is made in vain. Where the second price would not end
// the search, the value differs by less than the tolerance is worth.
func (v *solver) beside(ctx context.Context) (t *answers.Table, at []float64, value float64,
	err error) {
	s := v.system
	if v.BestOnCancel || v.Law != "" || slackOf(s) < tolerance {
		if t, at, err = v.normal(ctx); err != nil {
			return nil, nil, 0, err
		}
		return t, at, t.Value, nil
	}
	f := v.normals()
	x, err := f.guess(ctx, s)
	if err != nil {
		return nil, nil, 0, err
	}
	if at, err = f.probabilities(x); err != nil {
		return nil, nil, 0, err
	}
	price, _, err := s.Price(ctx, masses(s, at), v.Price)
	if err != nil {
		return nil, nil, 0, err
	}
	v.tell(answers.NormalLaw)(price)
	if x, err = f.corrected(ctx, s, x, logarithm(price)); err != nil {
		return nil, nil, 0, err
	}
	if at, err = f.probabilities(x); err != nil {
		return nil, nil, 0, err
	}
	return nil, at, v.value(masses(s, at)), nil
}

func (v *solver) tell(law answers.Name) func(delta float64) {
	return func(delta float64) {
		v.prices++
		if v.Progress != nil {
			v.Progress(Progress{time.Since(v.began), law, v.prices, delta, v.share(v.prices), v.share(v.prices + 1)})
		}
	}
}

// normals are the tables of normal noise, by the logarithm of its deviation.
func (v *solver) normals() family {
	p := v.system.Problem()
	near := math.Log(float64(p.Affected)) + math.Log(float64(p.Answers)/rate(p))/2
	return family{low: math.Log(0.05), high: math.Log(1e7), near: min(16, max(-2, near)),
		probabilities: func(x float64) ([]float64, error) {
			return normal(v.system, math.Exp(x)), nil
		}}
}

// normal returns the table of normal noise, and it in floating point.
func (v *solver) normal(ctx context.Context) (*answers.Table, []float64, error) {
	got, err := v.normals().calibrate(ctx, v.system, v.Price, math.NaN(), v.tell(answers.NormalLaw))
	if err != nil {
		return nil, nil, err
	}
	t, err := answers.NewWeightedTable(got.certified, v.prior, v.weights,
		answers.Law{Name: answers.NormalLaw, Sigma: math.Exp(got.x)}, nil)
	return t, got.probabilities, err
}

// chain returns the best chain over the orders.
func (v *solver) chain(ctx context.Context) (*answers.Table, error) {
	order, x := v.Order, math.NaN()
	if order == 0 {
		var err error
		if order, x, err = v.order(ctx); err != nil {
			return nil, err
		}
	}
	best, err := v.chainTable(ctx, order, x)
	if err != nil || v.Order != 0 || !v.system.Problem().Named || v.system.Problem().Answers > fewAnswers {
		return best, err
	}
	// Of few answers the estimates of an order are off by more than the orders differ.
	at := slices.Index(orders, order)
	for i := max(0, at-1); i <= min(len(orders)-1, at+1); i++ {
		if i == at {
			continue
		}
		t, err := v.chainTable(ctx, orders[i], math.NaN())
		switch {
		case errors.Is(err, errNoTable):
		case err != nil:
			return best, err
		case t.Value > best.Value:
			best = t
		}
	}
	return best, nil
}

func (v *solver) chainTable(ctx context.Context, order int, x float64) (*answers.Table, error) {
	got, err := v.chainOf(order).calibrate(ctx, v.system, v.Price, x, v.tell(answers.ChainLaw))
	if err != nil {
		return nil, err
	}
	law := answers.Law{Name: answers.ChainLaw, Order: float64(order), Moment: moment(got.x)}
	return answers.NewWeightedTable(got.certified, v.prior, v.weights, law, nil)
}

// fewAnswers is the most answers for which the chain of Q coins is tried. With more, chains of a
// Rényi bound are as good.
const fewAnswers = 32

// coins returns the chain of Q coins. At one answer no table is better. With more, an adversary
// that changes between pairs gains more than one pair shows, and the coins' ε is below the promised
// one. Prices jump where the ratios of a few answers pass e^ε, so that ε is found by bisection.
func (v *solver) coins(ctx context.Context) (*answers.Table, error) {
	p, o := v.system.Problem(), v.Price
	if v.chosenStep {
		o.Step = min(fineStep, o.Step)
	}
	least := -math.Log(p.Epsilon)
	var best *found
	low, x := least, least
	for n, step := 0, 1./64; n < manyPrices; n++ {
		q := v.window(p.CoinLink(min(p.Epsilon, math.Exp(-x))))
		certified, err := answers.Certify(ctx, v.system, masses(v.system, q), o)
		var over *answers.PriceError
		switch {
		case errors.As(err, &over):
			v.tell(answers.CoinsLaw)(over.Delta)
			low = x
		case err != nil:
			return nil, err
		default:
			v.tell(answers.CoinsLaw)(certified.Certificate().Delta)
			best = &found{x: x, probabilities: q, certified: certified}
		}
		if best == nil {
			x, step = x+step, 2*step
			continue
		}
		if best.x-low < 1e-4 {
			break
		}
		x = (low + best.x) / 2
	}
	if best == nil {
		return nil, errNoTable
	}
	return answers.NewWeightedTable(best.certified, v.prior, v.weights,
		answers.Law{Name: answers.CoinsLaw, Epsilon: min(p.Epsilon, math.Exp(-best.x))}, nil)
}

// rate returns the zCDP ρ that costs (ε, δ) by the plain conversion: a place to begin.
func rate(p answers.Problem) float64 {
	l := -math.Log(p.Delta)
	return math.Pow(math.Sqrt(p.Epsilon+l)-math.Sqrt(l), 2)
}

// moment is R of a family's x, which falls with the noise as 1/σ² does.
func moment(x float64) float64 { return math.Exp(-2 * x) }

func (v *solver) chainOf(order int) family {
	p, alpha := v.system.Problem(), float64(order)
	near := -math.Log(math.Expm1(min(650, alpha*(alpha-1)*rate(p)/float64(p.Answers)))) / 2
	return family{low: -340, high: 16, near: min(15, max(-330, near)),
		probabilities: func(x float64) ([]float64, error) {
			return v.window(renyiLink(float64(order), moment(x))), nil
		}}
}
