package votes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/golden"
	"github.com/darrm/darrm/internal/testing/oddvotes"
)

// A teller writes what is said of files, without the folder in which some of them stand.
type teller struct {
	strings.Builder
	t   *testing.T
	dir string
}

func (w *teller) json(value any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		w.t.Fatal(err)
	}
}

func (w *teller) refused(err error) {
	fmt.Fprintln(w, strings.ReplaceAll(err.Error(), w.dir+string(filepath.Separator), ""))
}

// options writes those that differ from the defaults.
func (w *teller) options(o Options) {
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
			fmt.Fprintf(w, " %s: %v", f.Name, v.Field(i))
		}
	}
	fmt.Fprintln(w)
}

// file writes a file into the folder and returns its path.
func (w *teller) file(name, text string) string {
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// survey tells all that Look finds.
func (w *teller) survey(name string, paths ...string) {
	fmt.Fprintf(w, "\n# %s\n", name)
	s, err := Look(w.t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) {
		return Open(w.t.Context(), o, paths...)
	}, nil)
	if err != nil {
		w.refused(err)
		return
	}
	w.json(s)
	for _, r := range s.Readings {
		fmt.Fprintf(w, "-- %s:", r.Answer)
		w.options(r.Options)
		w.json(r.Description)
	}
}

// All that a survey says of the files in testdata/strange and of generated ones: columns, values, what is asked
// and told, the readings with their options and descriptions, and the refusals.
func TestAllThatIsSaidOfFiles(t *testing.T) {
	w := &teller{t: t, dir: t.TempDir()}
	strange, err := filepath.Glob("testdata/strange/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strange {
		if filepath.Ext(path) != ".md" {
			w.survey(filepath.Base(path), path)
		}
	}
	for seed := range uint64(30) {
		var paths []string
		c := oddvotes.New(seed)
		for _, f := range c.Files {
			paths = append(paths, w.file(fmt.Sprintf("%d-%s", seed, f.Name), string(f.Text)))
		}
		w.survey(c.Name, paths...)
	}
	for _, text := range []string{
		"query,a,b,c,note\na,1,1,0,x\nb,1,1,0,y\nc,1,1,0,z\n", // a teacher of zeros alone
		"zeros,ones\n3,2\n1,4\n", "zeros,ones\n3,2\n1,x\n", "3,2\n1,4\n", "ones,zeros\n3,2\n1,4\n", "query,a,b\na,0,0\x00\n",
	} {
		w.survey(strconv.Quote(text), w.file("one.csv", text))
	}
	packed := gzipped([]byte("query,a,b\nq,0,1\nr,0,1\n"))
	w.survey("data that are cut off", w.file("cut.csv.gz", string(packed[:len(packed)-3])))
	golden.Compare(t, "files.golden", w.String(), 1e-12)
}

// All that is said of small files of each format under options that differ in one or two: the columns and the
// description, or the refusal.
func TestAllThatIsSaidOfOptions(t *testing.T) {
	w := &teller{t: t, dir: t.TempDir()}
	bits := npyFile("|u1", false, []byte{0, 1, 1, 1, 1, 0}, 2, 3)
	files := []string{
		w.file("wide.csv", "query,t1,t2,t3,label\na,0,1,1,1\nb,1,1,0,0\n"),
		w.file("noheader.csv", "a,0,1,1,1\nb,1,1,0,0\n"),
		w.file("counts.csv", "query,zeros,ones,label\na,1,2,1\nb,1,2,0\n"),
		w.file("long.csv", "query,teacher,vote\na,t1,0\na,t2,1\na,t3,1\nb,t1,1\nb,t2,1\nb,t3,0\n"),
		w.file("sets.csv", "query,t1,t2\na,0;1,1\nb,,0;1\n"),
		w.file("missing.csv", "query,t1,t2,t3\na,0,,1\nb,1,-,\n"),
		w.file("wide.jsonl", `{"query": "a", "t1": 0, "t2": 1, "label": 1}`+"\n"+`{"query": "b", "t1": 1, "t2": 1, "label": 0}`+"\n"),
		w.file("list.jsonl", `{"id": 1, "votes": [0, 1, true], "truth": 1}`+"\n"+
			`{"id": "`+strings.Repeat("x", maxIDBytes)+`", "votes": [1, 1, false], "truth": 0}`+"\n"),
		w.file("wide.npy", string(bits)),
		w.file("votes.npz", string(archiveOf(t, "votes.npy", bits, "label.npy", npyFile("|u1", false, []byte{1, 0}, 2), "x.npy", bits))),
	}
	options := []Options{
		{}, {Name: "n", KeepVotes: true}, {Header: HeaderNo}, {Header: HeaderYes}, {Layout: LayoutWide, K: 3}, {Layout: LayoutCounts},
		{Layout: LayoutLong}, {Layout: LayoutLong, QueryIDs: []string{"b", "a", "c"}}, {Layout: LayoutTeachers, KeepVotes: true}, {K: 2},
		{IDColumn: "t1"}, {IDColumn: NoColumn, LabelColumn: NoColumn}, {LabelColumn: "x"}, {NoTruth: true},
		{VotesColumn: "votes"}, {VotesColumn: "votes", Layout: LayoutWide, NoTruth: true, LabelColumn: "label"}, {VotesColumn: "y"},
		{VoteColumns: []string{"t1", "t2"}, KeepVotes: true},
		{VoteColumns: []string{"t*"}}, {VoteColumns: []string{"#2..#4"}}, {VoteColumns: []string{"t9"}}, {VoteColumns: []string{"zeros", "ones"}, Layout: LayoutCounts},
		{Layout: LayoutLong, VoteColumn: "vote", TeacherColumn: "label"},
		{Classes: []string{"0", "1", "2"}, KeepVotes: true}, {Classes: []string{"1"}}, {Labels: []string{"0", "1"}, Separator: ";", KeepVotes: true},
		{Labels: []string{"0", "1"}, Separator: ";", MostYes: 1}, {Labels: []string{"0", "1"}, Separator: ";", Classes: IntegerClasses(2)},
		{Labels: []string{"0", "1"}, Separator: ";", Classes: []string{"no", "yes"}}, {Labels: []string{"1", "2"}}, {MostYes: 1}, {Missing: MissingAbstain, KeepVotes: true}, {Missing: MissingCoin},
		{Format: FormatCSV}, {Format: FormatTSV}, {Format: FormatJSONL}, {Format: FormatNPZ}, {Format: FormatParquet},
		{Compression: CompressionGzip}, {TrustIDs: true, Workers: 2}, {Workers: -1},
	}
	say := func(path string, o Options) {
		fmt.Fprintf(w, "\n# %s:", filepath.Base(path))
		w.options(o)
		r, err := Open(t.Context(), o, path)
		if err != nil {
			w.refused(err)
			return
		}
		defer r.Close()
		d, err := Describe(r, nil)
		if err != nil {
			w.refused(err)
		} else {
			w.json(d)
		}
		if n := r.Dropped(); n != 0 {
			fmt.Fprintln(w, n, "dropped")
		}
	}
	for _, path := range files {
		for _, o := range options {
			say(path, o)
		}
	}
	sets := Options{Labels: []string{"0", "1"}, Separator: ";"}
	say(w.file("truth.csv", "query,t1,t2,label\na,0;1,1,0;1\nb,0,0;1,\n"), sets)
	say(w.file("wrongtruth.csv", "query,t1,t2,label\na,0;1,1,0;2\n"), sets)
	say(w.file("wronglong.csv", "query,teacher,vote\na,t1,7\n"), Options{Layout: LayoutLong})
	golden.Compare(t, "options.golden", w.String(), 1e-12)
}
