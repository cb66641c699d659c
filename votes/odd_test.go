package votes

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/oddvotes"
)

// Files in the shapes that people have: of what is clear nothing is asked, what is not clear is asked,
// and each reading has the cells that the writer of the file put there.
func TestOddVotes(t *testing.T) {
	seeds := uint64(200)
	if os.Getenv("DARRM_LONG") != "" {
		seeds = 500
	}
	questions, readings, wrong := 0, 0, 0
	rare := make(map[string]int)
	for seed := range seeds {
		c := oddvotes.New(seed)
		for _, what := range c.Rare {
			rare[what]++
		}
		if c.Asked {
			questions++
		}
		n, faults := checkOdd(t, c)
		readings += n
		for _, fault := range faults {
			wrong++
			t.Errorf("seed %d, %s: %s", seed, c.Name, fault)
		}
	}
	var reached []string
	for what, n := range rare {
		reached = append(reached, fmt.Sprintf("%s (%d)", what, n))
	}
	slices.Sort(reached)
	t.Logf("%d files: %d with a question, %d readings, %d wrong; rare: %s", seeds, questions, readings, wrong,
		strings.Join(reached, ", "))
	if seeds >= 500 && len(rare) < 14 {
		t.Errorf("%d rare cases were reached, want 14: %q", len(rare), reached)
	}
}

// checkOdd surveys the files of a case and compares each reading, cell by cell.
func checkOdd(t *testing.T, c *oddvotes.Case) (readings int, faults []string) {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, filepath.Join(dir, f.Name))
		if err := os.WriteFile(paths[len(paths)-1], f.Text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	s, err := Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) {
		return Open(t.Context(), o, paths...)
	}, nil)
	if err != nil {
		return 0, []string{err.Error()}
	}
	if asked := len(s.Asked) > 0; asked != c.Asked {
		bad("asks %q", s.Asked)
	}
	want := len(c.Answers)
	if c.Sides {
		want *= 2
	}
	if c.Counted != nil {
		want++
	}
	if len(s.Readings) != want {
		bad("%d readings, want %d; asks %q", len(s.Readings), want, s.Asked)
	}
	for _, v := range s.Values {
		n := int64(0)
		for _, row := range c.Votes {
			for _, value := range row {
				if value == v.Value {
					n++
				}
			}
		}
		if n == 0 || n != v.Votes {
			bad("value %s has %d votes, not %d", v.Value, n, v.Votes)
		}
	}
	for _, r := range s.Readings {
		if r.Options.Layout == LayoutCounts {
			if err := compareCounts(t, c, r.Options, paths); err != nil {
				bad("counts %q, %q: %v", r.Options.Classes, r.Options.VoteColumns, err)
			}
			continue
		}
		answer := slices.IndexFunc(c.Answers, func(a oddvotes.Answer) bool {
			return slices.Equal(a.Classes, r.Options.Classes)
		})
		if answer < 0 {
			bad("classes %q are no answer", r.Options.Classes)
			continue
		}
		if err := compareOdd(t, c, c.Answers[answer], r.Options, paths); err != nil {
			bad("classes %q, %q: %v", r.Options.Classes, r.Options.VoteColumns, err)
		}
	}
	return len(s.Readings), faults
}

// compareCounts reads the files as counts and compares them with what is in them.
func compareCounts(t *testing.T, c *oddvotes.Case, o Options, paths []string) error {
	r, err := Open(t.Context(), o, paths...)
	if err != nil {
		return err
	}
	defer r.Close()
	if classes := r.Classes(); !slices.Equal(classes, c.Counted) {
		return fmt.Errorf("classes %q, want %q", classes, c.Counted)
	}
	got := make(map[string]string)
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range b.Len() {
			got[b.ID(i)] = fmt.Sprint(b.Row(i))
		}
	}
	want := make(map[string]string)
	for i, row := range c.Votes {
		want[c.IDs[i]] = fmt.Sprint(row)
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("counts %q, want %q", got, want)
	}
	return nil
}

// compareOdd reads the files as stated and compares them with what is in them.
func compareOdd(t *testing.T, c *oddvotes.Case, a oddvotes.Answer, o Options, paths []string) error {
	r, err := Open(t.Context(), o, paths...)
	if err != nil {
		return err
	}
	defer r.Close()
	got := make(map[string][]string) // of each query, by the teachers in the order of the case
	var names, labels []string
	classes := r.Classes()
	name := func(class int) string {
		if class < 0 {
			return ""
		}
		return classes[class]
	}
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range b.Len() {
			row := make([]string, b.K)
			for j := range row {
				row[j] = name(b.Votes[i*b.K+j])
			}
			id := b.ID(i)
			got[id], names = row, append(names, id)
			if b.Labels != nil {
				labels = append(labels, name(b.Labels[i]))
			}
		}
	}
	want, ids, known := make(map[string][]string), []string(nil), []string(nil)
	votes := c.Votes
	if o.Layout == LayoutTeachers {
		votes = make([][]string, len(c.Votes[0]))
		for j := range votes {
			for i := range c.Votes {
				votes[j] = append(votes[j], c.Votes[i][j])
			}
		}
	}
	for i, row := range votes {
		id := fmt.Sprint(i)
		if c.IDs != nil {
			id = c.IDs[i]
		}
		ids = append(ids, id)
		for _, value := range row {
			want[id] = append(want[id], a.Class[value])
		}
		if c.Truth != nil {
			known = append(known, a.Class[c.Truth[i]])
		}
	}
	if c.Teachers != nil {
		if teachers := r.teacherNames(); !slices.Equal(teachers, c.Teachers) {
			if !slices.Equal(slices.Sorted(slices.Values(teachers)), slices.Sorted(slices.Values(c.Teachers))) {
				return fmt.Errorf("teachers %q, want %q", teachers, c.Teachers)
			}
			for id, row := range want { // in the order of the file
				other := make([]string, len(row))
				for j, name := range teachers {
					other[j] = row[slices.Index(c.Teachers, name)]
				}
				want[id] = other
			}
		}
	}
	switch {
	case o.Layout != LayoutLong && !slices.Equal(names, ids):
		return fmt.Errorf("ids %q, want %q", names, ids)
	case !reflect.DeepEqual(got, want):
		return fmt.Errorf("votes %q, want %q", got, want)
	case !slices.Equal(labels, known):
		return fmt.Errorf("truth %q, want %q", labels, known)
	}
	return nil
}
