package check

import (
	"fmt"
	"testing"
)

// With public votes yes has the most votes exactly where so many teachers say yes, and nothing ties.
func TestPublicVotes(t *testing.T) {
	for k := 1; k <= 12; k++ {
		for from := 1; from <= k; from++ {
			no, yes := PublicVotes(k, from)
			if no != 0 && yes != 0 || no < 0 || yes < 0 {
				t.Errorf("%d of %d: %d votes for no and %d for yes", from, k, no, yes)
			}
			for n := range k + 1 {
				ayes, noes := n+yes, k-n+no
				if ayes == noes || (ayes > noes) != (n >= from) {
					t.Errorf("%d of %d teachers, yes from %d on: %d for yes, %d for no", n, k, from, ayes, noes)
				}
			}
		}
		if no, yes := PublicVotes(k, 0); no != 0 || yes != 0 {
			t.Errorf("more than half of %d: %d, %d", k, no, yes)
		}
	}
}

// A number is taken as it is stated, a share is rounded up, and everything else is refused.
func TestYesFrom(t *testing.T) {
	for _, tt := range []struct {
		stated string
		k      int
		want   int // 0 for an error
	}{
		{"17", 50, 17}, {"1", 50, 1}, {"50", 50, 50}, {"1/3", 50, 17}, {"1/3", 51, 17}, {"2/3", 50, 34}, {"0.2", 50, 10},
		{".1", 1, 1}, {"0.999999", 3, 3}, {"1/1000000", 2001, 1}, {"9/10", 10, 9},
		{"0", 50, 0}, {"51", 50, 0}, {"-1", 50, 0}, {"1/1", 50, 0}, {"3/2", 50, 0}, {"0/3", 50, 0}, {"1/0", 50, 0}, {"1e-2", 50, 0},
		{"half", 50, 0}, {" 17", 50, 0}, {"+17", 50, 17}, {"1.0", 50, 0}, {"/", 50, 0}, {"1/3/5", 50, 0}, {"0.00000000000000000001", 5, 0},
	} {
		got, err := YesFrom("yes from", tt.stated, tt.k)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%q of %d: %d, %v, want %d", tt.stated, tt.k, got, err, tt.want)
		}
	}
	if got, err := YesFrom("yes from", "", 5); got != 0 || err != nil {
		t.Errorf("nothing stated: %d, %v", got, err)
	}
	_, err := YesFrom("yes from", "60", 50)
	if want := `yes from = "60", but it must be a number of teachers from 1 to 50, or a share of them above 0 and below 1, such as 1/3`; fmt.Sprint(err) != want {
		t.Errorf("%v", err)
	}
}
