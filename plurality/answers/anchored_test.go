package answers

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// plainAnchored is the largest value of a table of two classes by its definition: probabilities on a grid of n
// cells, of which each two that are at most t votes apart, in whatever order, obey the Link.
func plainAnchored(p Problem, gain []float64, n int) float64 {
	link := p.CoinLink(p.Epsilon)
	next := make([]float64, n+1)
	for i := range next {
		next[i] = link.Next(float64(i) / float64(n))
	}
	fits := func(i, j int) bool { return float64(max(i, j))/float64(n) <= next[min(i, j)] }
	// best has the largest value so far by the last t places, the latest in the last digit.
	digits, states := n+1, 1
	for range p.Affected {
		states *= digits
	}
	best := map[int]float64{}
	for k, g := range gain {
		now := map[int]float64{}
		before := best
		if k == 0 {
			before = map[int]float64{0: 0}
		}
		for state, value := range before {
			for i := range digits {
				ok := true
				for s, back := state, min(k, p.Affected); back > 0; s, back = s/digits, back-1 {
					ok = ok && fits(s%digits, i)
				}
				if to := (state*digits + i) % states; ok {
					if old, known := now[to]; !known || value+g*float64(i)/float64(n) > old {
						now[to] = value + g*float64(i)/float64(n)
					}
				}
			}
		}
		best = now
	}
	most := math.Inf(-1)
	for _, value := range best {
		most = max(most, value)
	}
	return most
}

// The bound of gains that are not mirrored is not below the best table of its definition, and not above it by
// more than the grid that finds it; and the table that is found is as good.
func TestAnchoredBoundIsThatOfItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Problem{
		{K: 4, Affected: 1, Answers: 3, Epsilon: 1, Delta: 1e-3}, {K: 5, Affected: 1, Answers: 1, Epsilon: 0.5, Delta: 1e-6},
		{K: 5, Affected: 2, Answers: 3, Epsilon: 1, Delta: 1e-2}, {K: 6, Affected: 2, Answers: 2, Epsilon: 0.7, Delta: 1e-3},
	} {
		for range 3 {
			gain := make([]float64, p.K+1)
			size := 0.0
			for k := range gain {
				if gain[k] = rng.Float64(); k < (p.K+1)/2 {
					gain[k] *= -0.5
				}
				size += math.Abs(gain[k])
			}
			const cells = 40
			want := plainAnchored(p, gain, cells)
			got := p.newAnchored(gain, p.CoinLink(p.Epsilon)).bound(1<<20, 1e-4)
			if got < want || got > want+size/cells {
				t.Errorf("%+v, %v: %v, by the definition %v", p, gain, got, want)
			}
			value, link := 0.0, p.CoinLink(p.Epsilon)
			table := p.Anchored(gain, link)
			for k, q := range table {
				value += gain[k] * q
				if k >= p.Affected && q > link.Next(table[k-p.Affected])+1e-9 {
					t.Errorf("%+v, %v: %v is beside %v", p, gain, q, table[k-p.Affected])
				}
			}
			if value < want-1e-3 || value > got+1e-9 {
				t.Errorf("%+v, %v: the table is worth %v, by the definition %v, at most %v", p, gain, value, want, got)
			}
		}
	}
}

// The value of classes that are told apart is not above the exact one by the least favourable weights: an answer
// that costs something counts with the larger one.
func TestNamedValueIsRoundedDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := must.Get(NewSystem(t.Context(), Problem{K: 4, Classes: 3, Affected: 1, Answers: 2, Epsilon: 1, Delta: 1e-3, Named: true}))(t)
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for _, o := range []Prior{{}, {Costs: plurality.Costs{{0, 9, 1}, {1, 0, 0.3}, {2, 1, 0}}}} {
		for range 50 {
			w := plurality.Weights{Low: make([]float64, s.space.Histograms()), High: make([]float64, s.space.Histograms())}
			masses, exact, size := make([]uint64, s.space.Variables()), new(big.Rat), 0.0
			for h := range w.Low {
				w.Low[h] = rng.Float64() / float64(len(w.Low))
				w.High[h] = w.Low[h] * (1 + 1e-3) // far wider than they are, so that the side shows
				votes, left := s.space.Histogram(h), plurality.One
				first, end := s.space.Range(h)
				for c := range votes {
					m := rng.Uint64N(left + 1)
					if first+c == end-1 {
						m = left
					}
					masses[first+c] = m
					left -= m
					worth, weight := o.Worth(votes, c), w.Low[h]
					if worth < 0 {
						weight = w.High[h]
					}
					term := rat(weight)
					term.Mul(term, rat(worth))
					term.Mul(term, new(big.Rat).SetFrac(new(big.Int).SetUint64(m), new(big.Int).SetUint64(plurality.One)))
					exact.Add(exact, term)
					size += math.Abs(weight * worth)
				}
			}
			got := rat(s.Value(o, w, masses))
			if slack := new(big.Rat).Sub(exact, got); slack.Sign() < 0 || slack.Cmp(rat(size*1e-12)) > 0 {
				t.Fatalf("%+v: %v of %s", o, s.Value(o, w, masses), exact.FloatString(20))
			}
		}
	}
}

// Multipliers prove nothing of classes that are told apart: even one is refused.
func TestProofOfNamedTablesIsRefused(t *testing.T) {
	p := Problem{K: 3, Classes: 3, Affected: 1, Answers: 1, Epsilon: 9, Delta: 0.5, Named: true}
	s := must.Get(NewSystem(t.Context(), p))(t)
	masses := make([]uint64, s.space.Variables())
	for h := range s.space.Histograms() {
		first, _ := s.space.Range(h)
		masses[first] = plurality.One // always the first class
	}
	c := must.Get(Certify(t.Context(), s, masses, gameOptions))(t)
	prior := DefaultPrior(p)
	if _, err := NewTable(t.Context(), c, prior, Law{Name: NormalLaw, Sigma: 1}, nil); err != nil {
		t.Fatal(err)
	}
	proof := Proof{{From: 0, Changes: []plurality.Change{{Votes: 1, Delta: 1, Classes: 1}}, Ratios: []float64{1}, Value: 1e-3}}
	if _, err := NewTable(t.Context(), c, prior, Law{Name: NormalLaw, Sigma: 1}, proof); err == nil ||
		!strings.Contains(err.Error(), "left out where the classes are told apart") {
		t.Error(err)
	}
}

// Where nothing is bound, any probability stands beside any other, and none is above 1.
func TestZeroLink(t *testing.T) {
	var free Link
	if tie, next := free.Tie(), free.Next(0); tie != 1 || next != 1 {
		t.Errorf("beside 0 is %v, at a tie %v", next, tie)
	}
}

// Links of smooth rules and of a rule with a corner are worked out upward to within some Near, in any order, by
// rules asked some ten times for a link.
func TestLinksAreTightAndCheap(t *testing.T) {
	renyi := func(order, moment float64) *Link {
		return NewLink(func(p, q float64) float64 {
			heads, tails := math.Pow(p/q, order), math.Pow((1-p)/(1-q), order)
			return math.Log((max(q*heads+(1-q)*tails, p/heads+(1-p)/tails) - 1) / moment)
		})
	}
	for name, rule := range map[string]*Link{
		"Rényi order 3":  renyi(3, 10),
		"Rényi order 40": renyi(40, 1e-3),
		"6 coins":        Problem{K: 9, Classes: 2, Answers: 6, Delta: 1e-5}.CoinLink(3),
		"one coin":       Problem{K: 9, Classes: 2, Answers: 1, Delta: 1e-6}.CoinLink(1),
		"one answer": NewLink(func(p, q float64) float64 {
			return q - min(math.Exp(2)*p+1e-5, 1-(1-p-1e-5)/math.Exp(2))
		}),
	} {
		asked := 0
		counted := NewLink(func(p, q float64) float64 { asked++; return rule.gap(p, q) })
		if tie := counted.Tie(); rule.gap(1-tie+4*Near, tie-4*Near) > 0 || rule.gap(1-tie-4*Near, tie+4*Near) <= 0 {
			t.Errorf("%s: a tie has %v", name, tie)
		}
		if asked > 185 { // four for each halving down to Near at most
			t.Errorf("%s: a tie takes %d questions", name, asked)
		}
		asked = 0
		random, links := rand.New(rand.NewPCG(1, 2)), 0
		for n := range 1000 {
			p := float64(n) / 1000
			if n%2 == 1 {
				p = random.Float64()
			}
			next := counted.Next(p)
			for links++; links%5 != 0 && next < 1; links++ { // and a chain from there
				p, next = next, counted.Next(next)
			}
			if less, more := next-4*Near, next+4*Near; less > p && rule.gap(p, less) > 0 ||
				more < 1 && rule.gap(p, more) <= 0 {
				t.Errorf("%s: beside %v stands %v", name, p, next)
			}
		}
		if asked > 11*links {
			t.Errorf("%s: %d questions for %d links", name, asked, links)
		}
	}
}
