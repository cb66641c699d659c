package certify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

const (
	gammaJSON = `{"k": 5, "affected": 1, "label_eps": 1, "gamma": [0.7, 0.3, 0.1]}`
	gammaCSV  = "votes,gamma\n0,0.7\n1,0.3\n2,0.1\n"
	lawsJSON  = `{"affected": 1, "label_eps": 1, "histograms": [
		{"votes": [2,0,0], "probabilities": [0.5,0.25,0.25]},
		{"votes": [1,1,0], "probabilities": [0.4,0.4,0.2]}]}`
	lawsCSV = "v1,v2,v3,p1,p2,p3\n2,0,0,0.5,0.25,0.25\n1,1,0,0.4,0.4,0.2\n"
)

func stated(k int, epsilon float64) ensemble.Stated {
	t := 1
	return ensemble.Stated{K: k, Affected: &t, LabelEpsilon: &epsilon}
}

func read(t *testing.T, text string) *Draft {
	t.Helper()
	return must.Get(Read(strings.NewReader(text)))(t)
}

// Files of either form, whatever the order of rows and columns, are the same mechanism, and a table
// that Decode certifies.
func TestFilesAreOneMechanism(t *testing.T) {
	ctx := context.Background()
	var want []byte
	for name, c := range map[string]struct {
		text string
		more ensemble.Stated
	}{
		"JSON":              {gammaJSON, ensemble.Stated{}},
		"CSV":               {gammaCSV, stated(5, 1)},
		"JSON and the same": {gammaJSON, stated(5, 1)},
		"all of it":         {gammaCSV + "3,0.1\n4,0.3\n5,0.7\n", stated(5, 1)},
		"other orders":      {"gamma , votes\n0.1,2\n0.7,0\n0.3,1\n", stated(5, 1)},
		"a BOM, comments, gaps between rows, CRLF": {
			"\ufeff# mine\r\nvotes,gamma\r\n\r\n0, 7e-1\r\n# now less\r\n1,\"0.30\"\r\n\r\n2,.1\r\n\r\n",
			stated(5, 1)},
		"JSON with a BOM": {"\ufeff\n" + gammaJSON, ensemble.Stated{}},
	} {
		r := must.Get(read(t, c.text).Certify(ctx, c.more))(t)
		var b bytes.Buffer
		if err := r.Gamma.Encode(&b); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b.Bytes()
		}
		if !bytes.Equal(b.Bytes(), want) || r.Plurality != nil || r.Change <= 0 || r.Change > 0x1p-53 {
			t.Errorf("%s: change %v\n%s", name, r.Change, b.Bytes())
		}
	}
	claim := must.Get(gamma.ReadClaim(bytes.NewReader(want)))(t)
	table := must.Get(claim.Verify(ctx))(t)
	// From 3 votes of 5 to 2: (1+0.1)/2 - e·(1-0.1)/2 < 0, and to 1 from 0, (1-0.7)/2 and (1-0.3)/2,
	// (1.7)/2 - e·1.3/2 < 0: it is pure.
	if p := table.Problem(); p.TotalEpsilon != 1 || p.Delta > 1e-12 || p.Affected != 1 ||
		!math.IsInf(p.Epsilon, 1) {
		t.Errorf("%+v", p)
	}

	want = nil
	for name, c := range map[string]struct {
		text string
		more ensemble.Stated
	}{
		"JSON": {lawsJSON, ensemble.Stated{}},
		"CSV":  {lawsCSV, stated(2, 1)},
		"other orders": {"p3,v1,p1,v3,v2,p2\n0.2,1,0.4,0,1,0.4\n0.25,2,0.5,0,0,0.25\n",
			stated(2, 1)},
	} {
		r := must.Get(read(t, c.text).Certify(ctx, c.more))(t)
		var b bytes.Buffer
		if err := r.Plurality.Encode(&b); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b.Bytes()
		}
		if !bytes.Equal(b.Bytes(), want) || r.Gamma != nil || r.Change <= 0 || r.Change > 0x1p-52 {
			t.Errorf("%s: change %v\n%s", name, r.Change, b.Bytes())
		}
	}
	other := must.Get(must.Get(plurality.ReadClaim(bytes.NewReader(want)))(t).Verify(ctx))(t)
	if p := other.Problem(); p.Epsilon != 1 || p.Delta != 0 || p.K != 2 || p.Classes != 3 {
		t.Errorf("%+v", p)
	}
}

// What is not stated is the worst case, and the other figure is proved.
func TestStatements(t *testing.T) {
	ctx := context.Background()
	delta, zero, five := 1e-3, 0.0, 5
	d := read(t, gammaCSV)
	r := must.Get(d.Certify(ctx, ensemble.Stated{K: five, Delta: &delta}))(t)
	if p := r.Gamma.Problem(); p.Affected != 5 || p.Delta != delta || !(p.TotalEpsilon > 0.5) ||
		r.Neighbours != accountant.ReplaceOne {
		t.Errorf("%+v, %v", p, r.Neighbours)
	}
	one, relation := 1.0, accountant.AddOrRemoveOne
	r = must.Get(d.Certify(ctx, ensemble.Stated{K: five, LabelEpsilon: &one, Epsilon: &delta,
		TeacherDelta: &zero, Teachers: ensemble.FreshTeachers, Neighbours: relation}))(t)
	if p := r.Gamma.Problem(); p.Epsilon != delta || p.Delta != 0 || r.Neighbours != relation {
		t.Errorf("%+v, %v", p, r.Neighbours)
	}
	d = read(t, "v1,v2,p1,p2,abstain\n1,0,0.5,0.25,0.25\n")
	r = must.Get(d.Certify(ctx, ensemble.Stated{Delta: &zero}))(t)
	if p := r.Plurality.Problem(); !p.Abstain || p.K != 1 ||
		p.Epsilon < math.Ln2 || p.Epsilon > math.Ln2+1e-9 {
		t.Errorf("%+v", p)
	}
	inf := math.Inf(1)
	must.Get(d.Certify(ctx, ensemble.Stated{Delta: &zero, Epsilon: &inf, Teachers: ensemble.FrozenTeachers}))(t)
}

func TestStatementsThatAreRefused(t *testing.T) {
	zero, two, tenth, k := 0.0, 2.0, 0.1, 4
	for name, c := range map[string]struct {
		text string
		more ensemble.Stated
		want string
	}{
		"nothing to prove": {gammaCSV, ensemble.Stated{K: k}, "exactly one of label epsilon and delta"},
		"nothing left": {gammaJSON, ensemble.Stated{Delta: &zero},
			"exactly one of label epsilon and delta"},
		"another ε": {gammaJSON, ensemble.Stated{LabelEpsilon: &two},
			"label epsilon = 2, but it must be what the file states, 1"},
		"another K": {gammaJSON, ensemble.Stated{K: k}, "number of teachers K = 4"},
		"no K":      {gammaCSV, ensemble.Stated{Delta: &zero}, "number of teachers K must be stated"},
		"K that is not": {gammaCSV, ensemble.Stated{K: k, Delta: &zero},
			"gamma has 3 values, but K = 4 needs 5, or the first 2"},
		"ε = 0":   {gammaCSV, ensemble.Stated{K: 5, LabelEpsilon: &zero}, "label epsilon = 0"},
		"fresh":   {gammaJSON, ensemble.Stated{Teachers: ensemble.FreshTeachers}, "epsilon must be stated"},
		"Δ alone": {gammaJSON, ensemble.Stated{TeacherDelta: &tenth}, "epsilon must be stated"},
		"ε alone": {gammaJSON, ensemble.Stated{Epsilon: &tenth},
			"epsilon = 0.1 needs teacher delta, and teachers"},
		"frozen and private": {gammaJSON, ensemble.Stated{Epsilon: &tenth, TeacherDelta: &zero,
			Teachers: ensemble.FrozenTeachers},
			"the randomness of frozen teachers"},
		"private, not said how": {gammaJSON, ensemble.Stated{Epsilon: &tenth, TeacherDelta: &zero},
			"needs teacher delta, and teachers"},
		"histograms, private": {lawsJSON, ensemble.Stated{Epsilon: &tenth}, "do not go with histograms"},
		"histograms, fresh":   {lawsJSON, ensemble.Stated{Teachers: ensemble.FreshTeachers}, "do not go with histograms"},
		"votes of another K": {lawsJSON, ensemble.Stated{K: k},
			"histogram [2 0 0]: the counts sum to 2 votes, want K = 4"},
		"few of many": {"v1,v2,v3,p1,p2,p3\n2001,0,0,1,0,0\n", ensemble.Stated{Delta: &zero},
			"number of histograms = 1"},
		"too many teachers": {"v1,v2,p1,p2\n9000000000000000000,9000000000000000000,1,0\n",
			ensemble.Stated{Delta: &zero}, "number of teachers K = 4004"},
		"one class": {"v1,p1\n2,1\n", ensemble.Stated{Delta: &zero}, "number of classes = 1"},
	} {
		_, err := read(t, c.text).Certify(context.Background(), c.more)
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "it is empty",
		"# nothing\n":                       "it is empty",
		"votes,gamma\n":                     "no row below",
		"\xff\xfev\x00":                     "UTF-16",
		"0,0.7\n1,0.3\n":                    `the columns are named ["0" "0.7"]`,
		"votes;gamma\n0;0,7\n":              "commas must separate them",
		"votes\tgamma\n0\t1\n":              "commas must separate them",
		",votes,gamma\n0,0,1\n":             `the columns are named ["" "votes" "gamma"]`,
		"votes,gamma,votes\n":               `column "votes" appears twice`,
		"votes,gamma,abstain\n":             "the columns are named",
		"v1,v2,p1\n1,0,1\n":                 "of the columns v2 and p2 only one is there",
		"v1,v3,p1,p3\n":                     "the columns are named",
		"v1,p1,gamma\n":                     "the columns are named",
		"votes,gamma\n0,0.7\n2,0.1\n":       "gamma(1) is missing",
		"votes,gamma\n0,0.7\n1,\n":          "line 3: gamma(1) is missing",
		"votes,gamma\n0,0.7\n\n0,0.7\n":     "line 4: gamma(0) appears twice",
		"votes,gamma\n0.0,0.7\n":            `line 2: votes is "0.0", but it must be a whole number`,
		"votes,gamma\n-1,0.7\n":             `line 2: votes is "-1"`,
		"votes,gamma\n0,70%\n":              `line 2: gamma(0) is "70%", but it must be a number`,
		"votes,gamma\n0,\"0,7\"\n":          `gamma(0) is "0,7"`,
		"votes,gamma\n0\n":                  "wrong number of fields",
		"votes,gamma\n0,\"0.7\n":            "quote",
		"v1,v2,p1,p2\n1,0,0.5,\n":           "line 2: histogram [1 0]: p2 is missing",
		"v1,v2,p1,p2\n1,,0.5,0.5\n":         "line 2: v2 is",
		"v1,v2,p1,p2,abstain\n1,0,0.5,0.5,": "line 2: histogram [1 0]: abstain is missing",

		`[0.7]`:                             "it is a list",
		`{}`:                                `either "gamma" or "histograms"`,
		`{"gamma":[],"histograms":[]}`:      `either "gamma" or "histograms"`,
		`{"gamma":[1],"histograms":[{}]}`:   `either "gamma" or "histograms"`,
		`{"gamma":[1,null]}`:                "gamma(1) is missing",
		`{"gamma":[NaN]}`:                   "JSON has no NaN or Infinity",
		`{"gamma":["1"]}`:                   "cannot unmarshal string",
		`{"gamma":[1],"epsilon":1}`:         `unknown field "epsilon"`,
		`{"gamma":[1],"k":5,"k":7}`:         `field "k" appears twice`,
		`{"gamma":[1],"K":5}`:               `field name "K"`,
		`{"gamma":[1],"k":0}`:               "number of teachers K = 0",
		`{"gamma":[1],"m":1}`:               `unknown field "m"`,
		`{"gamma":[1],"k":5.5}`:             "cannot unmarshal number 5.5",
		`{"gamma":[1],"teachers":"frsh"}`:   `teachers = "frsh", but it must be "fresh" or "frozen"`,
		`{"gamma":[1],"neighbours":"near"}`: "near",
		`{"gamma":[1]} {}`:                  "more after its end",
		`{"gamma":[1],"format_version":1}`:  "is certified already",
		`{"histograms":[{"votes":[1,0],"probabilities":[1]}]}`:                             "histogram [1 0] has 1 probabilities",
		`{"histograms":[{"votes":[1,0],"probabilities":[1,null]}]}`:                        "histogram [1 0]: a probability is missing",
		`{"histograms":[{"votes":[1,0],"probabilities":[1,0],"weight":1}]}`:                `unknown field "weight"`,
		`{"histograms":[{"votes":[1,0],"probabilities":[1,0],"abstain":0},{"votes":[1]}]}`: "histogram [1] has 0",
		`{"histograms":[{"votes":[2,0],"probabilities":[1,0],"abstain":0},
			{"votes":[1,1],"probabilities":[0.5,0.5]}]}`: `histogram [1 1]: "abstain" must be there`,
	} {
		if d, err := Read(strings.NewReader(text)); d != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	broken := errors.New("a disk")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Whatever bytes a file has: it is refused, or its mechanism is refused, or the table that it
// becomes is read again, certified and found to be what it says.
func FuzzCertify(f *testing.F) {
	for _, text := range []string{gammaJSON, gammaCSV, lawsJSON, lawsCSV} {
		f.Add([]byte(text), 5, 1.0, false)
		f.Add([]byte(text), 2, 0.0, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, k int, x float64, isDelta bool) {
		d, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		slow := len(d.Gamma) > 9 || len(d.Gamma) > 4 && d.TeacherDelta != nil
		if slow || len(d.Laws) > 12 || len(d.Laws) > 0 && len(d.Laws[0].Votes) > 5 {
			return
		}
		more := ensemble.Stated{K: k, LabelEpsilon: &x}
		if isDelta {
			more = ensemble.Stated{K: k, Delta: &x}
		}
		r, err := d.Certify(context.Background(), more)
		if err != nil {
			return
		}
		if !(r.Change >= 0 && r.Change < 1.1e-9) {
			t.Errorf("change %v", r.Change)
		}
		var b bytes.Buffer
		if r.Gamma != nil {
			err = errors.Join(r.Gamma.Encode(&b), verify(gamma.ReadClaim, &b))
		} else {
			err = errors.Join(r.Plurality.Encode(&b), verify(plurality.ReadClaim, &b))
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func verify[C interface {
	Verify(context.Context) (T, error)
}, T any](read func(io.Reader) (C, error), r io.Reader) error {
	claim, err := read(r)
	if err != nil {
		return err
	}
	_, err = claim.Verify(context.Background())
	return err
}

// Files of the JSON form that a program writes are read as what they are.
func TestReadsWhatProgramsWrite(t *testing.T) {
	b := must.Get(json.Marshal(map[string]any{"k": 3, "eps": "inf", "delta": 1e-6,
		"neighbours": "add-remove",
		"gamma":      []float64{1, 0.25}}))(t)
	d := read(t, string(b))
	if d.K != 3 || !math.IsInf(*d.Epsilon, 1) || *d.Delta != 1e-6 ||
		d.Neighbours != accountant.AddOrRemoveOne {
		t.Errorf("%+v", d.Stated)
	}
}
