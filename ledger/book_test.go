package ledger

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A book finds the first entry of every key, and nothing else, however often it grew, and says
// of every entry what was said of it.
func TestBook(t *testing.T) {
	b := newBook()
	const n = 20_000
	of := func(i int) located {
		return located{Entry: Entry{Seq: uint64(i + 1), ID: fmt.Sprint("id ", i), Ensemble: fmt.Sprint("e ", i/100),
			EnsembleDigest: "v1", Draw: &Draw{Name: fmt.Sprint("d ", i/2), Votes: Digest{byte(i), byte(i >> 8)},
				Covers: i%2 == 1}}}
	}
	for i := range n {
		if b.first(key{byID, "", fmt.Sprint("id ", i)}) != nil {
			t.Fatalf("entry %d is there before it is added", i)
		}
		c := of(i)
		b.add(&c)
	}
	for i := range n {
		c := of(i)
		var keys [4]key
		for _, k := range c.keys(keys[:0]) {
			want := c.Seq
			if k.index == byEnsemble {
				want = uint64(i/100*100 + 1)
			}
			if got := b.first(k); got == nil || got.Seq != want {
				t.Fatalf("entry %d, key %+v: %+v, want entry %d", i, k, got, want)
			}
		}
	}
}

// A book and a map from every key to its first entry are one, for entries of few names, so that
// they meet in all ways.
func TestBookIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		long := rapid.StringMatching(`[a-z]{1,3}|x{200,256}`)
		b, plain := newBook(), newRecent()
		var ids []string
		var all []located
		noted := map[string]bool{}
		n := rapid.IntRange(1, 60).Draw(t, "entries")
		for i := range n {
			c := located{Entry: Entry{Kind: KindCharge}, at: rapid.Int64Range(0, 1<<50).Draw(t, "at")}
			if len(ids) > 0 && rapid.Bool().Draw(t, "result") {
				if c.ID = rapid.SampledFrom(ids).Draw(t, "charge"); noted[c.ID] {
					continue
				}
				noted[c.ID], c.Kind = true, KindResult
			} else {
				c.ID = fmt.Sprint(long.Draw(t, "id"), i)
				ids = append(ids, c.ID)
				c.PaidBy = rapid.SampledFrom([]string{"", "payer"}).Draw(t, "paid by")
				if rapid.Bool().Draw(t, "has an ensemble") {
					c.Ensemble = name.Draw(t, "ensemble")
					c.EnsembleDigest = rapid.SampledFrom([]string{"", "v1", "v2"}).Draw(t, "teachers")
				}
				if rapid.Bool().Draw(t, "has a draw") {
					c.Draw = &Draw{Name: rapid.SampledFrom([]string{"a", "b", c.ID}).Draw(t, "draw"),
						Votes: Digest{rapid.Byte().Draw(t, "votes")}, Query: rapid.Bool().Draw(t, "query"),
						Covers: rapid.Bool().Draw(t, "covers")}
				} else if rapid.Bool().Draw(t, "has a quota") {
					c.Quota = &Quota{Table: Digest{rapid.Byte().Draw(t, "table")},
						Answers: rapid.Uint64().Draw(t, "answers")}
					c.Count = rapid.Uint64Range(0, math.MaxUint64/64).Draw(t, "count")
					c.Client = rapid.SampledFrom([]string{"", "alice", "bob"}).Draw(t, "client")
				}
			}
			c.Seq = uint64(len(all) + 1)
			b.add(&c)
			plain.add(&c)
			all = append(all, c)
		}
		keys := map[key]bool{{byEnsemble, "a", ""}: true, {byDraw, "", "a"}: true,
			{byIDResult, "", "nobody"}: true}
		for i := range all {
			same(t, b.at(uint64(i+1)), &all[i])
			for _, k := range all[i].keys(nil) {
				keys[k] = true
				for _, name := range []string{k.name, "a"} {
					keys[key{byID, "", name}], keys[key{byIDResult, "", name}] = true, true
					keys[key{byDraw, k.ensemble, name}], keys[key{byDrawCover, k.ensemble, name}] = true, true
				}
			}
		}
		if got, want := drawsOf(b), drawsOf(plain); !slices.Equal(got, want) {
			t.Fatalf("draws %v, want %v", got, want)
		}
		for _, payer := range []string{"payer", "nobody"} {
			for _, client := range []string{"", "alice", "bob"} {
				want := uint64(0)
				for i := range all {
					if c := &all[i]; c.Quota != nil && c.PaidBy == payer &&
						(client == "" || c.Client == client) {
						want += c.Count
					}
				}
				for name, p := range map[string]past{"a book": b, "a map": plain} {
					if got := p.taken(taker{payer, client}); got != want {
						t.Fatalf("by %s %q has taken %d of %q, want %d", name, client, got, payer, want)
					}
				}
			}
		}
		for k := range keys {
			same(t, b.first(k), plain.first(k))
			// Also where another key has its hash.
			for i := range all {
				if want := slices.Contains(all[i].keys(nil), k); k.index != byEnsemble &&
					b.has(uint32(i+1), k) != want {
					t.Fatalf("%+v has %+v: not %v", all[i], k, want)
				}
			}
		}
	})
}

// drawsOf returns the draws that a past lists.
func drawsOf(p past) (list []string) {
	p.draws(func(ensemble string, name []byte, votes Digest) bool {
		list = append(list, fmt.Sprintf("%q %q %v", ensemble, name, votes))
		return true
	})
	return list
}

func same(t *rapid.T, got, want *located) {
	t.Helper()
	if got == nil || want == nil {
		if got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
}
