package shuffled

import (
	"cmp"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "shuffled-gradients"

// Block is some like epochs in a row.
type Block struct {
	Epochs      int     // ≥ 1
	Private     int     // n_d, steps on private records, which come first
	Noise       float64 // σ on private steps; 0 draws none
	PublicNoise float64 // σ on public steps
}

// Schedule is all epochs of a training.
type Schedule []Block

// Epochs returns K.
func (s Schedule) Epochs() int {
	k := 0
	for _, r := range s {
		k += r.Epochs
	}
	return k
}

// at returns the block that epoch k ≥ 0 belongs to.
func (s Schedule) at(k int) Block {
	for _, r := range s {
		if k < r.Epochs {
			return r
		}
		k -= r.Epochs
	}
	panic("shuffled: epoch beyond the schedule")
}

// publicRecords returns the number of public records that the schedule needs, with n steps in an
// epoch.
func (s Schedule) publicRecords(n int) int {
	need := 0
	for _, r := range s {
		need = max(need, n-r.Private)
	}
	return need
}

// scaled returns the schedule with all noise times sigma.
func (s Schedule) scaled(sigma float64) Schedule {
	t := append(Schedule(nil), s...)
	for i := range t {
		t[i].Noise *= sigma
		t[i].PublicNoise *= sigma
	}
	return t
}

// Scheme is a way of using private and public data.
type Scheme string

// The methods, and where they use what. S = ⌊pK⌋ and n_d = ⌊pn⌋, at least 1 and at most
// K-1 and n-1: rounding down never spends more private steps than asked for.
const (
	ShuffleG   Scheme = "shuffle-g"    // private data, no noise: not private
	DPShuffleG Scheme = "dp-shuffle-g" // private data in all epochs
	// private data in the first S epochs, then public data without noise
	PrivPub Scheme = "priv-pub"
	PubPriv Scheme = "pub-priv" // public data without noise, private data in the last S epochs
	// each epoch n_d private, then n-n_d public steps, noise on all of them
	Interleaved Scheme = "interleaved"
	PublicOnly  Scheme = "public-only" // public data, no noise
	// DPSGD is the baseline that is no shuffled gradient method: each step draws its
	// record uniformly, and applies the proximal map of η·ψ. It is not the source's.
	DPSGD Scheme = "dp-sgd"
)

// Schemes returns all methods.
func Schemes() []Scheme {
	return []Scheme{ShuffleG, DPShuffleG, PrivPub, PubPriv, Interleaved, PublicOnly, DPSGD}
}

// UsesFraction reports whether the method takes the fraction p.
func (m Scheme) UsesFraction() bool { return m == PrivPub || m == PubPriv || m == Interleaved }

// UsesPublic reports whether the method needs public data.
func (m Scheme) UsesPublic() bool { return m.UsesFraction() || m == PublicOnly }

// IsPrivate reports whether the method uses private data with noise.
func (m Scheme) IsPrivate() bool { return m != ShuffleG && m != PublicOnly }

// Schedule returns the method's schedule with noise 1 where the method has noise, for n
// records and K epochs. The fraction p is taken in (0, 1) by those methods that use it.
func (m Scheme) Schedule(n, epochs int, fraction float64) (Schedule, error) {
	if err := cmp.Or(check.Whole("number of records", n, 1, 0),
		check.Whole("epochs", epochs, 1, math.MaxInt32)); err != nil {
		return nil, err
	}
	if m.UsesFraction() && !(fraction > 0 && fraction < 1) {
		return nil, check.Want("fraction", fraction, "in (0,1)")
	}
	part := func(of int) int { return min(max(1, int(fraction*float64(of))), of-1) }
	switch m {
	case ShuffleG:
		return Schedule{{Epochs: epochs, Private: n}}, nil
	case DPShuffleG, DPSGD:
		return Schedule{{Epochs: epochs, Private: n, Noise: 1}}, nil
	case PublicOnly:
		return Schedule{{Epochs: epochs}}, nil
	case PrivPub, PubPriv:
		if epochs < 2 {
			return nil, check.Wantf("epochs", epochs, "at least 2 for %s", m)
		}
		private, public := Block{Epochs: part(epochs), Private: n, Noise: 1},
			Block{Epochs: epochs - part(epochs)}
		if m == PrivPub {
			return Schedule{private, public}, nil
		}
		return Schedule{public, private}, nil
	case Interleaved:
		if n < 2 {
			return nil, check.Want("number of records", n, "at least 2 for interleaved")
		}
		return Schedule{{Epochs: epochs, Private: part(n), Noise: 1, PublicNoise: 1}}, nil
	}
	return nil, check.Wantf("method", string(m), "one of %v", Schemes())
}
