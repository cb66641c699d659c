// Package certify proves the promise of a mechanism that was found by other means: a noise
// function of two classes, or the class probabilities of each histogram of votes. It reads them
// from a small file, rounds them to what this program draws, and proves the smallest δ for a stated
// ε, or the smallest ε for a stated δ. The result is a table like a solved one, for every release.
//
// Start with Read and Draft.Certify. The proofs are those of packages gamma and plurality
// (CertifyDelta, CertifyEpsilon), which every other table has too; this package holds the files and
// what must be stated.
//
// # What is proved
//
// The rounded table, of which every privacy constraint is checked, and nothing else: a mechanism
// that was rounded in another way is another one. Nothing is shrunk and no noise is added, so that
// the table is the given mechanism to within Result.Change.
//
// # Notation
//
//	K, t           Stated.K, Affected                 teachers, and how many of them one record reaches
//	(ε₀, δ)        Stated.LabelEpsilon, Delta         of one label: one is stated, the other proved
//	(ε, Δ)         Stated.Epsilon, TeacherDelta       what each teacher promises, if anything
//	γ(l)           Draft.Gamma                        with probability γ(l) the majority, else a coin
//	p(h,c)         Draft.Laws                         probability of class c where the votes are h
package certify
