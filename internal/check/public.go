package check

import (
	"math/big"
	"strconv"
)

// YesFrom returns from how many of so many teachers on a label is yes: a number of them as it is stated, or
// a share of them, such as 1/3 or 0.2, rounded up. "" is more than half of them, which is 0. name is the parameter.
func YesFrom(name, stated string, teachers int) (int, error) {
	if stated == "" {
		return 0, nil
	}
	wrong := Wantf(name, strconv.Quote(stated), "a number of teachers from 1 to %d, or a share of them above 0 and below 1, such as 1/3",
		teachers)
	if n, err := strconv.Atoi(stated); err == nil {
		if n < 1 || n > teachers {
			return 0, wrong
		}
		return n, nil
	}
	// SetString takes exponents, which could be numbers of any length.
	share, ok := new(big.Rat), len(stated) <= 20
	for _, c := range stated {
		ok = ok && (c >= '0' && c <= '9' || c == '.' || c == '/')
	}
	if ok {
		_, ok = share.SetString(stated)
	}
	if !ok || share.Sign() <= 0 || share.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, wrong
	}
	share.Mul(share, big.NewRat(int64(teachers), 1))
	up := new(big.Int).Add(share.Num(), share.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, share.Denom())
	return max(1, int(up.Int64())), nil
}

// PublicVotes returns how many public votes for no and for yes are added to those of so many teachers, so that yes
// has the most votes where at least from of the teachers say yes, and no where fewer do:
//
//	n + yes > no + teachers - n   ⟺   n ≥ from
//
// All are of one kind. With them the number of votes is odd, so that nothing ties. From 0 on nothing is added.
func PublicVotes(teachers, from int) (no, yes int) {
	if from == 0 {
		return 0, 0
	}
	d := teachers + 1 - 2*from
	return max(0, -d), max(0, d)
}
