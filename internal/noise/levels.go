package noise

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// Levels holds integer scores, of which a low one is good, and draws from the exponential
// mechanism over them,
//
//	Pr[i] ∝ e^{-score_i/scale},
//
// exactly. Scores lie in levels that are scale wide, so that one change of a score and one
// draw cost the same however many scores there are. The zero value is not ready; a Levels is
// not safe for concurrent use.
//
// # The draw
//
// Let gap_i be the score less the lower end of the lowest level in use. Level b of n_b items
// is proposed with a weight just above n_b·e^{-b}, one of its items uniformly, and the item
// is accepted with probability e^{-(gap_i/scale - b)} ≥ e⁻¹. The weights are the integers
// n_b·(⌊2³⁸e^{-b}⌋+1); what each is too large by is refused by a coin that is drawn digit by
// digit. From level levelsApart on, where weights are n_b, all items are one level.
//
// Source: the exponential mechanism of McSherry and Talwar (2007); drawing by groups of like
// scores after Khanna, Lu, Raff and others, Scaling Up Differentially Private LASSO
// Regularized Logistic Regression via Faster Frank-Wolfe Iterations (2023).
type Levels struct {
	scale  int64
	scores []int64
	at     []int32   // place of an item within its level
	first  int64     // number of levels[0]
	levels [][]int32 // items
	lowest int       // no level below it has an item
	apart  int       // levelsApart, or less in tests
}

const (
	// levelsApart is the number of levels that are proposed one by one.
	levelsApart = 27
	// maxLevels bounds the number of levels that scores are spread over: they take memory.
	maxLevels = 1 << 22
	// maxItems keeps sums of weights within 2⁶³.
	maxItems = 1 << 25
	// maxScore bounds scores, so that their differences fit 64 bits.
	maxScore = 1 << 62
	// maxScale keeps levelsApart scales within 64 bits.
	maxScale = 1 << 48
)

// LevelsFit returns an error unless scores between -bound and bound are near enough to each other
// for Levels of a scale: at most 2²² scales apart.
func LevelsFit(bound, scale int64) error {
	if bound < 0 || bound > maxScore || bound/scale+1 > maxLevels/2 {
		return check.Wantf("score", fmt.Sprintf("up to %d at scale %d", bound, scale),
			"at most %d scales from 0", maxLevels/2-1)
	}
	return nil
}

// NewLevels returns the scores in their levels. They are kept, and must be within a bound
// that LevelsFit. scale is between 1 and 2⁴⁸.
func NewLevels(scores []int64, scale int64) (*Levels, error) {
	if len(scores) == 0 || len(scores) > maxItems {
		return nil, check.Wantf("number of scores", len(scores), "between 1 and %d", maxItems)
	}
	if scale < 1 || scale > maxScale {
		return nil, check.Want("scale of scores", scale, "between 1 and 2^48")
	}
	low, high := scores[0], scores[0]
	for _, s := range scores {
		low, high = min(low, s), max(high, s)
	}
	for _, s := range []int64{low, high} {
		if err := LevelsFit(max(s, -s), scale); err != nil {
			return nil, err
		}
	}
	l := &Levels{scale: scale, scores: scores, at: make([]int32, len(scores)), apart: levelsApart}
	l.first = l.number(low)
	l.levels = make([][]int32, l.number(high)-l.first+1)
	for i := range scores {
		l.put(int32(i))
	}
	return l, nil
}

// number returns the number of the level of a score, ⌊score/scale⌋.
func (l *Levels) number(score int64) int64 {
	n := score / l.scale
	if score < 0 && n*l.scale != score {
		n--
	}
	return n
}

func (l *Levels) put(i int32) {
	b := l.number(l.scores[i]) - l.first
	l.at[i] = int32(len(l.levels[b]))
	l.levels[b] = append(l.levels[b], i)
	l.lowest = min(l.lowest, int(b))
}

// Set changes a score, to one within the bound. Cost: constant, and now and then the number
// of levels.
func (l *Levels) Set(i int, score int64) {
	from, to := l.number(l.scores[i])-l.first, l.number(score)-l.first
	l.scores[i] = score
	if from == to {
		return
	}
	level := l.levels[from]
	last := level[len(level)-1]
	level[l.at[i]], l.at[last] = last, l.at[i]
	l.levels[from] = level[:len(level)-1]
	switch n := int64(len(l.levels)); {
	case to < 0: // room for as many levels again below
		more := n - to
		l.levels = append(make([][]int32, more, more+n), l.levels...)
		l.first, l.lowest = l.first-more, l.lowest+int(more)
	case to >= n:
		l.levels = append(l.levels, make([][]int32, to+1)...)
	}
	l.put(int32(i))
}

// Sample draws an item.
func (l *Levels) Sample(src randsrc.Source) (int, error) {
	y, err := sample(fair{src}, l)
	return int(y), err
}

// attempt proposes an item and accepts it or not.
func (l *Levels) attempt(c coins) (int64, bool, error) {
	for len(l.levels[l.lowest]) == 0 {
		l.lowest++
	}
	b, ok, err := l.propose(c)
	if err != nil || !ok {
		return 0, false, err
	}
	var i int32
	if b < l.apart {
		level := l.levels[l.lowest+b]
		nth, err := c.uniform(uint64(len(level)))
		if err != nil {
			return 0, false, err
		}
		i = level[nth]
	} else { // one of all: those of the levels before are refused
		nth, err := c.uniform(uint64(len(l.scores)))
		if err != nil {
			return 0, false, err
		}
		for i = int32(nth); l.gap(i) < uint64(int64(l.apart)*l.scale); {
			if nth, err = c.uniform(uint64(len(l.scores))); err != nil {
				return 0, false, err
			}
			i = int32(nth)
		}
	}
	ok, err = c.exp(l.gap(i)-uint64(b)*uint64(l.scale), uint64(l.scale))
	return int64(i), ok, err
}

// gap is the score above the lower end of the lowest level.
func (l *Levels) gap(i int32) uint64 {
	return uint64(l.scores[i] - (l.first+int64(l.lowest))*l.scale)
}

// propose draws a level, counted from the lowest, with probability proportional to n_b·e^{-b},
// levelsApart standing for all from there on. It draws the first of them against the others,
// then the second, and so on.
func (l *Levels) propose(c coins) (b int, ok bool, err error) {
	var weights [levelsApart + 1]uint64
	of := levelWeights()
	total, rest := uint64(0), len(l.scores)
	for b := range l.apart + 1 {
		n := rest
		if b < l.apart {
			n = 0
			if l.lowest+b < len(l.levels) {
				n = len(l.levels[l.lowest+b])
			}
			rest -= n
		}
		weights[b] = uint64(n) * of[b].weight
		total += weights[b] // at most 2²⁵·2³⁸
		if rest == 0 {
			break
		}
	}
	for ; weights[b] < total; b++ {
		if weights[b] == 0 {
			continue
		}
		on, err := c.bernoulli(weights[b], total)
		if err != nil {
			return 0, false, err
		}
		if on {
			break
		}
		total -= weights[b]
	}
	if b == 0 {
		return 0, true, nil // its weight is exactly 1
	}
	// The last unit of the weight counts with the fraction of 2³⁸e^{-b} only.
	last, err := c.bernoulli(1, of[b].weight)
	if err != nil || !last {
		return b, err == nil, err
	}
	ok, err = fraction(c, b, of[b].next)
	return b, ok, err
}

// weightBits is the precision of the weights.
const weightBits = 38

// levelWeight is by level b ⌊2³⁸e^{-b}⌋+1, and 2³⁸ for b = 0, with the 53 binary digits of
// 2³⁸e^{-b} after the point.
type levelWeight struct{ weight, next uint64 }

// levelWeights takes milliseconds, which a program that draws nothing does not spend.
var levelWeights = sync.OnceValue(func() *[levelsApart + 1]levelWeight {
	var w [levelsApart + 1]levelWeight
	w[0].weight = 1 << weightBits
	for b := 1; b < len(w); b++ {
		whole, err := expDigits(b, weightBits)
		digits, err2 := expDigits(b, weightBits+53)
		if err != nil || err2 != nil {
			panic("noise: digits of e^-b")
		}
		w[b] = levelWeight{whole.Uint64() + 1, digits.Sub(digits, whole.Lsh(whole, 53)).Uint64()}
	}
	return &w
})

// expDigits returns ⌊2^bits·e^{-b}⌋.
func expDigits(b int, bits uint) (*big.Int, error) {
	e := num.ExpReal(num.FromInt(int64(-b)))
	floor := func(x *big.Float) *big.Int {
		n, _ := new(big.Float).SetMantExp(x, int(bits)).Int(nil)
		return n
	}
	low, high := floor(e.Lo()), floor(e.Hi())
	if low.Cmp(high) != 0 {
		return nil, fmt.Errorf("%w: %d digits did not decide", errSource, bits)
	}
	return low, nil
}

// fraction returns true with probability 2³⁸e^{-b} less its whole part, by comparing its next
// 53 binary digits with as many of a uniform number, and where they are alike, which has
// probability 2⁻⁵³, the next. It gives up after 4·53 digits that are alike.
func fraction(c coins, b int, next uint64) (bool, error) {
	for bits := uint(weightBits + 53); bits <= weightBits+4*53; bits += 53 {
		if less, err := c.bernoulli(next, randsrc.One53); err != nil || less {
			return less, err
		}
		if alike, err := c.bernoulli(1, randsrc.One53-next); err != nil || !alike {
			return false, err
		}
		before, err := expDigits(b, bits)
		if err != nil {
			return false, err
		}
		digits, err := expDigits(b, bits+53)
		if err != nil {
			return false, err
		}
		next = digits.Sub(digits, before.Lsh(before, 53)).Uint64()
	}
	return false, fmt.Errorf("%w: its digits were those of e^-%d", errSource, b)
}
