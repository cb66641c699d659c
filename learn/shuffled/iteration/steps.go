package iteration

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Steps is a run of like private epochs of a shuffled gradient method. In each epoch
// every record is visited at most once, the private block first, and each step is
//
//	x ← x - η·(clip_G(∇f(x; q)) + N(0, σ²I)),
//
// with one proximal map at the end of the epoch. It is accounted for by privacy
// amplification by iteration, whose conditions are fields: what is not stated does not
// hold, and what is stated must be true, the accountant cannot look at the loss.
//
//	n    Records        steps in an epoch
//	n_d  Private        of which touch private records
//	K_p  Epochs         private epochs; public ones before and after cost nothing
//	G    Clip           norm bound of one private gradient; replacing it moves it by 2G
//	σ    Noise          standard deviation per coordinate, on the gradient (not η·σ)
//	     PublicNoise    the same on public steps of a private epoch; 0 for none
//	η, L StepSize, Smoothness
//	V_j                 total noise variance from position j to the end of its epoch
//	m                   V at the last private step over σ²
//
// It is for ReplaceOne only. It is no Poisson sample and no figure of one holds for it.
//
// Source: Improving the Convergence of Private Shuffled Gradient Methods with Public Data
// (2026), Section 4 and Appendix E; Feldman, Mironov, Talwar and Thakurta, Privacy
// Amplification by Steps (2018), Theorem 22.
type Steps struct {
	Epochs      int     // K_p ≥ 0
	Records     int     // n ≥ 1
	Private     int     // n_d in [0, n]
	Clip        float64 // G > 0
	Noise       float64 // σ ≥ 0; 0 is no privacy: ε = +Inf
	PublicNoise float64 // ≥ 0
	PublicFirst bool    // the public block comes first; then nothing is amplified

	Order       SampleOrder // no default
	OrderSecret bool        // nobody sees the permutations
	Released    Released    // the zero value releases everything

	StepSize             float64 // η > 0
	Smoothness           float64 // the largest L over private and public samples; 0 for unknown
	Convex               bool    // every loss is convex
	ClipKeepsContraction bool    // x - η·clip(∇f(x)) is non-expansive for η ≤ 2/L
	ConvexRegulariser    bool    // so that its proximal map is non-expansive

	Mode       Mode       // "" is Best
	Conversion Conversion // of Report and Calibrate; see there for ""
	Neighbours accountant.Relation
}

// SampleOrder is the order in which private records are visited.
type SampleOrder int

// The zero SampleOrder is none of them and is refused.
const (
	FixedOrder   SampleOrder = iota + 1 // IG: one order that does not depend on the data
	ShuffledOnce                        // SO: one uniform permutation, used in every epoch
	Reshuffled                          // RR: a uniform permutation in each epoch
)

// String returns "IG", "SO" or "RR".
func (o SampleOrder) String() string {
	switch o {
	case FixedOrder:
		return "IG"
	case ShuffledOnce:
		return "SO"
	case Reshuffled:
		return "RR"
	}
	return fmt.Sprintf("SampleOrder(%d)", int(o))
}

// Released names the iterates that others may see. Fewer iterates are more private.
type Released int

// From the most to the least.
const (
	EveryIterate Released = iota // after each step: nothing is amplified
	EpochEnds                    // after each epoch
	LastIterate                  // the final model only
)

// String says it for people.
func (r Released) String() string { return released.String(r) }

var released = check.Enum[Released]{Name: "released",
	Names: []string{"every iterate", "the iterate after each epoch", "the last iterate only"}}

// Mode is a way of accounting for an Steps. All are upper bounds; what each
// rests on is proved in docs/training.md. Paper is the source's.
type Mode string

// The modes; R is the Rényi divergence of order α of all epochs together.
const (
	// Best is the mode with the smallest figure among all others whose conditions
	// hold. The choice rests on the event alone, never on records. As an event of an
	// Accountant it has, at each order, the smallest divergence of these modes.
	Best Mode = "best"
	// Paper charges the worst position of each epoch:
	//
	//	R(α) = α·ρ,   ρ = 2G²K_p/V_{n_d}
	//
	// Where a condition of the amplification fails it is V = σ², m = 1, which holds for
	// any loss and any step size, even if every iterate is published.
	Paper Mode = "paper"
	// RRMixture averages over the record's secret position in each epoch:
	//
	//	R(α) = K_p·ln(S)/(α-1),   S = (Σ_{j≤n_d} e^{(α-1)·2αG²/V_j} + n - n_d)/n
	RRMixture Mode = "rr-mixture"
	// SOMixture averages over the one secret position of all epochs:
	//
	//	R(α) = ln(S)/(α-1),   S = (Σ_{j≤n_d} e^{(α-1)·2αG²K_p/V_j} + n - n_d)/n
	SOMixture Mode = "so-mixture"
	// CrossEpoch lets each occurrence of a record but the last be covered by
	// the noise of a whole epoch. The last iterate only; fixed positions only:
	//
	//	ρ = 2G²·((K_p-1)/(n_dσ² + (n-n_d)σ_pub²) + 1/V_{n_d})
	CrossEpoch Mode = "cross-epoch"
	// GaussianExact is Paper with ConversionExact, under a name of its
	// own: the exact δ(ε) of one Gaussian mechanism with μ² = 2ρ. Another conversion that
	// is stated beside it is not used.
	GaussianExact Mode = "gaussian-exact"
)

// Modes returns all modes, the default first, then the source's.
func Modes() []Mode {
	return append([]Mode{Best}, namedModes()...)
}

// namedModes returns the modes that Best chooses from.
func namedModes() []Mode {
	return []Mode{Paper, RRMixture, SOMixture, CrossEpoch, GaussianExact}
}

// Conversion is a way from what a mode counts to (ε, δ). None is larger than the one before
// it, but for rounding.
type Conversion string

// The conversions. "" is ConversionClassical, and with Best whichever gives less.
const (
	ConversionClassical Conversion = "classical" // ClassicalEpsilonFromRDP, which the source uses
	ConversionImproved  Conversion = "improved"  // EpsilonFromRDP
	// δ(ε) of the privacy losses themselves, without Rényi divergences
	ConversionExact Conversion = "exact"
)

// Conversions returns all conversions, the weakest first.
func Conversions() []Conversion {
	return []Conversion{ConversionClassical, ConversionImproved, ConversionExact}
}

// Way is a way of accounting: a mode with a conversion, "" for the mode's own.
type Way struct {
	Mode       Mode
	Conversion Conversion
}

// Ways returns the ways to compare: every mode for Best, else the one, each by the stated
// conversion or, where none is, by all that it has.
func Ways(mode Mode, stated Conversion) (ways []Way) {
	modes := []Mode{mode}
	if mode == Best {
		modes = Modes()
	}
	for _, m := range modes {
		if m == Best || m == GaussianExact || stated != "" {
			ways = append(ways, Way{m, stated})
			continue
		}
		for _, c := range Conversions() {
			if m != Paper || c != ConversionExact { // that is GaussianExact
				ways = append(ways, Way{m, c})
			}
		}
	}
	return ways
}

// ErrNotCertified is the error for a mode whose conditions do not hold.
var ErrNotCertified = errors.New("conditions of the accounting mode do not hold")

func (e Steps) String() string {
	return fmt.Sprintf("%d private epochs (%v) of %d private in %d steps, noise %g and %g at clip %g",
		e.Epochs, e.Order, e.Private, e.Records, e.Noise, e.PublicNoise, e.Clip)
}

func (e Steps) mode() Mode { return cmp.Or(e.Mode, Best) }

// conversion returns the conversion of a named mode.
func (e Steps) conversion() Conversion {
	switch {
	case e.mode() == GaussianExact:
		return ConversionExact
	case e.Conversion == "":
		return ConversionClassical
	}
	return e.Conversion
}

// check returns an error for a field out of range. certify checks the conditions of a mode.
func (e Steps) check() error {
	if e.Neighbours != accountant.ReplaceOne {
		return fmt.Errorf("shuffled gradients for %q: %w", e.Neighbours, accountant.ErrUnsupported)
	}
	if err := cmp.Or(check.Whole("epochs", e.Epochs, 0, math.MaxInt32),
		check.Whole("records", e.Records, 1, math.MaxInt32)); err != nil {
		return err
	}
	if e.Private < 0 || e.Private > e.Records {
		return check.Wantf("private steps", e.Private, "between 0 and the %d steps of an epoch", e.Records)
	}
	if err := cmp.Or(checkClip(e.Clip), checkNoise("noise", e.Noise),
		checkNoise("public noise", e.PublicNoise), check.Positive("step size", e.StepSize)); err != nil {
		return err
	}
	if !(e.Smoothness >= 0) {
		return check.Want("smoothness", e.Smoothness, "≥ 0, where 0 is unknown")
	}
	if e.Order < FixedOrder || e.Order > Reshuffled {
		return check.Want("order", e.Order, "IG, SO or RR")
	}
	if e.Released < EveryIterate || e.Released > LastIterate {
		return check.Want("released", e.Released, "EveryIterate, EpochEnds or LastIterate")
	}
	if !slices.Contains(Modes(), e.mode()) {
		return check.Wantf("accounting mode", e.Mode, "one of %v", Modes())
	}
	if e.Conversion != "" && !slices.Contains(Conversions(), e.Conversion) {
		return check.Wantf("conversion", e.Conversion, "one of %v", Conversions())
	}
	return nil
}

func checkClip(clip float64) error {
	if !(clip >= 1e-100 && clip <= 1e100) {
		return check.Want("clip", clip, "between 1e-100 and 1e100")
	}
	return nil
}

func checkNoise(name string, sigma float64) error {
	if sigma != 0 && !(sigma >= 1e-100 && sigma <= 1e100) {
		return check.Want(name, sigma, "0, or between 1e-100 and 1e100")
	}
	return nil
}

// stepCap returns the largest step size at which gradient steps on losses of the given
// smoothness are non-expansive, 2/L, and the one that the source states, 1/L.
func stepCap(smoothness float64) (hard, stated float64) {
	return 2 / smoothness, 1 / smoothness
}

// Contraction returns the reasons why the steps may not be non-expansive maps, nil if there
// are none. The step size is compared in float64: a step above 2/L by less than a
// unit in the last place expands by less than the rounding of the step itself.
func (e Steps) Contraction() []string {
	var fails []string
	if !e.Convex {
		fails = append(fails, "the losses are not known to be convex")
	}
	if !e.ClipKeepsContraction {
		fails = append(fails, "clipping may break contraction for this task")
	}
	hard, _ := stepCap(e.Smoothness)
	switch {
	case !(e.Smoothness > 0) || math.IsInf(e.Smoothness, 1):
		fails = append(fails, "the smoothness of the losses is not known")
	case !(e.StepSize <= hard):
		fails = append(fails, fmt.Sprintf("step size %g is above 2/L = %g", e.StepSize, hard))
	}
	return fails
}

// private reports whether the event reads private data.
func (e Steps) private() bool { return e.Epochs > 0 && e.Private > 0 }

// certify returns the noise that protects the worst record as the mode may count it: m,
// with the reason where it is smaller than the schedule alone would give. A mode that was
// asked for and does not hold is ErrNotCertified: what it promises is not given by
// another. Best holds wherever Paper does, which is everywhere.
func (e Steps) certify() (m float64, fallback []string, err error) {
	m = 1
	if !e.private() || e.Noise == 0 {
		return m, nil, nil
	}
	fails := e.Contraction()
	var void []string // why noise after the record's own step does not count
	if e.PublicFirst {
		void = append(void, "the public block comes first")
	}
	if e.Released == EveryIterate {
		void = append(void, "every iterate is released")
	}
	void = append(void, fails...)
	refuse := func(why []string) error {
		if len(why) == 0 {
			return nil
		}
		return fmt.Errorf("mode %s: %w: %s", e.mode(), ErrNotCertified, strings.Join(why, "; "))
	}
	public := e.Records > e.Private && e.PublicNoise > 0
	full := 1.0
	if public {
		full = max(1, e.tail(1)/(e.Noise*e.Noise))
	}
	switch e.mode() {
	case Best, Paper, GaussianExact:
		if len(void) > 0 {
			if public {
				fallback = void
			}
			return 1, fallback, nil
		}
		return full, nil, nil
	case CrossEpoch:
		if e.Order == Reshuffled {
			void = append(void, "positions vary between epochs (RR)")
		}
		if e.Released != LastIterate {
			void = append(void, "more than the last iterate is released")
		}
		if !e.ConvexRegulariser {
			void = append(void, "the regulariser is not known to be convex")
		}
		return full, nil, refuse(void)
	}
	want := Reshuffled
	if e.mode() == SOMixture {
		want = ShuffledOnce
	}
	if e.Order != want {
		void = append(void, fmt.Sprintf("the order is %v, not %v", e.Order, want))
	}
	if !e.OrderSecret {
		void = append(void, "the order is not secret")
	}
	return full, nil, refuse(void)
}

// tail returns V for the record that is i-th from the end of the private block, i ≥ 1:
// its own and the i-1 private steps after it, and the public ones. Rounded down.
func (e Steps) tail(i float64) float64 {
	own, public := e.Noise*e.Noise, e.PublicNoise*e.PublicNoise
	return (i*own + float64(e.Records-e.Private)*public) * (1 - num.Margin)
}
