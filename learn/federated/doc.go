// Package federated trains models on the records of many silos without a trusted server: each
// record's clipped gradient is made one short private report, a shuffler puts the reports in an
// order of their own, and the server averages them. Record-level privacy is of the whole
// transcript: all shuffled reports, all models, all that selected silos return.
//
//	plan, err := federated.PSGM{Setting: setting, Momentum: 0.1}.Plan(n, features)
//	plan.Price                            // ε, and ε₀ of a report, before any record is read
//	algorithm, err := plan.Train(records) // a simulation, or a release, in one process
//
// The same run across machines is a Server, a Silo for each holder of records and a
// report.Shuffler, joined by nothing but a Broadcast, Reports, a Request and a Reply. A simulation
// drives these very roles.
//
// PSGM keeps a STORM estimate at the server and follows it by SARAH steps at one silo between
// rounds. Central has the baselines whose server sees the records. Noiseless and Rehearsal are for
// measuring: they have no price and no release.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// Neighbours differ in one record of one silo, replaced. The shuffler is trusted to forget who sent
// what, and not to collude with the server; if it does, each report is still ε₀-DP. Silos are
// trusted with their own records, and with their share of the local noise. A price is for a least
// number of honest reports: all but those that may not come (PSGM.Missing), without which a round
// is refused, and those of silos that work with the server (PSGM.Colluding). Tuning a step size on
// the private loss, early stopping and objectives are outside the account.
//
// # Notation
//
//	M, n_m, N     Setting.Silos           silos, records of one, of all
//	d             Plan.Dim                length of a model
//	R, r          Setting.Rounds, Broadcast.Round, from 0
//	H             Local.Steps             local steps of a round
//	B_0, B_1      PSGM.FirstBatch, Batch  records of each silo in a round
//	B_2           Local.Batch             records of a local step
//	C_1, C_2, C_3 Setting.DifferenceClip, GradientClip, Local.Clip
//	β, ρ          PSGM.Momentum           weight of fresh gradients; 1 in round 0
//	η             Setting.StepSize
//	ε₀            PSGM.Epsilon            of one report
//	σ             Local.Noise             deviation over C_3·‖w_k - w_{k-1}‖
//	x_r, v_r      Broadcast.Model, Request.Direction
//
// Sources: Efficient private federated non-convex optimization with shuffled model (anonymous
// submission), with its misprints put right: gradients of stream 2 at x_r, H steps in every round,
// local noise that is not squared. Murata and Suzuki, DIFF2: Differential Private Optimization via
// Gradient Differences for Nonconvex Distributed Learning (2023), for Central.
package federated
