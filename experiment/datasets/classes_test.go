package datasets

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/learn/data"
)

// A class becomes the response, columns are scaled over the rows that are taken, constant ones are
// left out, and what is missing is refused.
func TestClassRecords(t *testing.T) {
	const table = "a,same,class,late\n1,3,no,7\n2,3,yes,7\n5,3,yes,7\n9,3,no,8\n"
	read := func(text, class string, n int) (*data.Records, error) {
		return classRecords(strings.NewReader(text), class, func(l string) bool { return l == "yes" }, n)
	}
	r, err := read(table, "class", 3)
	if err != nil || r.Len() != 3 || r.Dim() != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range [][]float64{{-1, 0}, {-.5, 0}, {1, 0}} {
		if !reflect.DeepEqual(r.Row(i), want) {
			t.Errorf("row %d is %v, want %v", i, r.Row(i), want)
		}
	}
	if r.Response(0) != 0 || r.Response(1) != 1 || r.Response(2) != 1 {
		t.Errorf("responses %g %g %g", r.Response(0), r.Response(1), r.Response(2))
	}
	for name, text := range map[string]string{
		"no such column": strings.Replace(table, "class", "kind", 1),
		"a number":       strings.Replace(table, "5", "NA", 1),
		"the class":      strings.Replace(table, "yes", "NA", 1),
		"a field":        strings.Replace(table, ",7", "", 1),
		"rows":           table[:20], "all": "",
	} {
		if _, err := read(text, "class", 4); err == nil {
			t.Errorf("%s is missing and passes", name)
		}
	}
}

// Stand-ins have the sizes (all rows in a long run) and the share of classes that the sets have, and a
// damaged file is no reason for one.
func TestStandinClasses(t *testing.T) {
	for name, c := range classes {
		rows := c.rows
		if os.Getenv("DARRM_LONG") == "" {
			rows = min(rows, 8000) // 60,000 rows of 780 features take three gigabytes
		}
		p, err := OpenPoints(context.Background(), name, t.TempDir(), rows, 1)
		if err != nil || !p.Standin || p.Len() != rows || p.Dim() != c.features {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		n, positive, gap := float64(p.Len()), 0.0, 0.0
		for i := range p.Len() {
			positive += p.Response(i)
			gap += p.Row(i)[0] * (2*p.Response(i) - 1)
		}
		// Four standard deviations, in 6 cases: .0004 of seeds would fail.
		if math.Abs(positive/n-c.share) > 4*math.Sqrt(c.share*(1-c.share)/n) || gap <= 0 {
			t.Errorf("%s: share %g of class 1, want %g; gap %g", name, positive/n, c.share, gap)
		}
		if c.file == "" { // a stand-in only: PointInputs has no file to hash either
			if in, err := PointInputs(context.Background(), name, t.TempDir(), rows, 1,
				false); in != nil || err != nil {
				t.Errorf("%s: inputs %v, %v", name, in, err)
			}
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte("a,b\nX\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenPoints(context.Background(), name, dir, rows, 1); err == nil {
			t.Errorf("%s: a damaged file passes", name)
		}
		if _, err := PointInputs(context.Background(), name, t.TempDir(), rows, 1,
			true); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: without a file: %v", name, err)
		}
	}
}

// The real files, where DARRM_DATA has them: classes as the literature counts them.
func TestRealClasses(t *testing.T) {
	root := os.Getenv("DARRM_DATA")
	for name, positive := range map[string]float64{Diabetes: 268, German: 700, Letter: 7446} {
		c := classes[name]
		p, err := OpenPoints(context.Background(), name, root, c.rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		if p.Standin {
			t.Skipf("%s is not there", c.file)
		}
		sum, most := 0.0, 0.0
		for i := range p.Len() {
			sum += p.Response(i)
			for _, v := range p.Row(i) {
				most = max(most, math.Abs(v))
			}
		}
		if sum != positive || most != 1 {
			t.Errorf("%s: %g of class 1, want %g; features up to %g", name, sum, positive, most)
		}
	}
}
