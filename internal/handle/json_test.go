package handle_test

import (
	"encoding/json"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// notEncoded are the types that results hold and that are no values: by the reason why JSON has
// nothing of them.
var notEncoded = map[string][]string{
	"it is a handle, whose methods do something": {
		"accountant.Accountant", "ensemble.Telling", "ledger.Ledger",
		"ledger.Receipt", "learn/federated/rounds.Run", "release.Online", "release.Bill",
		"sketch/stream.Stream", "sweep.Solver",
	},
	"it is a function or a system of inequalities, and its parameters stand beside it": {
		"accountant.Curve", "accountant.HockeyStick", "accountant.Profile", "accountant.Stopping",
		"ensemble.JointPrice", "ensemble.Mechanism", "gamma.Func", "learn/federated/randomiser.OneBit",
		"learn/geometry.LpBall",
		"learn/loss.Envelope", "learn/loss.Insensitive", "learn/loss.Network", "learn/loss.Pair",
		"learn/loss.Pinball", "learn/loss.Softmax", "plan.Law", "plurality.Space", "plurality/answers.System", "release.Plan",
	},
	"its numbers stand in the table that it proves": {"gamma.Certified", "plurality.Certified"},
	"it is private: votes, records, keys and what they hash to": {
		"ensemble.Ballots", "learn/data.Records", "learn/federated/rounds.SealKey",
		"learn/federated/rounds.ShufflerKey", "ledger.VoteHash",
	},
	"a caller states it, and no result holds it": {
		"Aim", "ensemble/teachers.Parts", "votes.LabelFile",
	},
}

// A public value that a result holds, or a function gives out, encodes as what it holds: JSON of it
// is never {}.
func TestResultsEncode(t *testing.T) {
	reasons := map[string]string{}
	for reason, all := range notEncoded {
		for _, of := range all {
			reasons[module+"/"+of] = reason
		}
	}
	seen, silent := map[string]bool{}, map[string]string{}
	look := func(where string, of types.Type) {
		for _, named := range structs(of) {
			key := named.Obj().Pkg().Path() + "." + named.Obj().Name() // without type arguments
			if seen[key] = true; saysNothing(named) {
				silent[key] = where
			}
		}
	}
	for _, p := range packages(t) {
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			switch o := o.(type) {
			case *types.Func:
				results(o, look)
			case *types.TypeName:
				named, ok := o.Type().(*types.Named)
				if !ok || o.IsAlias() {
					continue
				}
				for m := range named.Methods() {
					if m.Exported() {
						results(m, look)
					}
				}
				if of, ok := named.Underlying().(*types.Struct); ok && !marshals(named) {
					for i := range of.NumFields() {
						if f := of.Field(i); f.Exported() && reflect.StructTag(of.Tag(i)).Get("json") != "-" {
							look(p.Path()+"."+name+"."+f.Name(), f.Type())
						}
					}
				}
			}
		}
	}
	for of, where := range silent {
		if of = strings.Replace(of, module+".", module+"/", 1); reasons[of] == "" {
			t.Errorf("%s holds a %s, which encodes as {}", where, of)
		}
		delete(reasons, of)
	}
	for of := range reasons {
		t.Errorf("%s has a reason, and encodes as more than {}, or is held by nothing", of)
	}
	if len(seen) < 60 {
		t.Errorf("%d types were found", len(seen))
	}
	t.Logf("%d types, %d of them encode as {}", len(seen), len(silent))
}

// results looks at what f gives out by value: a pointer leads to a handle.
func results(f *types.Func, look func(where string, of types.Type)) {
	for v := range f.Signature().Results().Variables() {
		if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
			look(f.FullName(), v.Type())
		}
	}
}

// structs returns the exported structs of this module that of holds, by lists, maps and pointers.
func structs(of types.Type) []*types.Named {
	switch u := types.Unalias(of).(type) {
	case *types.Named:
		o := u.Obj()
		if _, ok := u.Underlying().(*types.Struct); ok && o.Pkg() != nil && o.Exported() &&
			strings.HasPrefix(o.Pkg().Path()+"/", module+"/") {
			return []*types.Named{u}
		}
		if _, ok := u.Underlying().(*types.Struct); ok {
			return nil
		}
		return structs(u.Underlying())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, maps and channels
		return structs(u.Elem())
	}
	return nil
}

// saysNothing reports whether values of the type hold something, and encoding/json writes none of
// it.
func saysNothing(named *types.Named) bool {
	of := named.Underlying().(*types.Struct)
	return of.NumFields() > 0 && !marshals(named) && !encodes(of)
}

// encodes reports whether encoding/json sees a field.
func encodes(of *types.Struct) bool {
	for i := range of.NumFields() {
		f := of.Field(i)
		switch tag := reflect.StructTag(of.Tag(i)).Get("json"); {
		case tag == "-":
		case f.Exported():
			return true
		case f.Embedded():
			inner := f.Type()
			if p, ok := inner.Underlying().(*types.Pointer); ok {
				inner = p.Elem()
			}
			if s, ok := inner.Underlying().(*types.Struct); ok && encodes(s) {
				return true
			}
		}
	}
	return false
}

// marshals reports whether the type, or a pointer to it, has its own form.
func marshals(of types.Type) bool {
	set := types.NewMethodSet(types.NewPointer(of))
	return set.Lookup(nil, "MarshalJSON") != nil || set.Lookup(nil, "MarshalText") != nil
}

// What an answer leaves is printed as budget show prints it, by value, by pointer and inside of the
// result; it is not read back as no cost.
func TestAnsweredEncodes(t *testing.T) {
	cost, err := ledger.NewCost(0.1, 1e-24)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := ledger.NewBudget(3e9, 0)
	if err != nil {
		t.Fatal(err)
	}
	const one = `{"epsilon":0.1,"delta":1e-24}`
	for _, c := range []struct {
		v    any
		want string
	}{
		{cost, one}, {&cost, one}, {budget, `{"epsilon":3000000000,"delta":0}`},
		{ledger.Cost{}, `{"epsilon":0,"delta":0}`},
		{map[string]ledger.Cost{"a": cost}, `{"a":` + one + `}`},
	} {
		got, err := json.Marshal(c.v)
		if err != nil || string(got) != c.want {
			t.Errorf("%T: %s, %v, want %s", c.v, got, err, c.want)
		}
	}
	if amount, err := json.Marshal(release.NewAmount(cost)); err != nil || string(amount) != one {
		t.Errorf("the command prints %s, %v", amount, err)
	}
	answered := release.Answered{
		Charge: ledger.Entry{Unit: cost, Relation: accountant.ReplaceOne},
		After:  ledger.State{Spent: cost, Remaining: budget.Cost()},
	}
	got, err := json.Marshal(answered)
	for _, want := range []string{`"Unit":` + one,
		`"After":{"Spent":` + one + `,"Remaining":{"epsilon":3000000000,"delta":0}`} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s, %v, lacks %s", got, err, want)
		}
	}
	back := cost
	if err := json.Unmarshal([]byte(one), &back); err == nil || back != cost {
		t.Errorf("read as %v, %v", back, err)
	}
}
