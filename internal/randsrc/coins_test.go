package randsrc

import (
	"fmt"
	"slices"
	"testing"
)

// Coins of a key are bound to the release, the name and the votes together: rows that differ in any
// of them have coins of their own, and the same row has the same. Names that run into each other,
// or into counts, are two rows.
func TestKeyedCoinsAreOfTheRow(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	type votes struct {
		release, query string
		counts         []int
		missing        int
	}
	seen := map[[4]uint64]int{}
	rows := []votes{
		{"a", "b", []int{3, 4}, 0}, {"b", "b", []int{3, 4}, 0}, {"a", "a", []int{3, 4}, 0},
		{"a", "b", []int{4, 3}, 0}, {"a", "b", []int{3, 4}, 1}, {"a", "b", []int{3, 3}, 1},
		{"ab", "", []int{3, 4}, 0}, {"", "ab", []int{3, 4}, 0}, {"a", "b", []int{3, 4, 0}, 0},
		{"a", "b\x02\x06\x08", nil, 0}, {"a", "b", nil, 0},
	}
	for i, v := range rows {
		var words [2][4]uint64
		for try := range words {
			src, err := KeyedCoins(key, v.release).Of(v.query, slices.Clone(v.counts), v.missing)
			if err != nil {
				t.Fatal(err)
			}
			for j := range words[try] {
				if words[try][j], err = src.Uint53(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if words[0] != words[1] {
			t.Errorf("%+v: the same row has other coins", v)
		}
		if j, ok := seen[words[0]]; ok {
			t.Errorf("%+v has the coins of %+v", v, rows[j])
		}
		seen[words[0]] = i
	}
	for name, c := range map[string]Coins{"zero": {}, "no key": KeyedCoins(nil, "a")} {
		if src, err := c.Of("q", []int{1}, 0); err == nil || src != nil {
			t.Errorf("%s: %v", name, src)
		}
		if c.Private() {
			t.Errorf("%s is private", name)
		}
	}
	if text := fmt.Sprintf("%+v", KeyedCoins(key, "a")); len(text) > 200 {
		t.Errorf("%s", text)
	}
}

// Own coins are of the same maker: those of the system share no buffer with the others, and those
// of a key or a seed are the same coins.
func TestOwnCoins(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	system := SystemCoins()
	own := system.Own()
	if own.system == nil || own.system == system.system || !own.Private() {
		t.Error("own coins of the system have its buffer, or are not its")
	}
	for name, c := range map[string]Coins{"keyed": KeyedCoins(key, "a"), "seeded": SeededCoins(3)} {
		var words [2]uint64
		for i, c := range []Coins{c, c.Own()} {
			if src, err := c.Of("q", []int{1, 2}, 0); err != nil {
				t.Fatal(err)
			} else if words[i], err = src.Uint53(); err != nil {
				t.Fatal(err)
			}
		}
		if words[0] != words[1] || c.Private() != c.Own().Private() {
			t.Errorf("%s: own coins are others", name)
		}
	}
	if src, err := (Coins{}).Own().Of("q", []int{1}, 0); err == nil || src != nil {
		t.Errorf("coins that nobody made: %v", src)
	}
}

// Who leaves out names that decide nothing must be told of those that do.
func TestNamed(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		coins Coins
		named bool
	}{{SystemCoins(), false}, {SystemCoins().Own(), false}, {KeyedCoins(key, "r"), true},
		{KeyedCoins(key, "r").Own(), true}, {SeededCoins(1), true}, {SeededCoins(1).Own(), true}} {
		if c.coins.Named() != c.named {
			t.Errorf("%v: named is %t", c.coins, c.coins.Named())
		}
	}
}
