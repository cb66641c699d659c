package gamma

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/internal/testing/must"
)

func encode(t testing.TB, table *Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mismatch returns what the claim's file states wrongly about the table.
func mismatch(c *Claim, t *Table) error {
	var s check.Stated
	c.compare(&s, t)
	return s.Err()
}

// What is written is read back as the same, bit for bit, and certifies.
func TestTableRoundTrip(t *testing.T) {
	for _, name := range goldenNames(t, 101) {
		data := golden(t, name)
		claim, err := ReadClaim(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		table, err := claim.Certify(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := mismatch(claim, table); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again := encode(t, table)
		second, err := Decode(context.Background(), bytes.NewReader(again))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if twice := encode(t, second); !bytes.Equal(again, twice) {
			t.Errorf("%s: another table comes back", name)
		}
		if !second.Func().Equal(claim.Func) || second.Problem() != claim.Problem {
			t.Errorf("%s: another function comes back", name)
		}
		if !reflect.DeepEqual(second.Proof, claim.Proof) || second.Solver != claim.Solver ||
			second.Version != claim.Version {
			t.Errorf("%s: proof, solver or version got lost", name)
		}
	}
}

// A file written by another version of the program comes back byte for byte
// as long as its figures are computed as they were. Other processors may fuse a
// product and a sum, and so differ in a last digit.
func TestGoldenBytes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("testdata was written on amd64, this is %s", runtime.GOARCH)
	}
	for _, name := range goldenNames(t, 101) {
		if data := golden(t, name); !bytes.Equal(encode(t, goldenTable(t, name)), data) {
			t.Errorf("%s: testdata differs from what is written now; if that is meant: go test "+
				"./gamma/solve -run Golden -update", name)
		}
	}
}

// The documented names, all present, and no others.
func TestFieldNames(t *testing.T) {
	var got map[string]json.RawMessage
	if err := json.Unmarshal(encode(t, goldenTable(t, "k7-m2-free")), &got); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, "table", got, "format_version", "k", "m", "epsilon", "teacher_delta", "delta",
		"affected", "shape",
		"prior_mean", "gamma", "expected_error", "disagreement", "baselines", "certificate", "proof",
		"solver", "version")
	var certificate, baselines map[string]json.RawMessage
	var proof []map[string]json.RawMessage
	for key, into := range map[string]any{"certificate": &certificate, "baselines": &baselines,
		"proof": &proof} {
		if err := json.Unmarshal(got[key], into); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	wantKeys(t, "certificate", certificate, "method", "constraints", "bound", "right_hand_side",
		"slack", "objective_lower_bound", "gap")
	wantKeys(t, "baselines", baselines, "randomised_response", "randomised_response_tight",
		"subsampling", "double_subsampling")
	if len(proof) == 0 {
		t.Fatal("the proof is empty")
	}
	wantKeys(t, "proof[0]", proof[0], "corners", "multiplier")
}

func wantKeys(t *testing.T, name string, got map[string]json.RawMessage, want ...string) {
	t.Helper()
	var keys []string
	for k := range got {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	sort.Strings(want)
	if !slices.Equal(keys, want) {
		t.Errorf("%s has fields %q, want %q", name, keys, want)
	}
}

// A summary is the table's JSON without some of its fields.
func TestSummary(t *testing.T) {
	table := goldenTable(t, "k7-m2-free")
	var whole, summary map[string]json.RawMessage
	short, err := table.Summary()
	if err != nil {
		t.Fatal(err)
	}
	long, err := table.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for b, v := range map[string]*map[string]json.RawMessage{string(long): &whole,
		string(short): &summary} {
		if err := json.Unmarshal([]byte(b), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gamma", "proof", "solver", "version", "format_version"} {
		if whole[name] == nil {
			t.Errorf("%s is not in the table", name)
		}
		delete(whole, name)
	}
	delete(whole, "proof_weights")
	if !maps.EqualFunc(whole, summary, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Errorf("summary %s, want %s", short, whole)
	}
}

// An empty proof is written as a list, and what a reader of another language
// sees are plain numbers.
func TestTableWithoutProof(t *testing.T) {
	c, err := Certify(context.Background(), problem(t, 5, 2, 0.1, 0), mustFree(t, 5, 0.5, 0.25, 0.125))
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(context.Background(), c, Objective{PriorMean: 0.75, Shape: Free}, Proof{})
	if err != nil {
		t.Fatal(err)
	}
	data := encode(t, table)
	for _, want := range []string{`"proof": []`, `"solver": ""`, "0.25,\n"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if table.LowerBound != 0 || table.Gap < table.ExpectedError ||
		table.Gap > table.ExpectedError*(1+1e-14) {
		t.Errorf("without proof: lower bound %v, gap %v of %v", table.LowerBound, table.Gap,
			table.ExpectedError)
	}
	if _, err := Decode(context.Background(), bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
	compact, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(context.Background(), bytes.NewReader(compact)); err != nil {
		t.Error(err)
	}
}

// with returns a golden table's JSON with one field replaced by raw JSON text, or
// removed where text is empty. Dots lead into objects.
func with(t testing.TB, name, field, text string) []byte {
	t.Helper()
	var file map[string]any
	d := json.NewDecoder(bytes.NewReader(golden(t, name)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	at, key := file, field
	if outer, inner, ok := strings.Cut(field, "."); ok {
		at, key = file[outer].(map[string]any), inner
	}
	if _, ok := at[key]; !ok {
		t.Fatalf("%s has no field %s", name, field)
	}
	if text == "" {
		delete(at, key)
	} else {
		at[key] = json.RawMessage(text)
	}
	out, err := json.Marshal(file)
	if err != nil {
		t.Fatalf("%s = %s: %v", field, text, err)
	}
	return out
}

// hostile lists bytes that are no table, and a word of why.
func hostile(t testing.TB) map[string]struct {
	data []byte
	want string
} {
	good := golden(t, "k7-m2-free")
	type entry = struct {
		data []byte
		want string
	}
	out := map[string]entry{
		"nothing":       {nil, "empty"},
		"blanks":        {[]byte(" \n\t "), "empty"},
		"null":          {[]byte("null"), "format_version"},
		"array":         {[]byte("[]"), "array"},
		"number":        {[]byte("17"), "number"},
		"string":        {[]byte(`"table"`), "string"},
		"empty object":  {[]byte("{}"), "format_version"},
		"cut off":       {good[:len(good)/2], "EOF"},
		"binary":        {[]byte{0xff, 0xfe, 0x00}, "invalid character"},
		"garbage after": {append(slices.Clone(good), []byte("garbage")...), "more after"},
		"brace after":   {append(slices.Clone(good), '}'), "more after"},
		"bracket after": {append(slices.Clone(good), ']'), "more after"},
		"two tables":    {append(slices.Clone(good), good...), "more after"},
		"too large": {append(slices.Clone(good), bytes.Repeat([]byte(" "), MaxTableBytes)...),
			"larger"},
		"bare NaN": {bytes.Replace(good, []byte(`"m": 2`), []byte(`"m": NaN`), 1),
			"invalid character"},
		"many digits":      {bytes.Replace(good, []byte(`"m": 2`), []byte(`"m": 1e999`), 1), "1e999"},
		"deeply nested":    {[]byte(strings.Repeat("[", 100_000)), "nested deeper than 16"},
		"deep inside gone": {[]byte(`{"gamma":` + strings.Repeat("[", 100_000)), "nested deeper than 16"},
	}
	for _, c := range []struct{ field, text, want string }{
		{"format_version", "2", "format_version = 2"},
		{"format_version", "0", "format_version = 0"},
		{"format_version", "", "format_version = 0"},
		{"format_version", `"1"`, "format_version"},
		{"k", "1000000000", "number of teachers K"},
		{"k", "9223372036854775807", "number of teachers K"},
		{"k", "9223372036854775808", "k"},
		{"k", "0", "number of teachers K"},
		{"k", "-7", "number of teachers K"},
		{"k", "7.5", "k"},
		{"k", "9", "gamma has 8 values"},
		{"k", "6", "affected"},
		{"m", "-2", "privacy allowance m"},
		{"m", "0", "privacy allowance m"},
		{"m", "", "privacy allowance m"},
		{"m", "1e300", "m·epsilon"},
		{"m", `"NaN"`, "m"},
		{"epsilon", "-0.1", "epsilon"},
		{"epsilon", "1e308", "epsilon = 1e+308"},
		{"epsilon", `"Infinity"`, "epsilon"},
		{"teacher_delta", "1", "teacher delta"},
		{"teacher_delta", "-1e-9", "teacher delta"},
		{"delta", "1", "delta"},
		{"delta", "", "delta"},
		{"affected", "0", "affected"},
		{"affected", "8", "affected"},
		{"affected", "", "affected"},
		{"shape", `"round"`, "shape"},
		{"shape", "", "shape"},
		{"prior_mean", "0.5", "prior mean"},
		{"prior_mean", "1", "prior mean"},
		{"prior_mean", "", "prior mean"},
		{"gamma", "null", "gamma has 0 values"},
		{"gamma", "", "gamma has 0 values"},
		{"gamma", "[]", "gamma has 0 values"},
		{"gamma", "[0,0,0,0,0,0,0]", "gamma has 7 values"},
		{"gamma", "[0,0,0,0,0,0,0,0,0]", "gamma has 9 values"},
		{"gamma", `["NaN",0,0,0,0,0,0,"NaN"]`, "gamma"},
		{"gamma", "[0.5,0,0,0,0,0,0,0.25]", "symmetric"},
		{"gamma", "[0.5,0,0,0,0,0,0,0.5000000000000001]", "symmetric"},
		{"gamma", "[1.1,0,0,0,0,0,0,1.1]", "in [-1,1]"},
		{"gamma", "[-1.1,0,0,0,0,0,0,-1.1]", "in [-1,1]"},
		{"gamma", "[-0.5,0,0,0,0,0,0,-0.5]", "below 0"},
		{"gamma", "[1e-17,0,0,0,0,0,0,1e-17]", "multiple of 2^-53"},
		{"gamma", "[0.1,0,0,0,0,0,0,0.1]",
			"gamma(0) = 0.10000000000000001, but it must be a multiple of 2^-53"},
		{"gamma", "[5e-324,0,0,0,0,0,0,5e-324]", "multiple of 2^-53"},
		{"proof", `[{"corners":[7],"multiplier":1}]`, "proof[0]"},
		{"proof", `[{"multiplier":1}]`, "proof[0]"},
		{"proof", `[{"corners":[0,0,0,0,0,0,7,0,0],"multiplier":1}]`, "proof[0]"},
		{"proof", `{}`, "proof"},
		{"certificate.constraints", `"many"`, ""},
		{"certificate.bound", `"NaN"`, "bound"},
		{"baselines", "[]", "baselines"},
	} {
		out[c.field+" = "+c.text] = entry{with(t, "k7-m2-free", c.field, c.text), c.want}
	}
	// Form is right, the proof is not about this problem: found when certifying.
	for _, c := range []struct{ text, want string }{
		{`[{"corners":[0,0,0,0,0,0,6,0],"multiplier":1}]`, "no constraint"},
		{`[{"corners":[0,0,0,0,0,0,8,-1],"multiplier":1}]`, "no constraint"},
		{`[{"corners":[0,0,0,0,0,0,7,0],"multiplier":-1}]`, "multiplier 0"},
		{`[{"corners":[4611686018427387904,4611686018427387904,0,0,0,0,4611686018427387904,4611686018427387911],"multiplier":1}]`, "no constraint"},
		{`[{"corners":[4611686018427387904,4611686018427387904,4611686018427387904,4611686018427387904,0,0,7,0],"multiplier":1}]`, "no constraint"},
	} {
		out["proof = "+c.text] = entry{with(t, "k7-m2-free", "proof", c.text), c.want}
	}
	out["increasing, called monotone"] = entry{with(t, "k11-m3-free", "shape", `"monotone"`),
		"increases towards the middle"}
	return out
}

func TestHostileTables(t *testing.T) {
	for name, c := range hostile(t) {
		table, err := Decode(context.Background(), bytes.NewReader(c.data))
		var fe *FormatError
		if table != nil || !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a FormatError with %q", name, err, c.want)
		}
	}
}

// A γ that breaks the promise is refused whatever its certificate says: every
// value that is not 1 grown by one part in 10⁶, or set to 1.
func TestDecodeRefusesWhatIsNotPrivate(t *testing.T) {
	for _, name := range goldenNames(t, 11) {
		table := goldenTable(t, name)
		f := table.Func()
		for _, grow := range []func(float64) float64{
			func(x float64) float64 { return min(1, x*(1+1e-6)) },
			func(float64) float64 { return 1 },
		} {
			free := make([]float64, (f.K()+1)/2)
			least := 1.0
			for l := range free {
				free[l] = grow(f.At(l))
				least = min(least, f.At(l))
			}
			if least > 1-1e-9 {
				continue
			}
			text, err := json.Marshal(mustFree(t, f.K(), free...).Values())
			if err != nil {
				t.Fatal(err)
			}
			var v *ViolationError
			if table, err := Decode(context.Background(),
				bytes.NewReader(with(t, name, "gamma", string(text)))); table != nil || !errors.As(err, &v) {
				t.Errorf("%s: %v, want a ViolationError", name, err)
			}
		}
	}
}

// A table that lies about itself is found out, figure by figure.
func TestDifferencesNameEachLie(t *testing.T) {
	for _, c := range []struct{ field, text string }{
		{"expected_error", "0.05"},
		{"expected_error", "0.067151788"},
		{"certificate.constraints", "3431"},
		{"certificate.constraints", ""},
		{"certificate.constraints", "123456789012345678901234567890"},
		{"certificate.bound", "0.2"},
		{"certificate.right_hand_side", "0.3"},
		{"certificate.slack", "0.1"},
		{"certificate.objective_lower_bound", "0.0672"},
		{"certificate.gap", "0"},
		{"disagreement.binomial", "0.01"},
		{"disagreement.uniform", "0.01"},
		{"baselines.subsampling", "0.01"},
		{"baselines.randomised_response", ""},
		{"baselines.randomised_response_tight", "1"},
		{"baselines.double_subsampling", "0"},
	} {
		claim, err := ReadClaim(bytes.NewReader(with(t, "k7-m2-free", c.field, c.text)))
		if err != nil {
			t.Fatalf("%s = %s: %v", c.field, c.text, err)
		}
		table, err := claim.Certify(context.Background())
		if err != nil {
			t.Fatalf("%s = %s: %v", c.field, c.text, err)
		}
		var d *MismatchError
		if err := mismatch(claim, table); !errors.As(err, &d) || len(d.Wrong) != 1 ||
			!strings.HasPrefix(d.Wrong[0], c.field+":") {
			t.Errorf("%s = %s: %v", c.field, c.text, err)
		}
		// The lie does not survive: what is known comes from certifying.
		if want := encode(t, goldenTable(t, "k7-m2-free")); !bytes.Equal(encode(t, table), want) {
			t.Errorf("%s = %s changes the table", c.field, c.text)
		}
	}
}

// What a file says of a baseline that its problem does not have is no truth either.
func TestVerifyRefusesAnUnknownBaseline(t *testing.T) {
	claim, err := ReadClaim(bytes.NewReader(golden(t, "k7-m2-free")))
	if err != nil {
		t.Fatal(err)
	}
	claim.stated.Baselines["another"] = 0.01
	var d *MismatchError
	if _, err := claim.Verify(t.Context()); !errors.As(err, &d) ||
		!strings.Contains(err.Error(), `baselines."another"`) {
		t.Errorf("%v", err)
	}
}

// A file that claims more than is proved is refused, by however little; one that claims less is
// not. Expectations, on which no promise rests, may differ a little either way.
func TestClaimsNoMoreThanIsProved(t *testing.T) {
	table := goldenTable(t, "k11-m3-free")
	c := table.Certificate()
	d := table.Disagreements(table.Func())
	verify := func(field string, x float64) error {
		claim, err := ReadClaim(bytes.NewReader(with(t, "k11-m3-free", field,
			strconv.FormatFloat(x, 'g', -1, 64))))
		if err != nil {
			t.Fatalf("%s = %v: %v", field, x, err)
		}
		_, err = claim.Verify(t.Context())
		return err
	}
	if c.Slack == 0 || table.LowerBound == 0 || table.Gap == 0 {
		t.Fatalf("%+v, %v, %v: this tests nothing", c, table.LowerBound, table.Gap)
	}
	for field, f := range map[string]struct{ found, more, less float64 }{
		"certificate.bound":                 {c.Bound, -1, +1},
		"certificate.slack":                 {c.Slack, +1, -1},
		"certificate.objective_lower_bound": {table.LowerBound, +1, -1},
		"certificate.gap":                   {table.Gap, -1, +1},
	} {
		for _, by := range []float64{0, 1e-9, 0.01} {
			more, less := f.found+f.more*by, f.found+f.less*by
			if by == 0 {
				more, less = math.Nextafter(f.found, f.found+f.more), math.Nextafter(f.found, f.found+f.less)
			}
			var mismatch *MismatchError
			if err := verify(field, more); !errors.As(err, &mismatch) {
				t.Errorf("%s = %v passes, but %v is proved: %v", field, more, f.found, err)
			}
			if err := verify(field, less); err != nil {
				t.Errorf("%s = %v, but %v is proved: %v", field, less, f.found, err)
			}
		}
	}
	for _, up := range []float64{0, 1} { // it has one value, on every processor
		if err := verify("certificate.right_hand_side", math.Nextafter(c.RightHandSide, up)); err == nil {
			t.Errorf("another right-hand side passes")
		}
	}
	for field, found := range map[string]float64{
		"expected_error": table.ExpectedError, "disagreement.binomial": d.Binomial,
		"disagreement.uniform":  d.Uniform,
		"baselines.subsampling": table.BaselineError(*baselineNamed(t, table, "subsampling")),
	} {
		for _, by := range []float64{-0.9e-9, 0.9e-9} {
			if err := verify(field, found+by); err != nil {
				t.Errorf("%s = %v: %v", field, found+by, err)
			}
		}
		for _, by := range []float64{-1.1e-9, 1.1e-9} {
			if err := verify(field, found+by); err == nil ||
				!strings.Contains(err.Error(), "an expectation, compared to within 1e-09") {
				t.Errorf("%s = %v: %v", field, found+by, err)
			}
		}
	}
}

func baselineNamed(t *testing.T, table *Table, name string) *Named {
	t.Helper()
	for i := range table.Baselines {
		if table.Baselines[i].Name == name {
			return &table.Baselines[i]
		}
	}
	t.Fatalf("no baseline %s", name)
	return nil
}

// A weaker proof is no lie about privacy, but the gap it shows is its own.
func TestTheGapIsTheProofs(t *testing.T) {
	table, err := Decode(context.Background(), bytes.NewReader(with(t, "k7-m2-free", "proof", "[]")))
	if err != nil {
		t.Fatal(err)
	}
	if table.LowerBound != 0 || table.Gap < table.ExpectedError ||
		table.Gap > table.ExpectedError*(1+1e-14) {
		t.Errorf("without a proof: lower bound %g, gap %g", table.LowerBound, table.Gap)
	}
}

// A cancelled context is not a fault of the file.
func TestDecodeHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Decode(ctx, bytes.NewReader(golden(t, "k7-m2-free")))
	var fe *FormatError
	if !errors.Is(err, context.Canceled) || errors.As(err, &fe) {
		t.Errorf("%T %v", err, err)
	}
}

// Whenever the context ends, there is a table or its error.
func TestDecodeHonoursTheContextAtEachStep(t *testing.T) {
	data := golden(t, "k7-m2-free")
	for n := 0; ; n++ {
		if n > 10_000 {
			t.Fatal("the context is asked without end")
		}
		table, err := Decode(must.EndAfter(n, context.Canceled), bytes.NewReader(data))
		if err == nil && table != nil {
			if n == 0 {
				t.Error("the context is never asked")
			}
			return
		}
		if table != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at step %d: %v, %v", n, table, err)
		}
	}
}

// Verify has the errors of Certify: it does not compare what is not private.
func TestVerifyRefusesWhatIsNotPrivate(t *testing.T) {
	claim, err := ReadClaim(bytes.NewReader(golden(t, "k7-m2-free")))
	if err != nil {
		t.Fatal(err)
	}
	claim.Problem.M--
	var v *ViolationError
	if table, err := claim.Verify(context.Background()); table != nil || !errors.As(err, &v) {
		t.Errorf("claimed for m-1: %v, %v", table, err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestReadErrorsAreNotFormatErrors(t *testing.T) {
	want := errors.New("disk on fire")
	_, err := ReadClaim(failingReader{want})
	var fe *FormatError
	if !errors.Is(err, want) || errors.As(err, &fe) {
		t.Errorf("%T %v", err, err)
	}
}

func TestEncodeReportsTheWriter(t *testing.T) {
	if _, err := new(Table).MarshalJSON(); err == nil {
		t.Error("a table of nothing is written")
	}
	want := errors.New("disk full")
	if err := goldenTable(t, "k7-m2-free").Encode(failingWriter{want}); !errors.Is(err, want) {
		t.Errorf("%v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// FuzzReadClaim: nothing panics; what is a claim is well-formed; for K ≤ 4 whatever
// certifies is private by the oracle, and comes back the same.
func FuzzReadClaim(f *testing.F) {
	for _, name := range goldenNames(f, 11) {
		f.Add(golden(f, name))
	}
	for _, c := range hostile(f) {
		if len(c.data) < 1<<16 {
			f.Add(c.data)
		}
	}
	small := `{"format_version":1,"k":%d,"m":%s,"epsilon":%s,"teacher_delta":%s,"delta":%s,"affected":%d,"shape":%q,"prior_mean":0.75,"gamma":%s,"proof":[{"corners":[0,0,0,0,0,0,%d,0],"multiplier":%s}]}`
	for _, s := range []string{
		fmt.Sprintf(small, 1, "1", "0.5", "0", "0", 1, "free", "[0.5,0.5]", 1, "1"),
		fmt.Sprintf(small, 2, "1", "0.5", "0", "0", 1, "monotone", "[0.25,0,0.25]", 2, "1e308"),
		fmt.Sprintf(small, 3, "2", "0.1", "1e-5", "2e-5", 3, "free", "[0.75,0.25,0.25,0.75]", 3, "0.5"),
		fmt.Sprintf(small, 3, "1", "3", "0", "0", 3, "free", "[1,1,1,1]", 3, "0.5"),
		fmt.Sprintf(small, 4, "2", "0.1", "0.01", "0.5", 2, "free", "[1,0.5,0,0.5,1]", 4, "0"),
		fmt.Sprintf(small, 2, "1", "1e-15", "0", "0", 2, "free",
			"[1.1102230246251565e-16,0,1.1102230246251565e-16]", 2, "0"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		claim, err := ReadClaim(bytes.NewReader(data))
		if err != nil {
			var fe *FormatError
			if claim != nil || !errors.As(err, &fe) || err.Error() == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if claim.Problem.Validate() != nil || claim.Objective.Validate(claim.Problem.K) != nil ||
			claim.Func.K() != claim.Problem.K {
			t.Fatalf("malformed claim %+v", claim)
		}
		if claim.Problem.K > 4 || len(claim.Proof.Multipliers) > 100 {
			return // form only: certifying costs too much here
		}
		table, err := claim.Certify(context.Background())
		if err != nil {
			var v *ViolationError
			var fe *FormatError
			if table != nil || !errors.As(err, &v) && !errors.As(err, &fe) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if !newOracle(table.Problem()).private(table.Func()) {
			t.Fatalf("certified, but not private: %+v %v", table.Problem(), table.Func().Values())
		}
		if !(table.Gap >= 0) || !(table.LowerBound >= 0) || table.LowerBound > table.ExpectedError {
			t.Fatalf("lower bound %v, gap %v, error %v", table.LowerBound, table.Gap, table.ExpectedError)
		}
		again, err := Decode(context.Background(), bytes.NewReader(encode(t, table)))
		if err != nil || !again.Func().Equal(table.Func()) || again.Problem() != table.Problem() {
			t.Fatalf("what was written does not come back: %v", err)
		}
	})
}

// Two readers must not read one file differently.
func TestReadClaimRefusesAmbiguousFields(t *testing.T) {
	good := string(encode(t, goldenTable(t, "k7-m2-free")))
	for name, c := range map[string]struct{ old, new, want string }{
		"twice":            {`"epsilon": 0.1`, `"epsilon": 1e-9, "epsilon": 0.1`, "twice"},
		"another case":     {`"epsilon": 0.1`, `"epsilon": 0.1, "Epsilon": 1e-9`, "other than a-z"},
		"a long s":         {`"epsilon": 0.1`, `"epsilon": 0.1, "ep\u017filon": 1e-9`, "other than a-z"},
		"inside an object": {`"slack":`, `"bound": 0, "slack":`, "twice"},
		"a huge count": {`"constraints": `, `"constraints": ` + strings.Repeat("9", 1_000_000),
			"digits"},
	} {
		if strings.Count(good, c.old) != 1 {
			t.Fatalf("%s: %q stands %d times in the table", name, c.old, strings.Count(good, c.old))
		}
		_, err := ReadClaim(strings.NewReader(strings.Replace(good, c.old, c.new, 1)))
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%s: %.400v", name, err)
		}
	}
	// A name in an array, or a value that looks like a name, is no field.
	for _, text := range []string{`{"a": ["B", "B", {"c": "B"}], "d": "B"}`, `[]`,
		`{"a": {"a": {"a": 1}}}`} {
		if err := strictjson.Check([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What is no table costs little more memory than its bytes, whatever it is made of: before
// there were limits, three million levels took 1.1 GiB.
func TestHostileTablesTakeLittleMemory(t *testing.T) {
	fields := []byte("{")
	for i := 0; len(fields) < MaxTableBytes-16; i++ {
		fields = fmt.Appendf(fields, `"f%d":0,`, i)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"arrays":            {bytes.Repeat([]byte("["), 3_000_000), "nested deeper"},
		"objects":           {bytes.Repeat([]byte(`{"a":`), MaxTableBytes/5), "nested deeper"},
		"objects in arrays": {bytes.Repeat([]byte(`[{"a":`), MaxTableBytes/6), "nested deeper"},
		"arrays in a field": {append([]byte(`{"proof":`), bytes.Repeat([]byte("["), 3_000_000)...),
			"nested deeper"},
		"fields": {fields, "more than 256 fields"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadClaim(bytes.NewReader(c.data))
		runtime.ReadMemStats(&after)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a FormatError with %q", name, err, c.want)
		}
		// All that was ever allocated: reading grows a buffer, six times the bytes at most.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*MaxTableBytes {
			t.Errorf("%s: %d bytes allocated for %d", name, took, len(c.data))
		}
	}
}

// The limits leave room: every table there can be is far below them.
func TestTheLargestTableIsBelowTheLimits(t *testing.T) {
	const k = constraints.MaxTeachers
	p := problem(t, k, 3, 0.1, 1e-5)
	system, err := constraints.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, (k+1)/2)
	for l := range values {
		values[l] = 1 / 3.
	}
	table := &Table{
		Certified: &Certified{fn: mustFree(t, k, values...), system: system,
			certificate: Certificate{Method: Sweep, Constraints: p.Count()}},
		Objective: Objective{Counts: make([]float64, k+1), Shape: Free},
	}
	for l := range table.Counts {
		table.Counts[l] = math.Pi * float64(l+1)
	}
	for range k + 16 {
		table.Proof.Multipliers = append(table.Proof.Multipliers,
			Multiplier{Multiset: constraints.Multiset{k, k, k, k, k, k, k, k}, Value: 1e-300 / 3})
	}
	table.Proof.Weights = values
	data := encode(t, table)
	if len(data) > MaxTableBytes/4 {
		t.Errorf("a table of %d teachers takes %d bytes of %d", k, len(data), MaxTableBytes)
	}
	if _, err := ReadClaim(bytes.NewReader(data)); err != nil {
		t.Errorf("a table of %d teachers: %v", k, err)
	}
}
