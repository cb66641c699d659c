package game_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant/game"
)

// plan is an adversary: which ordered pair to choose with so many answers left, where ln x is next
// to a point of its grid.
type plan struct {
	step   float64
	low    int
	choice [][]int // by answers left - 1, and point
}

// ordered are the laws of both orders.
func ordered(pairs []game.Pair) (list [][2][2]float64) {
	for _, p := range pairs {
		a, b := float64(p[0].P.Mass)/game.One, float64(p[0].PPrime.Mass)/game.One
		list = append(list, [2][2]float64{{a, 1 - a}, {b, 1 - b}}, [2][2]float64{{b, 1 - b}, {a, 1 - a}})
	}
	return list
}

// bestPlan is the recursion in another form: values on a grid of its own, ln x between two points
// by a chord.
func bestPlan(laws [][2][2]float64, answers int, step, low, high float64) plan {
	p := plan{step: step, low: int(math.Floor(low / step))}
	n := int(math.Ceil(high/step)) - p.low + 1
	values := make([]float64, n)
	for i := range values {
		values[i] = max(0, 1-math.Exp(float64(p.low+i)*step))
	}
	at := func(y float64) float64 {
		i := y/step - float64(p.low)
		j := int(math.Floor(i))
		if j < 0 {
			return 1 - math.Exp(y)
		}
		if j >= n-1 {
			return values[n-1]
		}
		part := math.Expm1((i-float64(j))*step) / math.Expm1(step)
		return values[j]*(1-part) + values[j+1]*part
	}
	for range answers {
		next, choice := make([]float64, n), make([]int, n)
		for i := range next {
			y := float64(p.low+i) * step
			for c, law := range laws {
				sum := 0.0
				for o, a := range law[0] {
					sum += a * at(y+math.Log(law[1][o]/a))
				}
				if sum > next[i] {
					next[i], choice[i] = sum, c
				}
			}
		}
		values = next
		p.choice = append(p.choice, choice)
	}
	return p
}

// play returns what the adversary reaches, or less: histories at the same point are taken as one,
// which loses some of what they tell.
func (p plan) play(laws [][2][2]float64, epsilon float64, answers int) float64 {
	type history struct{ a, b float64 } // ∏P and e^ε·∏P', summed
	n := len(p.choice[0])
	now := make([]history, n)
	point := func(h history) int {
		return max(0, min(n-1, int(math.Round(math.Log(h.b/h.a)/p.step))-p.low))
	}
	begin := history{1, math.Exp(epsilon)}
	now[point(begin)] = begin
	for left := answers; left > 0; left-- {
		next := make([]history, n)
		for i, h := range now {
			if h.a == 0 {
				continue
			}
			law := laws[p.choice[left-1][i]]
			for o := range law[0] {
				to := history{h.a * law[0][o], h.b * law[1][o]}
				j := point(to)
				next[j].a += to.a
				next[j].b += to.b
			}
		}
		now = next
	}
	sum := 0.0
	for _, h := range now {
		sum += max(0, h.a-h.b)
	}
	return sum
}

// No adversary reaches more than the price. The one that plays by a dynamic program of its own
// nearly reaches it; one pair at every answer and random choices do not.
func TestAdversaries(t *testing.T) {
	game.Numerical(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		pairs   []game.Pair
		epsilon float64
		answers int
		nearly  float64
	}{
		{"normal", normalCoins(25, .080365), 3, 100, .93},
		{"chain", chain(15, .12), 2, 40, .93},
		{"uneven", []game.Pair{coins(toss(.01), toss(.02)), coins(toss(.4), toss(.45)),
			coins(toss(.9), toss(.87))}, 1, 30, .9},
	} {
		g := newGame(t, all(c.pairs), game.Options{Step: 1. / 40})
		price := delta(t, g, c.epsilon, c.answers)
		laws := ordered(c.pairs)
		best := bestPlan(laws, c.answers, g.Scale()/8, -1.5, c.epsilon+1)
		if got := best.play(laws, c.epsilon, c.answers); got > price*(1+1e-9) || got < price*c.nearly {
			t.Errorf("%s: the best plan reaches %g, the price is %g", c.name, got, price)
		}
		for range 20 {
			other := plan{step: best.step, low: best.low}
			often := random.Float64()
			for _, row := range best.choice {
				row := append([]int{}, row...)
				for i := range row {
					if random.Float64() < often*often {
						row[i] = random.IntN(len(laws))
					}
				}
				other.choice = append(other.choice, row)
			}
			if got := other.play(laws, c.epsilon, c.answers); got > price*(1+1e-9) {
				t.Errorf("%s: a random plan reaches %g, the price is %g", c.name, got, price)
			}
		}
	}
}

// A price chosen after the answers were seen is no price: the table of 100 answers, asked 200
// times, has hundreds of times its δ.
func TestTwiceTheAnswers(t *testing.T) {
	g := newGame(t, all(normalCoins(25, .080365)), game.Options{})
	if times := delta(t, g, 3, 200) / delta(t, g, 3, 100); !(times > 480 && times < 500) {
		t.Errorf("twice the answers have %.0f times the delta, want 490", times)
	}
}
