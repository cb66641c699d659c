// Package experimenttest tests experiments: it runs them, looks numbers up in their tables,
// and shows of every claim that it can fail.
package experimenttest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Long reports whether the full-size experiments shall run: DARRM_LONG=1.
func Long() bool { return os.Getenv("DARRM_LONG") == "1" }

// Numbers marks a test of numbers that takes long under the race detector, which has
// nothing to find there: experiments start no goroutine. (Training grids do; see
// TestTrainingIsTheSameForAnyWorkers.)
func Numbers(t testing.TB) {
	t.Helper()
	if raced.Enabled {
		t.Skip("numbers, and nothing to race")
	}
}

// Refuses checks that a definition is refused after each change of its text, from the key to the
// first of the pair, and that the error contains the second.
func Refuses(t testing.TB, c *experiment.Catalog, definition string, changes map[string][2]string) {
	t.Helper()
	for old, other := range changes {
		text := strings.Replace(definition, old, other[0], 1)
		if text == definition {
			t.Fatalf("no %s", old)
		}
		if _, err := c.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), other[1]) {
			t.Errorf("%s: %v", other[0], err)
		}
	}
}

// Load returns the definition of that name or path.
func Load(t testing.TB, c *experiment.Catalog, name string) experiment.Definition {
	t.Helper()
	return must.Get(c.Load(name))(t)
}

// Parse returns the definition with that text.
func Parse(t testing.TB, c *experiment.Catalog, text string) experiment.Definition {
	t.Helper()
	return must.Get(c.Parse([]byte(text)))(t)
}

// Run runs the experiment below the folder dir.
func Run(t testing.TB, d experiment.Definition, dir string,
	o experiment.Options) experiment.Outcome {
	t.Helper()
	return must.Get(d.Run(context.Background(), dir, o))(t)
}

// Table returns the table of that name.
func Table(t testing.TB, r experiment.Result, name string) experiment.Table {
	t.Helper()
	i := slices.IndexFunc(r.Tables, func(x experiment.Table) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("%s has no table %s", r.Name, name)
	}
	return r.Tables[i]
}

// Value returns the cell in column name of the first row in which the columns hold what
// where says.
func Value(t testing.TB, table experiment.Table, name string, where map[string]any) any {
	t.Helper()
	column := func(n string) int {
		return slices.IndexFunc(table.Columns, func(c experiment.Column) bool { return c.Name == n })
	}
	for _, row := range table.Rows {
		match := true
		for n, v := range where {
			match = match && row[column(n)] == v
		}
		if match {
			return row[column(name)]
		}
	}
	t.Fatalf("table %s has no row with %v", table.Name, where)
	return nil
}

// Judge judges a finished run of d again, after change was applied to what its steps found.
type Judge func(d experiment.Definition, change func(step string, value any)) (experiment.Result,
	error)

// Replay is the judge that tells all of the run again.
func Replay(out experiment.Outcome, o experiment.Options) Judge {
	return func(d experiment.Definition, change func(string, any)) (experiment.Result, error) {
		return d.Replay(context.Background(), out, o, change)
	}
}

// EveryClaimCanFail breaks the numbers of a finished run, and wants each of its claims to fail
// at least once: a claim that holds whatever the figure shows tells nothing about it. text is the
// definition that was run. All kinds of numbers are broken at once first, each by its own factor,
// since every replay takes time; then, for claims that held, one kind at a time.
func EveryClaimCanFail(t testing.TB, c *experiment.Catalog, text []byte, out experiment.Outcome,
	again Judge) {
	t.Helper()
	left := map[string]bool{}
	for _, c := range out.Result.Claims {
		left[c.Text] = true
	}
	judge := func(d experiment.Definition, broken func(step string, value any)) error {
		result, err := again(d, broken)
		for _, c := range result.Failed() {
			delete(left, c.Text)
		}
		return err
	}
	d := Parse(t, c, string(text))
	// Each number of each step, then each list of numbers, on which fewer claims rest.
	type place struct{ step, path string }
	var single, lists []place
	if err := judge(d, func(step string, value any) {
		eachNumber(reflect.ValueOf(value), "", func(path string, _ reflect.Value) {
			at := &single
			if strings.HasSuffix(path, "[]") {
				at = &lists
			}
			if !slices.Contains(*at, place{step, path}) {
				*at = append(*at, place{step, path})
			}
		})
	}); err != nil {
		t.Fatalf("figures cannot be told again: %v", err)
	}
	places := append(single, lists...)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 8 {
		if len(left) == 0 {
			return
		}
		factors := map[place]float64{}
		for _, p := range places {
			factors[p] = []float64{1e12, 1, 1e-12}[rng.IntN(3)]
		}
		// Figures with so many broken numbers may be none that can be told.
		_ = judge(d, breaking(func(step, path string) float64 { return factors[place{step, path}] }))
	}
	for _, p := range places {
		for _, factor := range []float64{1e12, 1e-12} {
			if len(left) == 0 {
				return
			}
			if err := judge(d, breaking(func(step, path string) float64 {
				if (place{step, path}) == p {
					return factor
				}
				return 1
			})); err != nil {
				t.Fatalf("broken figures cannot be told: %v", err)
			}
		}
	}
	// What the source prints.
	for n := 0; len(left) > 0; n++ {
		other, ok := misprint(t, text, n)
		if !ok {
			break
		}
		if d, err := c.Parse(other); err == nil {
			if err := judge(d, func(string, any) {}); err != nil {
				t.Fatalf("misprinted figures cannot be told: %v", err)
			}
		}
	}
	for text := range left {
		t.Errorf("claim holds whatever is broken: %s", text)
	}
}

// breaking multiplies each number of a step by the factor of its step and path. 0 is broken too.
func breaking(factor func(step, path string) float64) func(step string, value any) {
	return func(step string, value any) {
		eachNumber(reflect.ValueOf(value), "", func(path string, v reflect.Value) {
			if f := factor(step, path); f != 1 {
				v.SetFloat(f*v.Float() + (f-1)*1e-12)
			}
		})
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
				eachNumber(v.Index(i), strings.TrimSuffix(path, "[]")+"[]", fn)
			default:
				if v.Len() <= 12 {
					eachNumber(v.Index(i), fmt.Sprintf("%s[%d]", path, i), fn)
				}
			}
		}
	case reflect.Map: // by names, whose lists can be changed
		for _, key := range slices.Sorted(maps.Keys(names(v))) {
			eachNumber(names(v)[key], path+"."+key, fn)
		}
	case reflect.Float64:
		fn(path, v)
	}
}

// names returns the values of a map by the text of their keys.
func names(v reflect.Value) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	for _, key := range v.MapKeys() {
		out[fmt.Sprint(key)] = v.MapIndex(key)
	}
	return out
}

// misprint changes the n-th string or fraction below a field of the definition called printed…, and
// reports whether there is one.
func misprint(t testing.TB, text []byte, n int) ([]byte, bool) {
	t.Helper()
	var file any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	seen := 0
	here := func(printed bool) bool {
		if printed {
			seen++
		}
		return printed && seen == n+1
	}
	var walk func(v any, printed bool) any
	walk = func(v any, printed bool) any {
		switch x := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				x[name] = walk(x[name], printed || strings.HasPrefix(name, "printed"))
			}
		case []any:
			for i := range x {
				x[i] = walk(x[i], printed)
			}
		case string:
			if here(printed) {
				return "9" + x
			}
		case float64:
			if x != math.Trunc(x) && here(printed) { // whole ones, such as m, say where it is printed
				return x + 1
			}
		}
		return v
	}
	file = walk(file, false)
	other, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return other, seen > n
}

// WriteImages makes a folder of IDX files, some to train on and some to test: squares of 8 × 8
// pixels that are brighter on the left (label 0) or on the right (label 1), with so much noise that
// one image in ten or so looks like the other kind. The third label is there to be left out.
func WriteImages(t testing.TB, dir string, train, test int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range []string{"train", "t10k"} { // in one order: they share the generator
		n := map[string]int{"train": train, "t10k": test}[part]
		images, labels := Header(3, n, 8, 8), Header(1, n)
		for i := range n {
			label := i % 3
			labels = append(labels, byte(label))
			for p := range 64 {
				v := 100 + 60*rng.NormFloat64()
				if (p%8 < 4) == (label == 0) {
					v += 24
				}
				images = append(images, byte(max(0, min(255, v))))
			}
		}
		for name, data := range map[string][]byte{part + "-images-idx3-ubyte": images,
			part + "-labels-idx1-ubyte": labels} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Header returns the first bytes of an IDX file.
func Header(dimensions byte, sizes ...int) []byte {
	b := []byte{0, 0, 8, dimensions}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
	}
	return b
}
