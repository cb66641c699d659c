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

//go:embed definitions/*.json
var definitions embed.FS

// Solver finds an optimal noise function, as solve.Optimal does.
type Solver func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)

// Field returns the field, with the solver that its experiments use.
func Field(s Solver) experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{
			{Name: "gamma", New: func() experiment.Parameters { return &gammaParameters{solve: s} }},
			{Name: "priors", New: func() experiment.Parameters { return &priorParameters{solve: s} }},
			{Name: "accounting", New: func() experiment.Parameters { return &accountingParameters{} }},
			{Name: "gnmax-noise", New: func() experiment.Parameters { return &noiseParameters{} }},
			{Name: "images", New: func() experiment.Parameters { return &imageParameters{solve: s} }},
		},
		Looks: looks,
		Files: definitions,
		Names: []string{"figure-3.2", "figure-b.4", "figure-b.5", "figure-b.6", "figure-b.7",
			"figure-b.8", "accounting", "mnist", "fashion-mnist"},
	}
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

// looks have the colours of Okabe and Ito, told apart by every kind of colour vision, and
// two greys.
var looks = map[experiment.Method]experiment.Look{
	methodOpt:      {Title: "γ_opt", Color: 0xD55E00},
	methodOptClear: {Title: "γ_opt, clear prior", Color: 0xCC79A7, Dashes: []float64{6, 2}, Glyph: 1},
	methodAgree:    {Title: "γ for agreement", Color: 0xE69F00, Glyph: 3},
	methodSub:      {Title: "γ_Sub", Color: 0x0072B2, Dashes: []float64{5, 3}, Glyph: 2},
	methodDouble:   {Title: "γ_DSub", Color: 0x56B4E9, Dashes: []float64{2, 2}, Glyph: 3},
	methodConst:    {Title: "γ_const (RR)", Color: 0x333333, Dashes: []float64{8, 3, 2, 3}, Glyph: 4},
	methodTight:    {Title: "RR, tight", Color: 0x777777, Dashes: []float64{1, 2}, Glyph: 5},
	methodGNMax:    {Title: "GNMax", Color: 0x009E73, Glyph: 4},
	methodGNExact:  {Title: "GNMax, exact σ", Color: 0x009E73, Dashes: []float64{4, 3}, Glyph: 3},
	methodVoteOpt: {Title: "best vote count, t = 1", Color: 0xCC79A7, Dashes: []float64{6, 2},
		Glyph: 1},
	methodDisjoint: {Title: "γ_opt, t = 1", Color: 0xE69F00, Glyph: 5},
	methodMajority: {Title: "majority, not private", Color: 0x999999, Dashes: []float64{1, 2}},
}
