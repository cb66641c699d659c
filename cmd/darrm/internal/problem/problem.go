package problem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
)

// Flags state a release: the teachers, the privacy of an answer, the objective and the solver.
type Flags struct {
	choose.Request        // what the flags state, but Data
	Data           string // instead of Affected
	CacheFlags
	TimeoutFlag
	Unsaved error // of a cache that could not keep a table, to be told when all else is done
}

// choices are the values of flags that have a fixed list of them.
var choices = map[string][]string{
	"teachers":   names(ensemble.FreshTeachers, ensemble.FrozenTeachers),
	"neighbours": {accountant.ReplaceOne.Name(), accountant.AddOrRemoveOne.Name()},
	"mechanism":  MechanismNames(anyMechanism),
	"objective":  {choose.Source, choose.Agreement},
	"prior":      {choose.Uniform, choose.Clear, choose.Custom, choose.Counts, choose.WorstCase},
	"shape":      names(gamma.Shapes()...), "method": names(solve.Methods()...),
	"on-interrupt": {choose.Nothing, choose.Best},
}

func names[T ~string](values ...T) (names []string) {
	for _, v := range values {
		names = append(names, string(v))
	}
	return names
}

// Register adds the flags of these parameters.
func (f *Flags) Register(c *cobra.Command, flags ...string) {
	if f.Neighbours == 0 {
		f.Neighbours = accountant.ReplaceOne
	}
	cli.Register(c, &f.Request, flags...)
	for _, name := range flags {
		if values, ok := choices[name]; ok {
			cli.OneOf(c, name, values...)
		}
		if name == "cost" { // or a list of costs
			cli.Offer(c, name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return []string{choose.OrderedCosts, choose.BalancedCosts}, cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// Usage is the help of the flag of a parameter, of which a sweep takes a list.
func Usage(flag string) string {
	return strings.ReplaceAll(param.Lookup(choose.Request{}, flag).Help, "$", "--")
}

// RegisterRelease adds the flags of an answer's privacy, of the objective with its default, and of the
// solver.
func (f *Flags) RegisterRelease(c *cobra.Command, objective string) {
	f.RegisterPromise(c)
	f.RegisterObjective(c, objective)
	f.Register(c, "method", "on-interrupt")
	f.RegisterTimeout(c,
		"give up solving, or checking a table, after this time, such as 90s (default none)")
	f.RegisterCache(c)
}

// RegisterPromise adds the flags of the teachers and of an answer's privacy.
func (f *Flags) RegisterPromise(c *cobra.Command) {
	f.Register(c, "m", "label-eps", "eps", "teacher-delta", "delta")
	f.RegisterReach(c)
}

// RegisterReach adds --affected, and --data in its place.
func (f *Flags) RegisterReach(c *cobra.Command) {
	f.Register(c, "affected")
	RegisterData(c, &f.Data)
}

// RegisterData adds --data, which stands for --affected.
func RegisterData(c *cobra.Command, data *string) {
	cli.Enum(c, data, "data", "what the teachers were trained on, instead of --affected: "+
		"\"disjoint\" parts (one record reaches one teacher) or \"overlapping\" (any number). If a rule that "+
		"looks at the record split the data, such as a hash, a record that is replaced leaves one teacher and "+
		"may join another: then --affected 2", release.DataNames()...)
	cli.Exclude(c, "", "affected", "data")
}

// Reach returns how many of k teachers one record can reach, and whether a flag states it.
func (f *Flags) Reach(c *cobra.Command, k int) (int, bool, error) {
	if f.Affected != nil {
		if k == ensemble.AllTeachers {
			return *f.Affected, true, nil
		}
		return *f.Affected, true, f.CheckReach(k)
	}
	if !c.Flags().Changed("data") {
		return k, false, nil
	}
	affected, err := release.AffectedByData(f.Data)
	if affected == ensemble.AllTeachers {
		affected = k
	}
	return affected, err == nil, err
}

// AgreementRule names the one metric of solve, plan, compare and a release's scores:
// labellaw.Plurality.
const AgreementRule = "any class with the most votes is right"

// RequiredBudget names the flags of a table's privacy. Every command that solves requires one of
// them.
const RequiredBudget = "m|label-eps"

// problem returns the problem for k teachers that the flags describe, by default of these teachers.
func (f *Flags) problem(c *cobra.Command, k int, teachers accountant.Cost) (constraints.Problem, error) {
	s, err := f.stated(c)
	if err := cmp.Or(err, f.CheckReach(k)); err != nil {
		return constraints.Problem{}, err
	}
	s.Epsilon = cmp.Or(s.Epsilon, &teachers.Epsilon)
	if !s.PresumesNothing() { // the default is not for teachers that promise nothing
		s.TeacherDelta = cmp.Or(s.TeacherDelta, &teachers.Delta)
	}
	return s.Problem(k)
}

// stated returns what the flags state, with what --data says of the reach.
func (f *Flags) stated(c *cobra.Command) (ensemble.Stated, error) {
	s := f.Stated
	reach, said, err := f.Reach(c, ensemble.AllTeachers)
	if said {
		s.Affected = &reach
	}
	return s, err
}

// Of returns what the flags state of k teachers and so many classes.
func (f *Flags) Of(c *cobra.Command, k, classes int) (ensemble.Stated, error) {
	s := f.Stated
	reach, _, err := f.Reach(c, k)
	s.K, s.Classes, s.Affected = k, classes, &reach
	several, wrong := s.Several.Of(k)
	s.Several = several
	return s, cmp.Or(err, wrong)
}

// Asked returns the request that the flags describe, of a release or of a comparison. k is the
// number of teachers, or 0 where the votes determine it.
func (f *Flags) Asked(c *cobra.Command, a *cli.App, k int) (r choose.Request, err error) {
	if err := f.CheckReach(k); err != nil {
		return r, err
	}
	r = f.Request
	r.Stated, err = f.stated(c)
	r.Timeout = cli.WhenGiven(c, "timeout", &f.timeout)
	r.Solve = f.Solvers(a)
	return r, err
}

// Solve returns the certified table for k teachers, by default such teachers.
func (f *Flags) Solve(c *cobra.Command, a *cli.App, k int, teachers accountant.Cost) (s Solved[*gamma.Table],
	err error) {
	p, err := f.problem(c, k, teachers)
	if err != nil {
		return s, err
	}
	if _, err := f.Noise.Options(); err != nil { // before a file is read
		return s, err
	}
	if err := f.CheckTimeout(c); err != nil {
		return s, err
	}
	o, err := f.Many.CompleteNoise(c.Context(), f.Noise, k, choose.Numbered(2), Histogram(a))
	if err != nil {
		return s, err
	}
	return f.solveNoise(c.Context(), a, p, o)
}

// FlagGroups are the groups of the flags about votes, mechanisms and budgets.
var FlagGroups = []cli.FlagGroup{
	{Title: "Budget", Flags: "budget-eps budget-delta label-eps m delta queries slack " +
		"for compare-queries agreement records " +
		"accept-weak"},
	{Title: "Teachers", Flags: "eps teacher-delta teachers data affected neighbours ensemble " +
		"ensemble-digest draw votes-cast-anew"},
	{Title: "Votes", Flags: "K classes class classes-from num-classes same missing layout id-column label-column vote-columns " +
		"votes-column vote-column teacher-column query-ids header format compression labels num-labels most-yes yes-from separator"},
	{Title: "Output", Flags: "out out-format out-compression force scores plot plot-gap dry-run " +
		"insecure-seed verbose head-file skip-invalid"},
	{Title: "Ledger", Flags: "ledger request-id new-charge checkpoint key new-key"},
	{Title: "Service", Flags: "dev listen config tls-cert tls-key client-ca max-batch max-body " +
		"max-connections max-per-address max-requests request-timeout"},
	{Title: "Expert"},
}

// CacheFlags locate the cache of solved tables.
type CacheFlags struct {
	noCache  bool
	CacheDir string
}

// RegisterCache adds the flags to a command.
func (f *CacheFlags) RegisterCache(c *cobra.Command) {
	c.Flags().BoolVar(&f.noCache, "no-cache", false,
		"neither read nor write the cache of solved tables")
	c.Flags().StringVar(&f.CacheDir, "cache-dir", "",
		"directory of the cache (default see darrm cache path)")
	cli.TakesFolder(c, "cache-dir")
}

// Store opens the cache, or returns nil where none is wanted. It fails before any
// work is done if the cache cannot be written.
func (f *CacheFlags) Store() (*cache.Store, error) {
	if f.noCache {
		return nil, nil
	}
	dir := f.CacheDir
	if dir == "" {
		var err error
		if dir, err = cache.DefaultDir(); err != nil {
			return nil, &release.OutputError{Err: err}
		}
	}
	return cache.Open(dir)
}

// MechanismNames returns the values of --mechanism for which of holds.
func MechanismNames(of func(ensemble.Description) bool) (names []string) {
	for _, d := range ensemble.Mechanisms() {
		if of(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

func anyMechanism(ensemble.Description) bool { return true }

// IsBaseline reports whether noise functions are compared with the mechanism.
func IsBaseline(d ensemble.Description) bool { _, ok := d.Baseline(); return ok }

// RegisterMechanism adds the flags of the mechanism that answers, and --neighbours.
func (f *Flags) RegisterMechanism(c *cobra.Command) {
	f.Register(c, "mechanism", "threshold", "check-ratio", "neighbours")
	c.Flag("mechanism").Usage = "what answers: " + ensemble.OptimalTeachers + " (of two classes the optimum for teachers with a " +
		"promise of their own, the default where they have one), or with the same flags " +
		strings.Join(MechanismNames(IsBaseline), ", ") + "; or " + ensemble.OptimalCounts +
		" (the optimum by vote counts, the default else), " +
		strings.Join(MechanismNames(ensemble.Description.Calibrated), ", ") +
		", which take any classes, need --label-eps, --affected (or --data) and no promise of " +
		"the teachers"
	c.Flag("threshold").Usage = choose.CheckNames() +
		": votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be " +
		"chosen by these votes"
	c.Flag("check-ratio").Usage = choose.CheckNames() + ": noise of that check, in units of the noise of the counts"
}

// ReadAnyTable reads and certifies a table file within the time limit.
func (f *TimeoutFlag) ReadAnyTable(c *cobra.Command, a *cli.App,
	path string) (release.Table, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	t, err := checkTable(bar.Work(ctx, "checking the table", 1), a, path)
	bar.Stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // not an error of reading, which it may be wrapped in
	}
	return t, f.Late("check "+path, err)
}

func checkTable(ctx context.Context, a *cli.App, path string) (t release.Table, err error) {
	r, err := a.Open(ctx, path, release.MaxTableBytes)
	if err != nil {
		return t, err
	}
	defer r.Close()
	if t, err = release.ReadTable(ctx, r); err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
