package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/votes"
)

// constantPlan is DaRRM of three teachers with a constant noise function.
func constantPlan(t *testing.T, v float64) Plan {
	t.Helper()
	f, err := gamma.Constant(3, v)
	if err != nil {
		t.Fatal(err)
	}
	// So much that any function is certified for it.
	p := constraints.Problem{K: 3, M: 4, Epsilon: 0.5, Delta: 1e-3, Affected: 3}
	c, err := gamma.Certify(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(DaRRM(c, accountant.ReplaceOne))(t)
}

// pluralityPlan is a table of three teachers and so many classes, permute-and-flip's.
func pluralityPlan(t *testing.T, p plurality.Problem) Plan {
	t.Helper()
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := plurality.Round(t.Context(), s, s.PermuteAndFlip())
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(Plurality(c, accountant.ReplaceOne))(t)
}

// A key is of one table: another promise, reach or set of answers is another.
func TestKeyIsOfOneTable(t *testing.T) {
	const paid = "a,0,1,1\nb,0,0,1\n"
	path := filepath.Join(t.TempDir(), "checkpoint")
	p := plurality.Problem{K: 3, Classes: 2, Epsilon: 0.5, Affected: 1}
	if _, err := pinned(t, path, paid, pluralityPlan(t, p)); err != nil {
		t.Fatal(err)
	}
	if c, err := pinned(t, path, paid, pluralityPlan(t, p)); err != nil || !c.isResumed() {
		t.Errorf("the same: %v", err)
	}
	for name, change := range map[string]func(p *plurality.Problem){
		"ε":          func(p *plurality.Problem) { p.Epsilon = 0.6 },
		"t":          func(p *plurality.Problem) { p.Affected = 2 },
		"abstaining": func(p *plurality.Problem) { p.Abstain = true },
	} {
		other := p
		change(&other)
		var input *InputError
		if _, err := pinned(t, path, paid, pluralityPlan(t, other)); !errors.As(err, &input) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := pinned(t, path, paid, constantPlan(t, 0.5)); err == nil {
		t.Error("a noise function is answered with a table's key")
	}
}

// pinned passes votes through a reading with the checkpoint at path, and pins them.
func pinned(t *testing.T, path, text string, plan Plan) (*keyedCoins, error) {
	t.Helper()
	c, err := openCoins(t.Context(), path, owner{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := votes.Open(t.Context(),
		votes.Options{Stdin: strings.NewReader("query,t1,t2,t3\n" + text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r := newReading(nil, c)
	for b, err := range v.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.add(b, r.digest(b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.end(plan); err != nil {
		return c, err
	}
	if c.resumed {
		return c, nil
	}
	return c, c.save()
}

// One key gives one series of answers: to the votes, ids and noise function that it was made
// for. The coins of a query come from its id, so the same votes under other ids would be
// answered anew.
func TestKeyIsOfOneRelease(t *testing.T) {
	const paid = "a,0,1,1\nb,0,0,1\n"
	function := func(v float64) Plan { return constantPlan(t, v) }
	path := filepath.Join(t.TempDir(), "checkpoint")
	first, err := pinned(t, path, paid, function(0.5))
	if err != nil || first.isResumed() || first.fingerprint() == "" {
		t.Fatalf("resumed %t, key %q, %v", first.isResumed(), first.fingerprint(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, tt := range []struct {
		name, text string
		gamma      float64
		ok         bool
	}{
		{"the same", paid, 0.5, true},
		{"other votes", "a,0,1,1\nb,0,0,0\n", 0.5, false},
		{"one more", paid + "c,0,0,0\n", 0.5, false},
		{"one fewer", "a,0,1,1\n", 0.5, false},
		{"other ids", "c,0,1,1\nb,0,0,1\n", 0.5, false},
		{"another order", "b,0,0,1\na,0,1,1\n", 0.5, false},
		{"another noise function", paid, 0.25, false},
	} {
		c, err := pinned(t, path, tt.text, function(tt.gamma))
		var input *InputError
		if !c.isResumed() || c.fingerprint() != first.fingerprint() || (err == nil) != tt.ok ||
			err != nil && !errors.As(err, &input) {
			t.Errorf("%s: resumed %t, %v", tt.name, c.isResumed(), err)
		}
	}
	if err := first.forget(); err != nil {
		t.Fatal(err)
	}
	if again, err := pinned(t, path, paid, function(0.5)); err != nil || again.isResumed() ||
		again.fingerprint() == first.fingerprint() {
		t.Errorf("after it was removed: resumed %t, %v", again.isResumed(), err)
	}
	var none *keyedCoins
	var nothing *secret
	if none.fingerprint() != "" || nothing.isResumed() || nothing.save() != nil ||
		nothing.forget() != nil {
		t.Error("no checkpoint is one")
	}
}

// A file that is no checkpoint is not taken for one, and stays as it is.
func TestOpenCoinsRefuses(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	if _, err := pinned(t, whole, "a,0,1,1\n", constantPlan(t, 0.5)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), b...)
	flipped[len(flipped)-1] ^= 1
	contents := map[string][]byte{
		"text": []byte("query,label\n"), "another state": owner{}.seal([]byte("x")), "another key": flipped,
		"large": make([]byte, maxCoinsFile+maxOwner+1),
	}
	for n := range b {
		contents[fmt.Sprintf("cut after %d bytes", n)] = b[:n]
	}
	for name, content := range contents {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := openCoins(t.Context(), path, owner{})
		var input *InputError
		if c != nil || !errors.As(err, &input) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// Where an id ends and its votes begin, here two for 0 and one for 1, is in the pin: two releases
// whose ids and votes make the same bytes in a row are two.
func TestPinKnowsWhereIDsEnd(t *testing.T) {
	plan, path := constantPlan(t, 0.5), filepath.Join(t.TempDir(), "checkpoint")
	if _, err := pinned(t, path, "a,0,0,1\nb\x02\x01c,0,1,0\n", plan); err != nil {
		t.Fatal(err)
	}
	var input *InputError
	if _, err := pinned(t, path, "a\x02\x01b,1,0,0\nc,0,1,0\n", plan); !errors.As(err, &input) {
		t.Errorf("other ids with other votes: %v", err)
	}
}
