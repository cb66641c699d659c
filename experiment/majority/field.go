// Package majority repeats the figures and tables on private majorities: what noise
// functions look like and how often they are right, what answers cost together, how much
// noise vote counts need, and teachers trained on images.
//
// Source: S. Jiang, Communication Efficient and Differentially Private Optimization (2025),
// Chapter 3 and Appendix B.4.
//
// # Notation
//
//	K        Teachers        number of teachers
//	m        Allowances      privacy allowance: one label may cost mε
//	M        Subsamples      teachers that subsampling asks, where m follows from M
//	(ε, Δ)   Epsilon, TeacherDelta  what each teacher costs
//	δ'       Slack           what a composition theorem may spend besides the δ
//	(τε, λ)  tau, lambda     the composition of all K teachers
//	γ_opt    opt             the optimal noise function
//	γ_Sub    sub             subsampling
//	γ_DSub   dsub            double subsampling
//	γ_const  const           randomised response
//	         tight           the largest private constant
//	         opt_agree       the optimum for Pr[label ≠ majority of the votes]
//	ℰ        error           the source's metric as written: gamma.UniformError
//	σ, C     NoiseMultiplier, Clip  of DP-SGD
//	Q        Queries         labels asked for
//	t        affected        teachers that one record reaches
package majority

import (
	"context"
	"embed"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Solver finds an optimal noise function, as solve.Optimal does.
type Solver func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)

// Field returns the field, with the solver that its experiments use.
func Field(s Solver) experiment.Field {
	return experiment.ReadField(files,
		experiment.Kind{Name: "gamma",
			New: func() experiment.Parameters { return &gammaParameters{solve: s} }},
		experiment.Kind{Name: "priors",
			New: func() experiment.Parameters { return &priorParameters{solve: s} }},
		experiment.Kind{Name: "accounting",
			New: func() experiment.Parameters { return &accountingParameters{} }},
		experiment.Kind{Name: "gnmax-noise",
			New: func() experiment.Parameters { return &noiseParameters{} }},
		experiment.Kind{Name: "images",
			New: func() experiment.Parameters { return &imageParameters{solve: s} }},
	)
}

// The methods.
const (
	methodOpt      experiment.Method = "opt"       // γ_opt, the optimum
	methodOptClear experiment.Method = "opt_clear" // γ_opt for teachers with a clear opinion
	// the least Pr[label ≠ majority of the votes], uniform teachers
	methodAgree   experiment.Method = "opt_agree"
	methodSub     experiment.Method = "sub"   // γ_Sub, subsampling m of K
	methodDouble  experiment.Method = "dsub"  // γ_DSub, subsampling 2m-1 of K
	methodConst   experiment.Method = "const" // γ_const, randomised response
	methodTight   experiment.Method = "tight" // the largest private constant
	methodGNMax   experiment.Method = "gnmax" // vote counts with normal noise, the source's σ
	methodGNExact experiment.Method = "gnmax_exact"
	// the best mechanism on the votes of non-private teachers
	methodVoteOpt  experiment.Method = "vote_opt"
	methodDisjoint experiment.Method = "opt_t1" // γ_opt where one record reaches one teacher
	// the plain majority of the non-private teachers: no privacy
	methodMajority experiment.Method = "majority"
)
