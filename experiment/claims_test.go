package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/shuffled"
)

// everyClaimCanFail breaks the numbers of a finished run, one kind at a time, and wants each
// of its claims to fail at least once: a claim that holds whatever the figure shows tells
// nothing about it. p is the form of d that was run.
func everyClaimCanFail(t *testing.T, d Definition, p parameters, out Outcome, o Options) {
	t.Helper()
	left := map[string]bool{}
	for _, c := range out.Result.Claims {
		left[c.Text] = true
	}
	fresh := func(broken func(string, any)) *run {
		record := out.Record
		record.Steps = nil
		return &run{Context: context.Background(), Options: o, def: d, dir: out.Dir, record: &record, result: &Result{}, files: map[string][]byte{}, broken: broken}
	}
	do := func(p parameters, r *run) error { return p.run(r) }
	if training, ok := p.(*TrainingParameters); ok {
		do = judgeFrom(t, training, fresh)
	}
	judge := func(p parameters, broken func(step string, value any)) {
		t.Helper()
		r := fresh(broken)
		if err := do(p, r); err != nil {
			t.Fatalf("broken figures cannot be told: %v", err)
		}
		for _, c := range r.result.Failed() {
			delete(left, c.Text)
		}
	}
	// Each number, or list of numbers, of each step.
	for _, s := range out.Record.Steps {
		if len(left) == 0 {
			return
		}
		var paths []string
		judge(p, func(step string, value any) {
			if step == s.Name {
				eachNumber(reflect.ValueOf(value), "", func(path string, _ reflect.Value) {
					if !slices.Contains(paths, path) {
						paths = append(paths, path)
					}
				})
			}
		})
		for _, path := range paths {
			for _, factor := range []float64{1e12, 1e-12} {
				judge(p, func(step string, value any) {
					if step != s.Name {
						return
					}
					eachNumber(reflect.ValueOf(value), "", func(at string, v reflect.Value) {
						if at == path { // 0 is broken too
							v.SetFloat(factor*v.Float() + (factor-1)*1e-12)
						}
					})
				})
			}
		}
	}
	// What the source prints.
	var printed []string
	eachPrinted(reflect.ValueOf(p), "", func(path string, _ reflect.Value) { printed = append(printed, path) })
	for _, path := range printed {
		if len(left) == 0 {
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		other, err := d.Kind.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		eachPrinted(reflect.ValueOf(other), "", func(at string, v reflect.Value) {
			switch {
			case at != path:
			case v.Kind() == reflect.String:
				v.SetString("9" + v.String())
			default:
				v.SetFloat(v.Float() + 1)
			}
		})
		judge(other, func(string, any) {})
	}
	for text := range left {
		t.Errorf("claim holds whatever is broken: %s", text)
	}
}

// judgeFrom reads what a finished training found, once, and returns a judge of it. Telling it all
// each time would take seconds: there are many lines, and traces in each.
func judgeFrom(t *testing.T, p *TrainingParameters, fresh func(broken func(string, any)) *run) func(parameters, *run) error {
	t.Helper()
	lines := map[string]trained{}
	var bounds []bounded
	err := p.run(fresh(func(step string, value any) {
		switch v := value.(type) {
		case *trained:
			lines[step] = *v
		case *[]bounded:
			bounds = *v
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	lab, err := p.laboratory(fresh(nil))
	if err != nil {
		t.Fatal(err)
	}
	return func(_ parameters, r *run) error {
		found, limits := map[training]trained{}, slices.Clone(bounds)
		for _, line := range p.trainings() {
			x := lines[line.String()]
			x.Cells, x.Traces, x.Objectives, x.Distances = slices.Clone(x.Cells), nil, nil, nil
			r.broken(line.String(), &x)
			found[line] = x
		}
		r.broken("bounds", &limits)
		p.tellBounds(r, found, limits)
		p.judge(r, lab.set.Private.Len(), found)
		return nil
	}
}

// eachNumber calls fn for every float64 in v with its path: names of fields and places in
// lists of structs. All of a list of numbers have one path. Long lists of structs, the single
// runs behind a mean, are left out.
func eachNumber(v reflect.Value, path string, fn func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		eachNumber(v.Elem(), path, fn)
	case reflect.Struct:
		for i := range v.NumField() {
			eachNumber(v.Field(i), path+"."+v.Type().Field(i).Name, fn)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			switch v.Index(i).Kind() {
			case reflect.Float64, reflect.Slice:
				eachNumber(v.Index(i), path, fn)
			default:
				if v.Len() <= 12 {
					eachNumber(v.Index(i), fmt.Sprintf("%s[%d]", path, i), fn)
				}
			}
		}
	case reflect.Float64:
		fn(path, v)
	}
}

// eachPrinted calls fn for every string and number below a field called Printed….
func eachPrinted(v reflect.Value, path string, fn func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		eachPrinted(v.Elem(), path, fn)
	case reflect.Struct:
		for i := range v.NumField() {
			eachPrinted(v.Field(i), path+"."+v.Type().Field(i).Name, fn)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachPrinted(v.Index(i), fmt.Sprintf("%s[%d]", path, i), fn)
		}
	case reflect.String, reflect.Float64:
		if strings.Contains(path, "Printed") {
			fn(path, v)
		}
	}
}

func TestClaimsThatCannotFailAreFound(t *testing.T) {
	d := load(t, "accounting")
	out := mustRun(t, d, t.TempDir(), Options{})
	out.Result.Claims = append(out.Result.Claims, Claim{"numbers are numbers", true, ""})
	inner := &testing.T{}
	if everyClaimCanFail(inner, d, d.full, out, Options{}); !inner.Failed() {
		t.Error("a claim about nothing passes")
	}
}

// goldenLines returns what the golden figures of a training say of each line: all that
// claims are about.
func goldenLines(t testing.TB, d Definition) map[training]trained {
	t.Helper()
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	line := func(row map[string]string) training {
		return training{shuffled.Method(row["method"]), row["order"], number(row["p"]), number(row["eps"])}
	}
	found := map[training]trained{}
	for _, row := range goldenRows(t, d.Name, "summary") {
		found[line(row)] = trained{
			Noise: number(row["sigma"]), Amplification: number(row["amplification"]), Epsilon: number(row["eps_accounted"]),
			StepSize: number(row["step_size"]), Mean: number(row["excess"]), Std: number(row["std"]),
		}
	}
	for _, row := range goldenRows(t, d.Name, "grid") {
		x := found[line(row)]
		x.Cells = append(x.Cells, trainedCell{StepSize: number(row["step_size"])})
		found[line(row)] = x
	}
	return found
}

// The claims of full-size trainings hold on their golden figures, which only the long test
// computes, and each fails when the numbers of some line are broken. Whatever step size is best is inside the
// grid that was tried, or where the source's grid or the cap of the step size ends.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, d := range List() {
		p, ok := d.full.(*TrainingParameters)
		if !ok {
			continue
		}
		set, err := datasets.Standin(p.Data, p.DataSeed)
		if err != nil {
			t.Fatal(err)
		}
		n := set.Private.Len()
		judged := func(found map[training]trained) []Claim {
			r := &run{result: &Result{}}
			p.judge(r, n, found)
			return r.result.Claims
		}
		found := goldenLines(t, d)
		if want := p.trainings(); len(found) != len(want) {
			t.Errorf("%s: %d golden lines, want %d", d.Name, len(found), len(want))
			continue
		}
		left := map[string]bool{}
		for _, c := range judged(found) {
			left[c.Text] = true
			if !c.Holds {
				t.Errorf("%s: claim fails: %s (%s)", d.Name, c.Text, c.Evidence)
			}
		}
		for line, x := range found {
			for _, factor := range []float64{1e3, 1e-3} {
				y := x
				y.Mean, y.Epsilon, y.Noise = y.Mean*factor, y.Epsilon*factor, y.Noise*factor
				found[line] = y
				for _, c := range judged(found) {
					if !c.Holds {
						delete(left, c.Text)
					}
				}
			}
			found[line] = x
		}
		for text := range left {
			t.Errorf("%s: claim holds whatever is broken: %s", d.Name, text)
		}
		// Every method of the figure is judged at every ε.
		for _, eps := range p.Epsilons {
			for _, m := range p.Methods {
				if m != shuffled.ShuffleG && !slices.ContainsFunc(p.Claims, func(c Ordering) bool {
					return c.Epsilon == eps && slices.Contains(slices.Concat(c.Better, c.Worse), m)
				}) {
					t.Errorf("%s: no claim judges %s at ε = %g", d.Name, m, eps)
				}
			}
		}
	}
}

// Every method that Figure B.7 lists is judged for every kind of teachers.
func TestPriorClaimsJudgeEveryMethod(t *testing.T) {
	p := load(t, "figure-b.7").full.(*PriorParameters)
	for _, m := range p.Allowances {
		for _, a := range p.Actual {
			for _, method := range p.Methods {
				if !slices.ContainsFunc(p.Claims, func(c PriorClaim) bool {
					return c.Allowance == m && c.Actual == a.Title && slices.Contains(slices.Concat(c.Better, c.Worse), method)
				}) {
					t.Errorf("m = %v, %s: no claim judges %s", m, a.Title, method)
				}
			}
		}
	}
}
