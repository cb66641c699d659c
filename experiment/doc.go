// Package experiment repeats the figures and tables of two sources, on private majorities
// and on private shuffled gradient methods, and any variation of them; and it puts both
// together, from training to private labels.
//
// An experiment is a file: what is computed, for which parameters, and what the source
// printed. List names the built-in ones, Load reads one of them or a file of the user's
// own, Run computes it into a folder of numbers (CSV and JSON), pictures (SVG and PNG)
// and a record of what made them, and WriteReport turns such folders into one HTML page.
//
// # What a run promises
//
// The numbers are a function of the definition, the seed, the data and the program. They
// are worked out in steps; a step that the same program did for the same parameters is
// read back and not done again. Files appear whole or not at all,
// and the record, which names the hash of each, is written last: a folder without it is
// unfinished. A folder belongs to one run at a time.
//
// An experiment states claims about its own numbers, such as "γ_opt has the smallest
// error". They are tested in every run, and one that fails is shown as failed.
//
// # Data
//
// Experiments on training generate their data, as stand-ins for the real sets, unless the
// real files are in the data folder. Titles, pictures and notes say which of the two it is.
//
// # Nothing here is private
//
// Labels are drawn from a seed, teachers are trained with noise from a seed, and scores
// are computed from raw votes. An experiment shows what the mechanisms would do; to
// release anything, use package ensemble.
//
// # Notation
//
//	K        Teachers        number of teachers
//	m        Allowances      privacy allowance: one label may cost mε
//	M        Subsamples      teachers that subsampling asks, where m follows from M
//	(ε, Δ)   Epsilon, TeacherDelta  what each teacher costs
//	δ'       Slack           what a composition theorem may spend besides the δ
//	(τε, λ)  tau, lambda     the composition of all K teachers
//	γ_opt    MethodOpt       the optimal noise function
//	γ_Sub    MethodSub       subsampling
//	γ_DSub   MethodDouble    double subsampling
//	γ_const  MethodConst     randomised response
//	         MethodTight     the largest private constant
//	         MethodAgree     the optimum for Pr[label ≠ majority of the votes]
//	ℰ        MeasureError    the source's metric as written: gamma.UniformError
//	σ, C     NoiseMultiplier, Clip  of DP-SGD
//	Q        Queries         labels asked for
//	t        affected        teachers that one record reaches
//	p        Fraction        share of private steps
//	η        StepSize        step size
//	n_d      (of a schedule) private steps in an epoch of n
//	IG, SO, RR  Order        order of the private records: fixed, shuffled once, reshuffled
//
// Sources: S. Jiang, Communication Efficient and Differentially Private Optimization
// (2024), Chapter 3 and Appendix B.4; Improving the Convergence of Private Shuffled
// Gradient Methods with Public Data (2026), Section 6.
package experiment
