package game_test

import (
	"math"
	"slices"

	"github.com/darrm/darrm/accountant/game"
)

// coin is the law of two classes.
type coin uint64 // mass of the first

func toss(p float64) coin { return coin(math.RoundToEven(p * game.One)) }

func coins(p, q coin) game.Pair {
	one := func(m uint64) game.Probability { return game.Probability{Mass: m, Classes: 1} }
	return game.Pair{
		{Count: 1, P: one(uint64(p)), PPrime: one(uint64(q))},
		{Count: 1, P: one(game.One - uint64(p)), PPrime: one(game.One - uint64(q))},
	}
}

// normalCoins is normal noise on the difference of two counts of K teachers, of which one record
// moves one by mu standard deviations: the pairs of neighbouring leads ≥ 0.
func normalCoins(k int, mu float64) []game.Pair {
	var laws []coin
	for lead := k % 2; lead <= k; lead += 2 {
		laws = append(laws, toss(math.Erfc(-mu*float64(lead)/2/math.Sqrt2)/2))
	}
	return leads(k, laws)
}

// leads are the pairs of neighbouring leads of K teachers: laws are those of leads K%2, K%2+2, …
func leads(k int, laws []coin) []game.Pair {
	if k%2 == 1 {
		laws = append([]coin{game.One - laws[0]}, laws...)
	}
	var pairs []game.Pair
	for i := range len(laws) - 1 {
		pairs = append(pairs, coins(laws[i], laws[i+1]))
	}
	return pairs
}

func all(pairs []game.Pair) game.Pairs {
	return func(yield func(game.Pair, error) bool) {
		for _, p := range pairs {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// histograms are the sorted histograms of K votes for C classes.
func histograms(k, c, top int) [][]int {
	if c == 1 {
		return [][]int{{k}}
	}
	var out [][]int
	for v := min(k, top); v*c >= k; v-- {
		for _, rest := range histograms(k-v, c-1, v) {
			if rest[0] <= v {
				out = append(out, append([]int{v}, rest...))
			}
		}
	}
	return out
}

// normalTable is the law of the largest of C counts, each with normal noise of deviation sigma: for
// each sorted histogram the mass of each class's group. The trapezoid rule is exact to rounding
// here.
type normalTable struct {
	rows   [][]int
	masses map[string]map[int]game.Probability
}

func newNormalTable(k, c int, sigma float64) normalTable {
	t := normalTable{histograms(k, c, k), map[string]map[int]game.Probability{}}
	const n, end = 160, 9.0
	// logs[d][i] = ln Φ(x_i + (d-k)/sigma)
	logs := make([][]float64, 2*k+1)
	for d := range logs {
		logs[d] = make([]float64, n+1)
		for i := range logs[d] {
			x := -end + 2*end*float64(i)/n
			logs[d][i] = math.Log(math.Erfc(-(x+float64(d-k)/sigma)/math.Sqrt2) / 2)
		}
	}
	weights := make([]float64, n+1)
	for i := range weights {
		x := -end + 2*end*float64(i)/n
		weights[i] = math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * 2 * end / n
	}
	sum := make([]float64, n+1)
	for _, row := range t.rows {
		groups := map[int]game.Probability{}
		counts := map[int]int{}
		for _, v := range row {
			counts[v]++
		}
		left := uint64(game.One)
		for _, v := range slices.Compact(slices.Clone(row)) {
			clear(sum)
			for u, m := range counts {
				l := logs[k+v-u]
				if u == v {
					m--
				}
				for i := range sum {
					sum[i] += float64(m) * l[i]
				}
			}
			p := 0.0
			for i, w := range weights {
				p += w * math.Exp(sum[i])
			}
			mass := min(left, uint64(math.RoundToEven(p*float64(counts[v])*game.One)))
			groups[v] = game.Probability{Mass: mass, Classes: counts[v]}
			left -= mass
		}
		top := groups[row[0]]
		top.Mass += left
		groups[row[0]] = top
		t.masses[key(row)] = groups
	}
	return t
}

func key(row []int) string {
	b := make([]byte, len(row))
	for i, v := range row {
		b[i] = byte(v)
	}
	return string(b)
}

// pairs yields each histogram with that of which a class with a votes has one less and one with b <
// a has one more: every unordered pair at distance 1, once.
func (t normalTable) pairs(yield func(game.Pair, error) bool) {
	for _, row := range t.rows {
		from := t.masses[key(row)]
		votes := slices.Compact(slices.Clone(row))
		for i, a := range votes {
			for _, b := range votes[i+1:] {
				next := slices.Clone(row)
				next[slices.Index(row, a)], next[slices.Index(row, b)] = a-1, b+1
				slices.SortFunc(next, func(x, y int) int { return y - x })
				to := t.masses[key(next)]
				var p game.Pair
				for _, v := range votes {
					n := from[v].Classes
					if v == a || v == b {
						n--
					}
					if n > 0 {
						p = append(p, game.Outcome{Count: n, P: from[v], PPrime: to[v]})
					}
				}
				p = append(p, game.Outcome{Count: 1, P: from[a], PPrime: to[a-1]},
					game.Outcome{Count: 1, P: from[b], PPrime: to[b+1]})
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// chain is the table of two classes of which each neighbour is as far as order 8 allows:
// e^{7D} - 1 = r.
func chain(k int, r float64) []game.Pair {
	far := func(p, q float64) bool {
		one := func(p, q float64) float64 {
			return q*math.Pow(p/q, 8) + (1-q)*math.Pow((1-p)/(1-q), 8) - 1
		}
		return max(one(p, q), one(q, p)) > r
	}
	largest := func(far func(float64) bool, low float64) float64 {
		high := 1 - 1e-14
		if !far(high) {
			return high
		}
		for range 60 {
			if mid := (low + high) / 2; far(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		return low
	}
	p := 0.5
	if k%2 == 1 {
		p = largest(func(q float64) bool { return far(1-q, q) }, 0.5)
	}
	laws := []coin{toss(p)}
	for range k / 2 {
		p = largest(func(q float64) bool { return far(p, q) }, p)
		laws = append(laws, toss(p))
	}
	return leads(k, laws)
}
