package noisymax

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/internal/testing/must"
)

func document(t testing.TB, p Problem) (*Table, string) {
	t.Helper()
	table := &Table{must.Get(Best(t.Context(), p))(t), "v1"}
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return table, b.String()
}

func three() Problem {
	return Problem{Teachers: 12, Classes: 3, Affected: 1, Answers: 5, Epsilon: 1, Delta: 1e-3}
}

func TestDocumentsComeBack(t *testing.T) {
	hashes := map[string]bool{}
	for _, p := range []Problem{three(), {Teachers: 7, Classes: 2, Affected: 3, Missing: true, Answers: 30, Epsilon: 2,
		Delta: 1e-5}} {
		table, text := document(t, p)
		claim := must.Get(ReadClaim(t.Context(), strings.NewReader(text)))(t)
		again := must.Get(claim.Verify(t.Context()))(t)
		if !reflect.DeepEqual(again, table) || !again.Same(table.Certified) || again.Problem() != p {
			t.Errorf("%s came back as %+v", text, again)
		}
		if !Recognises([]byte(text)) || Recognises([]byte(`{"kind":"answers"}`)) {
			t.Errorf("%s is not recognised, or what is none is", text)
		}
		hashes[table.Hash()] = true
		// Each field of the promise is in the name.
		for _, other := range []Problem{
			{p.Teachers + 1, p.Classes, p.Missing, p.Affected, p.Answers, p.Epsilon, p.Delta},
			{p.Teachers, p.Classes + 1, p.Missing, p.Affected, p.Answers, p.Epsilon, p.Delta},
			{p.Teachers, p.Classes, !p.Missing, p.Affected, p.Answers, p.Epsilon, p.Delta},
			{p.Teachers, p.Classes, p.Missing, p.Affected + 1, p.Answers, p.Epsilon, p.Delta},
			{p.Teachers, p.Classes, p.Missing, p.Affected, p.Answers + 1, p.Epsilon, p.Delta},
			{p.Teachers, p.Classes, p.Missing, p.Affected, p.Answers, p.Epsilon + 1, p.Delta},
			{p.Teachers, p.Classes, p.Missing, p.Affected, p.Answers, p.Epsilon, p.Delta / 2},
		} {
			c := &Certified{other, table.Sigma(), table.Certificate()}
			if hashes[c.Hash()] || c.Same(table.Certified) {
				t.Errorf("%+v has the name of another", other)
			}
			hashes[c.Hash()] = true
		}
		if louder := (&Certified{p, table.Sigma() + 1, table.Certificate()}); hashes[louder.Hash()] || louder.Same(table.Certified) {
			t.Error("other noise has the same name")
		}
	}
}

// Nothing that a file says is believed: what makes another promise of the same noise is priced again.
func TestAlteredDocumentsAreRefused(t *testing.T) {
	table, text := document(t, three())
	sigma := strings.SplitAfter(text, `"sigma":`)[1]
	sigma = sigma[:strings.Index(sigma, ",")]
	var format *strictjson.FormatError
	var price *PriceError
	var mismatch *check.MismatchError
	for name, x := range map[string]struct {
		old, new string
		want     any
	}{
		"another format":      {`"format_version":1`, `"format_version":2`, &format},
		"another kind":        {`"kind":"noise"`, `"kind":"answers"`, &format},
		"another law":         {`"noise":"discrete-gaussian"`, `"noise":"laplace"`, &format},
		"no law":              {`"noise":"discrete-gaussian",`, ``, &format},
		"more answers":        {`"answers":5`, `"answers":6`, &price},
		"too many answers":    {`"answers":5`, `"answers":100001`, &format},
		"no answers":          {`"answers":5`, `"answers":0`, &format},
		"a smaller epsilon":   {`"total_epsilon":1`, `"total_epsilon":0.9`, &price},
		"no epsilon":          {`"total_epsilon":1`, `"total_epsilon":0`, &format},
		"a smaller delta":     {`"delta":0.001,"noise"`, `"delta":0.0009,"noise"`, &price},
		"no delta":            {`"delta":0.001,"noise"`, `"delta":0,"noise"`, &format},
		"less noise":          {`"sigma":` + sigma, `"sigma":1.5`, &price},
		"no noise":            {`"sigma":` + sigma, `"sigma":0`, &format},
		"noise below 0":       {`"sigma":` + sigma, `"sigma":-` + sigma, &format},
		"noise of hours":      {`"sigma":` + sigma, `"sigma":1e9`, &format},
		"noise of words":      {`"sigma":` + sigma, `"sigma":"` + sigma + `"`, &format},
		"two votes of three":  {`"affected":1`, `"affected":2`, &format},
		"no reach":            {`"affected":1`, `"affected":0`, &format},
		"fewer classes":       {`"classes":3`, `"classes":1`, &format},
		"far more teachers":   {`"k":12`, `"k":2001`, &price},
		"no teachers":         {`"k":12`, `"k":0`, &format},
		"a field twice":       {`"k":12`, `"k":12,"k":13`, &format},
		"a field in capitals": {`"k":12`, `"k":12,"K":13`, &format},
		"a price of hours":    {`"step":0.1`, `"step":0.001`, &format},
		"no price":            {`"price":{"step":0.1},`, ``, &format},
		"a better price":      {`"certificate":{"delta":0.0`, `"certificate":{"delta":0.00`, &mismatch},
		"another name":        {`"hash":"`, `"hash":"0`, &mismatch},
		"more after it":       {"}\n", "}]", &format},
		"nothing":             {text, "", &format},
		"a list":              {text, "[]", &format},
	} {
		changed := strings.Replace(text, x.old, x.new, 1)
		if changed == text {
			t.Fatalf("%s: %q is not in the document: %s", name, x.old, text)
		}
		claim, err := ReadClaim(t.Context(), strings.NewReader(changed))
		if err == nil {
			_, err = claim.Verify(t.Context())
		}
		if !errors.As(err, x.want) {
			t.Errorf("%s: %v, want %T", name, err, x.want)
		}
	}
	// A promise of less is kept, too.
	weaker := strings.Replace(text, `"certificate":{"delta":0.0`, `"certificate":{"delta":0.1`, 1)
	claim := must.Get(ReadClaim(t.Context(), strings.NewReader(weaker)))(t)
	if _, err := claim.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := Certify(t.Context(), three(), math.NaN(), 0.1); err == nil {
		t.Error("noise that is no number is certified")
	}
	if got := table.Certificate().Delta; !(got > 0 && got <= 1e-3) {
		t.Errorf("the price is %v", got)
	}
}

// Zero values promise nothing, and have no document.
func TestNothingIsCertifiedByItself(t *testing.T) {
	for _, c := range []*Certified{nil, {}} {
		if c.Problem() != (Problem{}) || c.Sigma() != 0 || c.Certificate() != (Certificate{}) || c.Same(c) && c == nil {
			t.Errorf("%+v promises something", c)
		}
	}
	for _, table := range []*Table{nil, {}} {
		if err := table.Encode(new(bytes.Buffer)); err == nil {
			t.Error("an empty table has a document")
		}
	}
	if _, err := (*Claim)(nil).Certify(t.Context()); err == nil {
		t.Error("a claim of nothing is certified")
	}
}

// FuzzReadClaim: what is taken has the form of a problem, and comes back as it was.
func FuzzReadClaim(f *testing.F) {
	_, text := document(f, three())
	f.Add([]byte(text))
	f.Add([]byte(`{"format_version":1,"kind":"noise"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		claim, err := ReadClaim(t.Context(), bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := claim.Problem.Validate(); err != nil {
			t.Fatal(err)
		}
		table := &Table{&Certified{claim.Problem, claim.Sigma, Certificate{0.5, claim.Step}}, claim.Version}
		var b bytes.Buffer
		if err := table.Encode(&b); err != nil {
			t.Fatal(err)
		}
		again := must.Get(ReadClaim(t.Context(), &b))(t)
		if again.Problem != claim.Problem || again.Sigma != claim.Sigma || again.Step != claim.Step {
			t.Fatalf("%+v came back as %+v", claim, again)
		}
	})
}
