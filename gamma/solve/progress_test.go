package solve

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// The share that is done never falls, is 0 until there is something to judge by, follows the logarithm
// of what the bound moves, and waits for rounds where the bound rests early.
func TestShareOfAFallingGap(t *testing.T) {
	e := estimate{near: near}
	before := 0.0
	for round := 1; round <= 400; round++ {
		bound := 0.1 - 0.1*math.Exp(-float64(round)/16) // moves by 1.72 of what is left then, each 16 rounds
		share := e.next(round, bound)
		want := 0.0
		if round > recentRounds {
			left := 0.1 * math.Exp(-float64(round)/16)
			want = min(math.Log(left*(math.E-1))/math.Log(near), float64(round)/float64(round+usualRounds))
		}
		if share < before || math.Abs(share-want) > 1e-6 {
			t.Fatalf("round %d: share %g after %g, want %g", round, share, before, want)
		}
		before = share
	}
	if before < 0.85 || before > 1 {
		t.Errorf("share %g of a bound that rests", before)
	}
	rest := estimate{near: near}
	for round := 1; round <= 100; round++ {
		if share := rest.next(round, 0); share > float64(round)/float64(round+usualRounds) {
			t.Fatalf("round %d of a bound that rests: share %g", round, share)
		}
	}
}

// Reports of a solve with a second program: rounds and share do not fall.
func TestProgressOfASolve(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves for 257 teachers what TestCuttingPlanesAgreeWithExhaustive races with fewer")
	}
	var last Progress
	o := Options{Progress: func(p Progress) {
		if p.Round <= last.Round || p.Share < last.Share || p.Share > 1 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}}
	optimal(t, problem(t, 257, 3, 0.1, 1e-5), o)
	if last.Share == 0 || last.Rows == 0 || last.Error == 0 {
		t.Errorf("the last report is %+v", last)
	}
}
