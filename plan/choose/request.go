package choose

import (
	"context"
	"slices"
	"time"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
)

// Request holds the stated parameters of a release. A nil pointer, an empty text and 0 teachers
// mean that the parameter was not stated.
type Request struct {
	// Stated has the teachers, the votes and the privacy of one answer; Classes and Neighbours are required.
	ensemble.Stated

	// Noise is for the optimum of two classes. Its objective is Agreement, since labels are meant to
	// be used, unless it or a prior of the source's objective is stated.
	Noise Noise
	Many  Many // the optimum of many classes
	// Names are those of the classes, in order, which shares and costs may be stated by; nil for their numbers.
	Names []string

	// Timeout bounds all work, which the caller's ctx does: it is stated here because not all
	// mechanisms take any.
	Timeout *time.Duration `flag:"timeout"`
	// SolveWithin limits the time of the search for the optimum of many classes, where somebody states
	// it: its end is an error, and never another mechanism.
	SolveWithin *time.Duration `flag:"solve-within" name:"time to solve" help:"end with an error where a table of many classes, or for many labels, is not found within this time (default: no limit of time; tables that need too much work are left out by their size)"`

	// ReadTable reads the table that was stated, TableName its name in errors; nil where none was.
	ReadTable func(context.Context) (release.Table, error)
	TableName string
	// Tables are compared besides the program's own mechanisms.
	Tables []NamedTable

	Checkpoint bool // the release may be resumed
	Service    bool // the mechanism must be the same at the next start

	Solve Solvers

	noVotes bool // K must be stated
}

// Solvers find optima and read the files of their priors.
type Solvers struct {
	// Noise returns the optimal noise function. Defaults to solve.Optimal.
	Noise func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)
	// Plurality returns the optimal table of many classes, or a *solve.LimitError of package
	// plurality/solve where it takes more work than is stated, 0 for any. Defaults to
	// plan.SolvePlurality.
	Plurality func(ctx context.Context, p plurality.Problem, o plurality.Objective,
		work int64) (*plurality.Table, error)
	Histogram  ReadCounts
	Histograms ReadHistograms
}

// defaults fills in solvers that keep nothing.
func (s *Solvers) defaults() {
	if s.Noise == nil {
		s.Noise = solve.Optimal
	}
	if s.Plurality == nil {
		s.Plurality = plan.SolvePlurality
	}
}

// ReadCounts reads how often each number of k votes occurs: Noise.PriorCounts, where it is a file.
type ReadCounts = func(ctx context.Context, file string, k int) ([]float64, error)

// ReadHistograms reads how often each histogram of k votes over many classes occurs.
type ReadHistograms = func(
	ctx context.Context, file string, k, classes int,
) ([]plurality.HistogramCount, error)

// DefaultGap is the gap to the optimum of many classes in a release, a comparison and a plan. None
// of them can show a difference of less than one label in ten thousand, and the last digits take
// most of the time.
const DefaultGap = 1e-4

// names returns the names of the classes.
func (r *Request) names() []string {
	if len(r.Names) == r.Classes {
		return r.Names
	}
	return Numbered(r.Classes)
}

// mechanism describes the one that is stated or was decided on.
func (r *Request) mechanism() ensemble.Description {
	d, _ := ensemble.Describe(r.Mechanism)
	return d
}

// judged returns Noise with its objective.
func (r *Request) judged() Noise {
	n := r.Noise
	if n.Objective == "" && n.Prior == "" {
		n.Objective = Agreement
	}
	return n
}

// plurality returns the problem of many classes that is stated for k teachers.
func (r *Request) plurality(k, classes int) plurality.Problem {
	per := r.PerAnswer()
	return plurality.Problem{K: k, Classes: classes, Epsilon: per.Epsilon, Delta: per.Delta,
		Affected: r.Reach(k), Abstain: r.Many.Abstain != nil}
}

// The parameters that rules are about, as errors name them.
const (
	pMechanism    check.Parameter = "mechanism"
	pTable        check.Parameter = "table"
	pK            check.Parameter = "number of teachers K"
	pClasses      check.Parameter = "classes"
	pNumClasses   check.Parameter = "numbered classes"
	pThreshold    check.Parameter = "threshold"
	pCheckRatio   check.Parameter = "check ratio"
	pM            check.Parameter = "privacy allowance m"
	pMissing      check.Parameter = "missing"
	pLabelEpsilon check.Parameter = "label epsilon"
	pEpsilon      check.Parameter = "epsilon"
	pTeacherDelta check.Parameter = "teacher delta"
	pDelta        check.Parameter = "delta"
	pAffected     check.Parameter = "affected"
	pData         check.Parameter = "data"
	pTimeout      check.Parameter = "timeout"
	pCheckpoint   check.Parameter = "checkpoint"

	pObjective   check.Parameter = "objective"
	pPrior       check.Parameter = "prior"
	pYesFrom     check.Parameter = "yes from"
	pPriorMean   check.Parameter = "prior mean"
	pPriorCounts check.Parameter = "prior counts"
	pShape       check.Parameter = "shape"
	pMethod      check.Parameter = "method"
	pOnInterrupt check.Parameter = "on interrupt"

	pGap           check.Parameter = "gap"
	pSolveWithin   check.Parameter = "time to solve"
	pConcentration check.Parameter = "concentration"
	pAccuracy      check.Parameter = "accuracy"
	pAbstain       check.Parameter = "value of abstaining"

	pAcceptConstant check.Parameter = "accept constant"
	pShares         check.Parameter = "shares"
	pCost           check.Parameter = "cost"
	pBudgetEpsilon  check.Parameter = "budget epsilon"
	pBudgetDelta    check.Parameter = "budget delta"
)

// Parameters that go with one kind of mechanism.
var (
	ofNoise = []check.Parameter{pObjective, pPrior, pPriorMean, pPriorCounts, pShape, pMethod,
		pOnInterrupt}
	ofOptimum = []check.Parameter{pGap, pSolveWithin, pConcentration, pAccuracy, pAbstain}
	// They describe the majority of two classes, and mean nothing to many.
	ofMajority = []check.Parameter{pM, pTeacherDelta, pPrior, pPriorMean, pShape, pMethod,
		pOnInterrupt}
	ofCheck = []check.Parameter{pThreshold, pCheckRatio}
)

// first returns the first of the parameters that was stated.
func (r *Request) first(parameters ...check.Parameter) (check.Parameter, bool) {
	stated := map[check.Parameter]bool{}
	for _, p := range param.Of(r) {
		stated[p.Name] = p.Stated()
	}
	i := slices.IndexFunc(parameters, func(p check.Parameter) bool { return stated[p] })
	if i < 0 {
		return "", false
	}
	return parameters[i], true
}

// stated reports whether the parameter was stated.
func (r *Request) stated(p check.Parameter) bool {
	_, ok := r.first(p)
	return ok
}

// usagef returns the error of a statement that breaks a rule. Arguments may be parameters.
func usagef(format string, args ...any) error {
	return &release.UsageError{Err: check.Namedf(format, args...)}
}

// require refuses a request in which a group has no parameter that was stated, or two.
func (r *Request) require(groups ...[]check.Parameter) error {
	var missing [][]check.Parameter
	has := map[check.Parameter]bool{}
	for _, group := range groups {
		given := 0
		for _, p := range group {
			if r.stated(p) {
				given++
			}
		}
		switch {
		case given == 0:
			missing = append(missing, group)
			has[group[0]] = true
		case given > 1:
			return usagef("%s and %s exclude each other", group[0], group[1])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hint := check.Named("")
	if has[pEpsilon] && has[pTeacherDelta] {
		hint = check.Named("; teachers that promise nothing have %s inf, and no %s",
			pEpsilon, pTeacherDelta)
	}
	return &release.UsageError{Err: check.Missing(hint, missing...)}
}

func one(p check.Parameter) []check.Parameter { return []check.Parameter{p} }

var (
	cost = []check.Parameter{pM, pLabelEpsilon}
	// data stand for affected, and are never stated besides
	reach = []check.Parameter{pAffected, pData}
)
