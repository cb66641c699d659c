package data

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// A record is shared whatever the order of its numbers, and however few are; one that differs
// in one number is not, nor one that has a number more often.
func TestShared(t *testing.T) {
	private := newRecords(t, [][]float64{{1, 2}, {1, 2}, {3, 4}, {0, 7}, {8, 8}},
		[]float64{0, 1, 0, 5, 9})
	for _, c := range []struct {
		name string
		rows [][]float64
		y    []float64
		want int
	}{
		{"itself", [][]float64{{1, 2}, {1, 2}, {3, 4}, {0, 7}, {8, 8}}, []float64{0, 1, 0, 5, 9}, 5},
		{"one of two", [][]float64{{3, 4}, {3, 5}}, []float64{0, 0}, 1},
		{"columns permuted", [][]float64{{4, 3}, {3, 5}}, []float64{0, 0}, 1},
		{"the response among the features", [][]float64{{0, 4}}, []float64{3}, 1},
		{"-0 is 0", [][]float64{{7, 5}}, []float64{math.Copysign(0, -1)}, 1},
		{"twice", [][]float64{{3, 4}, {4, 3}}, []float64{0, 0}, 2},
		{"another response", [][]float64{{3, 4}}, []float64{1}, 0},
		{"a number more often", [][]float64{{8, 9}}, []float64{9}, 0},
		{"the same sum", [][]float64{{2, 5}}, []float64{0}, 0},
		{"the next number", [][]float64{{math.Nextafter(3, 4), 4}}, []float64{0}, 0},
	} {
		if got := shared(private, newRecords(t, c.rows, c.y)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := shared(newRecords(t, [][]float64{{1, 2, 3}}, nil),
		newRecords(t, [][]float64{{3, 1, 2}, {3, 1, 1}}, nil)); got != 1 {
		t.Errorf("without responses: %d", got)
	}
}

// Of random small numbers, where many records are alike, the count is that of comparing all pairs.
func TestSharedAgainstAllPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 5))
	draw := func(n, d int) *Records {
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			for range d {
				rows[i] = append(rows[i], float64(random.IntN(7)-3))
			}
			y[i] = float64(random.IntN(2))
		}
		return newRecords(t, rows, y)
	}
	sorted := func(r *Records, i int) []float64 {
		return slices.Sorted(slices.Values(append([]float64{r.Response(i)}, r.Row(i)...)))
	}
	some := 0
	for range 200 {
		d := 1 + random.IntN(5)
		private, public := draw(1+random.IntN(12), d), draw(1+random.IntN(12), d)
		want := 0
		for i := range public.Len() {
			for j := range private.Len() {
				if slices.Equal(sorted(public, i), sorted(private, j)) {
					want++
					break
				}
			}
		}
		if got := shared(private, public); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
		if 0 < want && want < public.Len() {
			some++
		}
	}
	if some < 50 {
		t.Errorf("only %d times some were shared", some)
	}
}

// Two sets of images, a tenth of MNIST each.
func BenchmarkShared(b *testing.B) {
	const n, d = 6000, 784
	random := rand.New(rand.NewPCG(1, 1))
	draw := func() *Records {
		x := make([]float64, n*d)
		for i := range x {
			x[i] = float64(random.IntN(256)) / 255
		}
		r, err := NewRecords(n, d, x, nil)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	private, public := draw(), draw()
	for b.Loop() {
		if shared(private, public) != 0 {
			b.Fatal("shared")
		}
	}
}

func TestCheckApart(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := bytes.Repeat([]byte("0.5,1\n"), 30_000)
	write("private", long)
	write("copy", long)
	write("shorter", long[6:])
	late := bytes.Clone(long)
	late[len(late)-2] = '0'
	write("last differs", late)
	write("labels", long[6:])
	write("empty", nil)
	if err := os.Symlink("private", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("private"), at("hard link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("shorter"), at("labels' link")); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for public, refused := range map[string]bool{
		at("private"): true, dir + "/./private": true, at("link"): true, at("hard link"): true,
		at("copy"):    true,
		at("shorter"): false, at("last differs"): false, at("empty"): false, at("none"): false,
		"-": false, "": false, dir: false,
	} {
		if err := (Files{Private: at("private"), Public: public}).CheckApart(ctx); errors.Is(err,
			ErrSameFile) != refused || !refused && err != nil {
			t.Errorf("public %q: %v, refused should be %v", public, err, refused)
		}
	}
	if err := (Files{Private: "-", Public: "-"}).CheckApart(ctx); !errors.Is(err, ErrSameFile) {
		t.Errorf("stdin twice: %v", err)
	}
	for labels, refused := range map[string]bool{at("shorter"): true, at("labels' link"): true,
		at("empty"): false, at("labels"): false, "": false} {
		f := Files{Private: at("private"), Labels: at("shorter"), Public: at("last differs"),
			PublicLabels: labels}
		if err := f.CheckApart(ctx); errors.Is(err, ErrSameFile) != refused || !refused && err != nil {
			t.Errorf("public labels %q: %v, refused should be %v", labels, err, refused)
		}
	}
	// A folder as long as a file is not read, as either of the two.
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder := must.Get(os.Stat(at("folder")))(t)
	write("as long", make([]byte, folder.Size()))
	for _, pair := range [][2]string{{"as long", "folder"}, {"folder", "as long"}, {"none", "empty"}, {"empty", "none"}} {
		if same, err := sameContent(ctx, at(pair[0]), at(pair[1])); err == nil || same {
			t.Errorf("%q: the same %v, %v", pair, same, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := (Files{Private: at("private"), Public: at("copy")}).CheckApart(ended); !errors.Is(err,
		context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
