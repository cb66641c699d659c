package sketch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// BetaKind names the way in which β is found.
type BetaKind uint8

// The ways to β. Row selection and T = 1 always take their closed form.
const (
	// closed where that is exact, asymptotic from d' = 256 or nk = 8d' on, else Monte Carlo
	BetaAuto   BetaKind = iota
	BetaClosed          // T = 1; ρ = 1 with full rank taken for granted
	// SRHT, Haar and linear T: the limit for large d, relative error about 0.05/d, 0.2/d for ρ near 1
	BetaAsymptotic
	BetaMonteCarlo // the mean over draws of matrices
)

// BetaMode is a way to β. The zero value chooses by itself.
type BetaMode struct {
	Kind  BetaKind
	Draws int // of Monte Carlo; 0: 2000, or fewer where the matrices are large
}

// ParseBetaMode reads "auto", "closed", "asymptotic", "mc" or "mc:DRAWS".
func ParseBetaMode(s string) (BetaMode, error) {
	for i, name := range betaNames {
		if s == name {
			return BetaMode{Kind: BetaKind(i)}, nil
		}
	}
	if draws, ok := strings.CutPrefix(s, "mc:"); ok {
		if n, err := strconv.Atoi(draws); err == nil && n >= 1 && n <= maxDraws {
			return BetaMode{BetaMonteCarlo, n}, nil
		}
	}
	return BetaMode{}, check.Wantf("beta", strconv.Quote(s),
		"auto, closed, asymptotic, mc or mc:DRAWS with 1 to %d draws", maxDraws)
}

var betaNames = []string{"auto", "closed", "asymptotic", "mc"}

const maxDraws = 1_000_000

// String returns the mode in the form that ParseBetaMode reads.
func (m BetaMode) String() string {
	if m.Draws > 0 {
		return fmt.Sprintf("%s:%d", betaNames[m.Kind], m.Draws)
	}
	return betaNames[m.Kind]
}

func (m BetaMode) check(c Config) error {
	if m.Kind > BetaMonteCarlo {
		return check.Want("beta", uint8(m.Kind), "one of the kinds")
	}
	if err := check.Whole("draws for beta", m.Draws, 0, maxDraws); err != nil {
		return err
	}
	if m.Draws > 0 && m.Kind != BetaMonteCarlo {
		return check.Want("draws for beta", m.Draws, "0 unless beta is found by Monte Carlo")
	}
	t := c.T.of(c.N, 0)
	if c.T.PlugIn { // its ρ is not known yet
		t.rho = 0.5
	}
	_, err := c.way(t)
	return err
}

// way returns the way to find β for T. Three points differ from the plain order of the modes. T = 1
// and row selection have exact forms that nothing can better. ρ = 1 is closed from d' = 256 for
// every n, as the expected loss of rank, 0.016 at n = 2, d = 128, falls steeply with d. And from nk
// = 8d' on β is asymptotic for every d': S is then near (nk/d')·I, the limit's relative error was
// below 0.0005 in simulations from d' = 8 on, and a million clients need no draws.
func (c Config) way(t linear) (BetaKind, error) {
	kind, d, nk := c.Beta.Kind, c.padded(), c.N*c.K
	if c.Ensemble == RowSelect || t.custom == nil && t.rho == 0 {
		return BetaClosed, nil
	}
	fast := t.custom == nil && (c.Ensemble == SRHT || c.Ensemble == Haar)
	full := t.custom == nil && t.rho == 1 && c.Ensemble != CountSketch
	switch {
	case kind == BetaClosed && !full:
		return 0, check.Want("beta", kind,
			"auto, asymptotic or mc: a closed form is known for rho = 0 and rho = 1 only")
	case kind == BetaAsymptotic && !fast:
		return 0, check.Want("beta", kind,
			"auto or mc: an asymptotic form is known for SRHT and Haar with a linear T only")
	case kind == BetaAsymptotic && t.rho == 1:
		return BetaClosed, nil // its limit
	case kind != BetaAuto:
		return kind, nil
	case full && (c.Ensemble != SRHT || d >= 256 || d >= 64 && (c.N >= 8 || nk <= d/2) || nk > 2*d):
		return BetaClosed, nil
	case fast && t.rho < 1 && (d >= 256 || nk >= 8*d):
		return BetaAsymptotic, nil
	}
	return BetaMonteCarlo, nil
}

// String is the kind's name.
func (k BetaKind) String() string { return betaNames[k] }
