package release_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	gammasolve "github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// bothVerdicts is a checker's finding about a table. Optimal reports, for a private table, whether
// the gap is as stated.
type bothVerdicts struct {
	Private bool    `json:"private"`
	Optimal bool    `json:"optimal"`
	Method  string  `json:"method"`
	Excess  float64 `json:"excess"` // the second checker's: left side minus right side
	Error   string  `json:"error"`  // no table
}

// Of 500 random small tables and 250 with one thing changed, the program and the checker in Python,
// which share no code, say the same: private or not, and as near to the optimum as stated or not.
// Among them are tables whose constraints are identities in e^ε, which no rounding decides. Left
// out are changed ones that keep their promise with equality: the program, which allows for
// rounding errors, refuses them.
func TestTwoCheckersOneVerdict(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	if raced.Enabled {
		t.Skip("compares verdicts; what solves them is raced in its own packages")
	}
	t.Parallel()
	rng := rand.New(rand.NewPCG(29, 500))
	var tables [][]byte
	for range 350 {
		tables = append(tables, randomNoiseFunction(t, rng))
	}
	for range 150 {
		tables = append(tables, randomPlurality(t, rng))
	}
	valid := len(tables)
	for i := 0; i < valid; i += 2 {
		tables = append(tables, tampered(t, rng, tables[i]))
	}
	var in bytes.Buffer
	for _, table := range tables {
		if err := json.Compact(&in, table); err != nil {
			t.Fatal(err)
		}
		in.WriteByte('\n')
	}
	folder, err := filepath.Abs(filepath.Join("..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import json, sys
from fractions import Fraction
sys.path.insert(0, sys.argv[1])
from darrm.check import CheckError, check
for line in sys.stdin:
    try:
        v = check(json.loads(line, parse_float=Fraction))
        print(json.dumps({"private": v.private, "optimal": v.private and v.optimal, "method": v.method, "excess": v.excess}))
    except CheckError as e:
        print(json.dumps({"error": str(e)}))
`, folder)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(tables) {
		t.Fatalf("%d verdicts on %d tables", len(lines), len(tables))
	}
	byArgument, broken, far, equal := 0, 0, 0, 0
	for i, line := range lines {
		var theirs bothVerdicts
		if err := json.Unmarshal([]byte(line), &theirs); err != nil {
			t.Fatal(err)
		}
		ours := verdict(t, tables[i])
		if i >= valid && theirs.Method == gamma.Sweep && math.Abs(theirs.Excess) < 1e-12 &&
			theirs.Private && !ours.Private {
			equal++
			continue
		}
		if theirs.Error != "" || theirs.Private != ours.Private || theirs.Optimal != ours.Optimal {
			t.Errorf("table %d: the program says %+v, the second checker %+v:\n%.2000s", i, ours, theirs,
				tables[i])
		}
		if i < valid {
			if _, err := release.ReadTable(t.Context(), bytes.NewReader(tables[i])); err != nil ||
				!ours.Private || !ours.Optimal {
				t.Errorf("table %d: %+v, %v", i, ours, err)
			}
			if theirs.Method == gamma.PostProcessing {
				byArgument++
			}
		} else if !ours.Private {
			broken++
		} else if !ours.Optimal {
			far++
		}
	}
	t.Logf("%d private by post-processing; of those changed %d not private, %d not so near to the "+
		"optimum, %d private with equality", byArgument, broken, far, equal)
	if byArgument < 50 || broken < 50 || far < 50 || equal > 10 {
		t.Error("this tests little")
	}
}

// verdict is the program's.
func verdict(t *testing.T, table []byte) (v bothVerdicts) {
	t.Helper()
	var stated struct {
		Gap         float64
		Certificate struct{ Gap float64 }
	}
	if err := json.Unmarshal(table, &stated); err != nil {
		t.Fatal(err)
	}
	var err error
	if plurality.Recognises(table) {
		var got *plurality.Table
		if got, err = plurality.Decode(t.Context(), bytes.NewReader(table)); err == nil {
			v.Optimal = got.Gap <= stated.Gap
		}
	} else {
		var got *gamma.Table
		if got, err = gamma.Decode(t.Context(), bytes.NewReader(table)); err == nil {
			v.Optimal = got.Gap <= stated.Certificate.Gap
		}
	}
	var two *gamma.ViolationError
	var many *plurality.ViolationError
	if v.Private = err == nil; err != nil && !errors.As(err, &two) && !errors.As(err, &many) {
		v.Error = err.Error()
	}
	return v
}

func oneOf[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// randomNoiseFunction solves a problem of two classes. Often t·ε is the release's ε, or nearly.
func randomNoiseFunction(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	for {
		p := constraints.Problem{
			K: 1 + rng.IntN(5), Epsilon: oneOf(rng, 0.1, 0.5, 1, 2.3, 0.7),
			TeacherDelta: oneOf(rng, 0, 0, 1e-5, 0.01, 0.1),
			M:            oneOf(rng, 1, 1, 2, 3, 1.5, 0.8), Affected: 1,
		}
		p.Affected += rng.IntN(p.K)
		if rng.IntN(5) == 0 {
			p.M, p.TotalEpsilon = 0, oneOf(rng, 0.1, 0.3, 1, 5)
			if rng.IntN(2) == 0 {
				p.Epsilon, p.TeacherDelta = math.Inf(1), 0
			}
		}
		if p.TeacherDelta == 0 {
			p.K += rng.IntN(3)
		}
		p, err := p.WithDefaultDelta()
		if rng.IntN(3) == 0 && !math.IsInf(p.Epsilon, 1) {
			p.Delta = min(0.99, p.Delta+oneOf(rng, 1e-6, 0.003, 0.09))
		}
		if err != nil || p.Validate() != nil {
			continue
		}
		o := gammasolve.Options{Shape: oneOf(rng, gamma.Shapes()...)}
		kind := rng.IntN(3)
		if o.Shape == gamma.ByName { // which needs counts
			if kind = 1; rng.IntN(2) == 0 {
				o.Costs = [2]float64{oneOf(rng, 0.5, 1, 9), oneOf(rng, 1.0, 0)}
			}
		}
		switch kind {
		case 0:
			o.PriorMean = math.Round(1e4*(0.51+0.4*rng.Float64())) / 1e4
		case 1:
			for range p.K + 1 {
				o.Counts = append(o.Counts, math.Round(1e4*rng.Float64())/1e3)
			}
		default:
			o.WorstCase = true
		}
		table, err := gammasolve.Optimal(t.Context(), p, o)
		if err != nil {
			t.Fatalf("%+v, %+v: %v", p, o, err)
		}
		return encoded(t, table.Encode)
	}
}

// randomPlurality solves a problem of many classes.
func randomPlurality(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	p := plurality.Problem{
		K: 1 + rng.IntN(4), Classes: 3 + rng.IntN(2), Epsilon: oneOf(rng, 0.1, 0.5, 1, 3),
		Delta: oneOf(rng, 0, 0, 1e-5, 0.05), Affected: 1, Abstain: rng.IntN(4) == 0,
	}
	p.Affected += rng.IntN(min(2, p.K))
	o := plurality.Objective{Concentration: oneOf(rng, 0.7, 1, 3)}
	if rng.IntN(2) == 0 {
		o = plurality.Objective{Accuracy: math.Round(1e4*(0.4+0.5*rng.Float64())) / 1e4}
	}
	if p.Abstain {
		o.AbstainValue = oneOf(rng, 0, 0.25)
	}
	table, err := pluralitysolve.Optimal(t.Context(), p, o, pluralitysolve.Options{})
	if err != nil {
		t.Fatalf("%+v, %+v: %v", p, o, err)
	}
	return encoded(t, table.Encode)
}

func encoded(t *testing.T, encode func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tampered returns the table with a promise that is stronger by a hundredth, one more teacher
// that is reached, a gap that is smaller by 1e-9, or no proof.
func tampered(t *testing.T, rng *rand.Rand, table []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(table))
	d.UseNumber()
	var f map[string]any
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	scale := func(in map[string]any, name string, change func(float64) float64) {
		x, err := in[name].(json.Number).Float64()
		if err != nil {
			t.Fatal(err)
		}
		in[name] = json.Number(fmt.Sprint(change(x)))
	}
	stronger := func(x float64) float64 { return x * 0.99 }
	gap := f
	if c, ok := f["certificate"].(map[string]any); ok && f["kind"] == nil {
		gap = c
	}
	_, total := f["total_epsilon"]
	switch rng.IntN(4) {
	case 0:
		if total {
			scale(f, "total_epsilon", stronger)
		} else {
			scale(f, "m", stronger)
		}
	case 1:
		k, _ := f["k"].(json.Number).Float64()
		scale(f, "affected", func(x float64) float64 { return min(k, x+1) })
	case 2:
		scale(gap, "gap", func(x float64) float64 { return x - 1e-9 })
	default:
		f["proof"], f["proof_pairs"] = []any{}, []any{}
	}
	out, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
