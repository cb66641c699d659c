package release

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// A table of many classes is read by its kind, certified, and held to what it says of itself:
// wrong figures and a promise that it does not keep are refused, and so is what is no table.
func TestReadTable(t *testing.T) {
	p := plurality.Problem{K: 3, Classes: 3, Epsilon: 0.5, Affected: 2}
	table, err := plurality.NewTable(t.Context(), pluralityPlan(t, p).mechanism.Table(),
		plurality.Objective{Accuracy: 0.6}, plurality.Proof{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	read, err := ReadTable(t.Context(), &b)
	if err != nil || read.Gamma != nil || read.Plurality.Problem() != p {
		t.Fatalf("%+v, %v", read, err)
	}
	plan, err := read.Plan(accountant.AddOrRemoveOne)
	if err != nil || plan.mechanism.Problem().Affected != 2 ||
		plan.mechanism.Problem().TotalEpsilon != 0.5 ||
		plan.mechanism.Setting().Neighbours != accountant.AddOrRemoveOne {
		t.Errorf("%+v, %v", plan, err)
	}
	if got := read.Verdict(); !strings.HasPrefix(got, "VERIFIED: private as promised. Nothing is proved of") {
		t.Errorf("%q", got)
	}
	if got := pluralityPlan(t, p).WithTable(read).Table().Plurality; got == nil {
		t.Error("the table of its own plan is left out")
	}
	p.Epsilon = 0.6
	if got := pluralityPlan(t, p).WithTable(read).Table().Plurality; got != nil {
		t.Error("a plan keeps the table of another")
	}
	for want, table := range map[string]Table{
		"no table": {},
		"VERIFIED: all answers together are as private as promised.": {Answers: new(answers.Table)},
	} {
		if got := table.Verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	b.Reset()
	_ = table.Encode(&b) // a buffer takes everything
	var violation *plurality.ViolationError
	var mismatch *plurality.MismatchError
	var input *InputError
	for name, c := range map[string]struct {
		old, new string
		kind     any
	}{
		"a smaller ε":     {`"total_epsilon":0.5`, `"total_epsilon":0.4`, &violation},
		"a larger reach":  {`"affected":2`, `"affected":3`, &violation},
		"a wrong figure":  {`"upper_bound":1`, `"upper_bound":0.99`, &mismatch},
		"a broken number": {`"total_epsilon":0.5`, `"total_epsilon":-0.5`, &input},
		"another kind":    {`"kind":"plurality"`, `"kind":"oracle"`, &input},
	} {
		text := strings.NewReplacer(": ", ":").Replace(b.String())
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Errorf("%s: the table has no %s", name, c.old)
		}
		if got, err := ReadTable(t.Context(), strings.NewReader(changed)); err == nil ||
			!errors.As(err, c.kind) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// One that was cut short anywhere behind its kind is called by its name.
	for n := strings.Index(b.String(), plurality.FormatKind) + len(plurality.FormatKind) +
		1; n < b.Len()-1; n += 101 {
		if _, err := ReadTable(t.Context(), strings.NewReader(b.String()[:n])); !errors.As(err, &input) ||
			!strings.Contains(err.Error(), "not a plurality table") {
			t.Errorf("cut at byte %d: %v", n, err)
		}
	}
}
