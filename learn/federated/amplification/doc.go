// Package amplification computes the privacy cost of rounds of shuffled reports: the differential
// privacy of a record whose locally private reports leave a shuffler among those of others.
//
// State a [Round] and ask for its Event, which an accountant.Accountant adds up, or let [Calibrate]
// find the ε₀ of a report for a target. [LocalSteps] is the phase in which one silo steps on its
// own records with normal noise. What is not stated is the worst case. All figures are rounded up
// and hold when one record is replaced (accountant.ReplaceOne).
//
// Reports are the honest ones that were really released: clients that dropped out
// hide nobody, and those that collude with the server hide nobody either.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The blanket view
//
// All certified modes but Paper rest on this. A report's law is a mixture: with probability cover
// it is uniform on the messages whatever the record, otherwise something else. Reveal which of the
// others' reports are of the second kind and delete them: that is a function of more than what is
// released, so it costs no less. Left are C ~ Bin(N_r-1, cover) uniform reports and the record's
// own among them, N = C+1 in all. For [report.OneBit] cover is 2p = 2/(e^ε₀+1): the bit given the
// seed is fair with that probability. Relative to N uniform messages the law for a vector x of full
// norm has density 1 + κ·S_x/N, where S_x adds up N signs, each fair because the bit that
// multiplies it is. Shorter vectors are mixtures of ±x/‖x‖, which divergences that are jointly
// convex cover. For any other ε₀-private report cover is e^-ε₀, and the same two laws are the worst
// pair (Feldman, McMillan and Talwar, Hiding Among the Clones, 2021, Theorem 3.1).
//
// # Notation
//
//	N_r       Reports   reports of one stream
//	ε₀        Epsilon   of one report;  κ = tanh(ε₀/2)
//	γ         Rate      share of a silo's records in a round, B/n
//	α         alpha     Rényi order
//	N, S      n, y·n    size of the blanket with the record's report; sum of N signs
//	ρ₁        Leading   (e^ε₀-1)²/((e^ε₀+1)·N_r): the divergence is close to α·ρ₁
//
// Sources: Cheu, Smith, Ullman, Zeber and Zhilyaev (2019); Balle, Bell, Gascón and Nissim, The
// Privacy Blanket of the Shuffle Model (2019); Feldman, McMillan and Talwar (2021, 2023); Bun,
// Dwork, Rothblum and Steinke, Composable and Versatile Privacy via Truncated CDP (2018). The
// theorems of [Exact] and [Ternary] are proved where they are computed.
package amplification
