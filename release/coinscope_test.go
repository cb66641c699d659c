package release

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
)

// fixedServiceKey is a key that no release uses.
func fixedServiceKey(t *testing.T) serviceKey {
	t.Helper()
	secret := must.Get(hex.DecodeString(goldenKey))(t)
	fingerprint := must.Get(hex.DecodeString(goldenFingerprint))(t)
	return serviceKey{must.Get(randsrc.ReadKey(bytes.NewReader(secret), [32]byte(fingerprint)))(t)}
}

const (
	goldenKey         = "646172726d206a6f62206b65792076310a0ef2113b2a5400b4197d5a7c2eeb0b3f5208f1950918c980daf1efc2ef9e72ba"
	goldenFingerprint = "7477ccf747ea76018563fd999454cf873ba48a5a318063d5e8ae94cb7cd754e3"
)

// The coins of a service stay what they are over changes of the code: a server that is upgraded
// must repeat its earlier answers, and refuses their ids where it would draw others. The constants
// are of format 5; whoever must change them raises that number (serviceKey.digest).
func TestOnlineScopeGolden(t *testing.T) {
	k := fixedServiceKey(t)
	s := ensemble.Setting{K: 7, Classes: 4, Affected: 1, Neighbours: accountant.ReplaceOne}
	lnmax := must.Get(ensemble.LNMax(s, 1))(t)
	gnmax := must.Get(ensemble.GNMax(s, accountant.Cost{Epsilon: 1, Delta: 1e-5}, 7.0001))(t)
	for _, c := range []struct {
		name, want string
		scope      onlineScope
	}{
		{"lnmax", "aa4c6e4c9b0bfa749a80fa5aa6dd30c27aa07205f98a96068881737eab4bf90f",
			scopeOf("a ledger", Plan{mechanism: lnmax})},
		{"gnmax", "ea393dde94245f88cbbd062c186809b1d2f6771ce6ece72d7ad466dea1e52197",
			scopeOf("a ledger", Plan{mechanism: gnmax})},
		{"a table", "ad37e9610da934283d301a5356f557492f6caa3531ff922b1e2d9f2a8cfc5328", onlineScope{
			Ledger: "b", Mechanism: "darrm", PerAnswer: accountant.Cost{Epsilon: 0.3, Delta: 1e-4},
			Table: []byte("table"),
			Setting: ensemble.Setting{K: 11, Classes: 2, Affected: 11,
				Neighbours: accountant.AddOrRemoveOne},
		}},
	} {
		scope := k.digest("scope", c.scope.parts()...)
		if got := hex.EncodeToString(scope[:]); got != c.want {
			t.Errorf("%s: scope %s, want %s", c.name, got, c.want)
		}
	}
}

// Every field enters: the scope is another one where any is changed, those of the Setting and of
// the cost included. A field of a kind that this test does not know fails it.
func TestOnlineScopeHasEveryField(t *testing.T) {
	k := fixedServiceKey(t)
	scope := onlineScope{
		Ledger: "l", Mechanism: "m", Parameters: "p", Table: []byte("t"),
		PerAnswer: accountant.Cost{Epsilon: 1, Delta: 1e-5},
		Setting:   ensemble.Setting{K: 7, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne},
	}
	seen := map[[32]byte]string{k.digest("scope", scope.parts()...): "unchanged"}
	fields := 0
	var change func(path string, v reflect.Value)
	change = func(path string, v reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				change(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Float64:
			v.SetFloat(v.Float() * (1 + 0x1p-52)) // the next float64: none is rounded
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Slice:
			v.Set(reflect.ValueOf([]byte("u")))
		default:
			t.Fatalf("%s is a %v", path, v.Kind())
		}
		fields++
		d := k.digest("scope", scope.parts()...)
		if before, ok := seen[d]; ok {
			t.Errorf("%s changed has the scope of %s", path, before)
		}
		seen[d] = path
		v.Set(old)
	}
	change("scope", reflect.ValueOf(&scope).Elem())
	if fields != 11 {
		t.Errorf("%d fields were changed", fields)
	}
}

// Two mechanisms whose titles are equal, since those have four digits, have scopes of their own.
func TestOnlineScopeIsOfTheExactNoise(t *testing.T) {
	s := ensemble.Setting{K: 7, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	claim := accountant.Cost{Epsilon: 1, Delta: 1e-5}
	a := must.Get(ensemble.GNMax(s, claim, 7.0001))(t)
	b := must.Get(ensemble.GNMax(s, claim, 7.0002))(t)
	if a.Title() != b.Title() {
		t.Fatalf("%q and %q", a.Title(), b.Title())
	}
	if reflect.DeepEqual(scopeOf("l", Plan{mechanism: a}), scopeOf("l", Plan{mechanism: b})) {
		t.Error("two mechanisms share their coins")
	}
}
