package ledger

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func countingSecret() *secret {
	var s secret
	for i := range s {
		s[i] = byte(i)
	}
	return &s
}

var goldenLedger = ledgerID{1, 2, 3}

func goldenKey() secret { return countingSecret().of(goldenLedger) }

// The digest of votes is part of the format: a change here makes votes that are asked again
// look new. The digests were made by another program (golden_test.go).
func TestVoteHashIsStable(t *testing.T) {
	h := newVoteHash(goldenKey())
	if got := h.Draw("wards", "march").Votes.String(); got != goldenNoVotes || h.Rows() != 0 {
		t.Errorf("no rows: %s, %d", got, h.Rows())
	}
	h.Add([]int{0, 1, 1})
	h.Add([]int{-1, 0, 300})
	h.Add([]int{0, 1, 1})
	h.AddCounts([]int{70, -1, 1 << 40})
	if got := h.Draw("wards", "march").Votes.String(); got != goldenVotes || h.Rows() != 4 {
		t.Errorf("%s, %d", got, h.Rows())
	}
	other := *countingSecret()
	other[31] ^= 1
	if other.of(goldenLedger) == goldenKey() {
		t.Error("another secret has the same key")
	}
	if countingSecret().of(ledgerID{1, 2, 4}) == goldenKey() {
		t.Error("another ledger has the same key")
	}
}

// Two draws have one digest only if ensemble, name and votes are one, whatever the names.
func TestVoteHashIsOfOneDraw(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`[ab:\x00\x01\x02]{0,3}`),
		rapid.StringMatching(`[a-c:]{0,200}`))
	type draw struct {
		ensemble, name string
		votes          int
	}
	draws := rapid.Custom(func(t *rapid.T) draw {
		return draw{name.Draw(t, "ensemble"), name.Draw(t, "name"), rapid.IntRange(0, 1).Draw(t, "votes")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draws.Draw(t, "a"), draws.Draw(t, "b")
		if rapid.Bool().Draw(t, "cut elsewhere") {
			whole := a.ensemble + a.name
			cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
			b = draw{whole[:cut], whole[cut:], a.votes}
		}
		if same := newDraw(a.ensemble, a.name, a.votes).Votes == newDraw(b.ensemble, b.name,
			b.votes).Votes; same != (a == b) {
			t.Fatalf("%+v and %+v: one digest: %t", a, b, same)
		}
	})
}

// The digest is that of a multiset: any order and any division into parts give the same,
// and one row more, fewer or other gives another. Rows of any kind with any values differ.
// A false alarm needs two equal HMACs.
func TestVoteHashOfMultiset(t *testing.T) {
	type row struct {
		counts bool
		values []int
	}
	secret := *countingSecret()
	sum := func(rows []row) Digest {
		h := newVoteHash(secret)
		for _, r := range rows {
			if r.counts {
				h.AddCounts(r.values)
			} else {
				h.Add(r.values)
			}
		}
		if h.Rows() != int64(len(rows)) {
			panic("rows are not counted")
		}
		return h.digest("", "d")
	}
	value := rapid.OneOf(rapid.IntRange(-1, 2), rapid.SampledFrom([]int{63, 64, 127, 128, 255, 256,
		8191, 8192, math.MaxInt32, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64}))
	draw := rapid.Custom(func(t *rapid.T) row {
		return row{rapid.Bool().Draw(t, "counts"), rapid.SliceOfN(value, 0, 4).Draw(t, "values")}
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(draw, 1, 12).Draw(t, "rows")
		want := sum(rows)
		shuffled := rapid.Permutation(rows).Draw(t, "shuffled")
		if sum(shuffled) != want {
			t.Fatal("the order matters")
		}
		cut := rapid.IntRange(0, len(shuffled)).Draw(t, "cut")
		parts := [2]*VoteHash{newVoteHash(secret), newVoteHash(secret)}
		for i, r := range shuffled {
			h := parts[0]
			if i >= cut {
				h = parts[1]
			}
			if r.counts {
				h.AddCounts(r.values)
			} else {
				h.Add(r.values)
			}
		}
		parts[0].Merge(parts[1])
		if parts[0].digest("", "d") != want || parts[0].Rows() != int64(len(rows)) {
			t.Fatal("parts matter")
		}
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		if sum(slices.Delete(slices.Clone(rows), i, i+1)) == want ||
			sum(append(slices.Clone(rows), rows[i])) == want ||
			sum(append(slices.Clone(rows), rows[i], rows[i])) == want {
			t.Fatal("the number of equal rows does not matter")
		}
		other := slices.Clone(rows)
		other[i] = draw.Draw(t, "other")
		same := other[i].counts == rows[i].counts && slices.Equal(other[i].values, rows[i].values)
		if same != (sum(other) == want) {
			t.Fatalf("%v instead of %v: the digest is the same: %t", other[i], rows[i], !same)
		}
	})
}

func TestVoteHashAllocatesNothing(t *testing.T) {
	h := newVoteHash(*countingSecret())
	votes := make([]int, 50)
	if n := testing.AllocsPerRun(100, func() { h.Add(votes) }); n != 0 {
		t.Errorf("%v allocations per row", n)
	}
}

// BenchmarkVoteHash: one row of 10 or 100 teachers' votes.
func BenchmarkVoteHash(b *testing.B) {
	for _, k := range []int{10, 100} {
		b.Run(fmt.Sprint("K=", k), func(b *testing.B) {
			h := newVoteHash(*countingSecret())
			votes := make([]int, k)
			for b.Loop() {
				h.Add(votes)
			}
		})
	}
}
