// Package selection trains several candidates of a public grid, of whatever methods, and releases
// the best of them, and pays for the choice: tuning without it is not private.
//
//	s := selection.Selection{Candidates: grid, Score: selection.Score{Kind: selection.Accuracy, Loss: l}, Target: target}
//	plan, err := s.Plan(n, d)   // a train.Plan like any other: Price, Compare, Train
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// The released model, which candidate it is of and, with Stopping, its noisy score are together (ε,
// δ)-DP by the account of Price. The grid is public: it may depend on no private record, nor may
// Runs. Candidates are compared by a Score on the very records that they were trained on, whose use
// is part of the account. There are two ways:
//
//   - All (no Stopping). Each candidate is trained once and all of them are paid for, as is one
//     choice by the exponential mechanism: Pr[i] ∝ e^{score_i/s}, whose loss lies in an interval of
//     length range/s (accountant.BoundedRange). Given the models, the range of a score's change is
//     what a record can make the scores of two candidates move apart.
//   - Stopping. K is drawn from a public law, and K times a candidate is drawn, trained and scored.
//     The score has discrete normal noise, and the best noisy score is released with its model. A
//     run is (candidate, model, noisy score), which is what accountant.BestOf asks for: the
//     order looks at nothing else. It costs about as much as two or three runs however many there
//     are on average, but needs noise on the scores, and methods with a Rényi divergence.
//
// K, the unreleased models and scores, and the state of an interrupted run are as secret as the
// records: given K = k the release costs what k runs do. Progress and running time tell K to
// whoever sees them. Two runs never share coins.
//
// What a score may not be: worked out on private records outside of this account. Nor may a
// selection be repeated until its score pleases, but by paying again.
//
// HeldOut tests one model, chosen or not, on records that it did not learn from, at no further
// cost.
//
// # Notation
//
//	m      len(Candidates)   size of the grid
//	K      Stopping          number of runs, a random one
//	ε_b    plan.base         what one candidate is calibrated to
//	u      unit              the most that one record changes a score by, in whole units
//	s, σ   scale, sigma      of the choice, and of the noise on scores, in units
//
// Sources: Papernot and Steinke, Hyperparameter Tuning with Rényi Differential Privacy (2022); Liu
// and Talwar, Private Selection from Private Candidates (2019); McSherry and Talwar, Mechanism
// Design via Differential Privacy (2007).
package selection
