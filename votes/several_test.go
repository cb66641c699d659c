package votes

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// sets are the votes of teachers on questions with several labels: yes[q][k][l].
type sets struct {
	labels    []string
	yes       [][][]bool
	truth     [][]bool
	separator string
}

func drawSets(random *rand.Rand, questions, teachers, labels int) sets {
	s := sets{separator: "|"}
	for l := range labels {
		s.labels = append(s.labels, []string{"cat", "dog", "big bird", "élan", "0", "sea,lion"}[l])
	}
	vector := func() []bool {
		v := make([]bool, labels)
		for l := range v {
			v[l] = random.IntN(2) == 0
		}
		return v
	}
	for range questions {
		var row [][]bool
		for range teachers {
			row = append(row, vector())
		}
		s.yes, s.truth = append(s.yes, row), append(s.truth, vector())
	}
	return s
}

// cell writes a set, its names in an order of chance.
func (s sets) cell(random *rand.Rand, v []bool) string {
	return strings.Join(s.names(random, v), s.separator)
}

func (s sets) names(random *rand.Rand, v []bool) []string {
	names := []string{}
	for l, yes := range v {
		if yes {
			names = append(names, s.labels[l])
		}
	}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// want returns what a reader yields, by a loop of its own: each teacher's first most labels count.
func (s sets) want(most int) (g gathered, dropped int64) {
	g.k = len(s.yes[0])
	for q := range s.yes {
		kept := make([][]int, len(s.labels))
		for l := range kept {
			kept[l] = make([]int, g.k)
		}
		for t, v := range s.yes[q] {
			n := 0
			for l := range v {
				if v[l] && n < most {
					kept[l][t] = 1
					n++
				} else if v[l] {
					dropped++
				}
			}
		}
		for l, name := range s.labels {
			ones := 0
			for _, x := range kept[l] {
				ones += x
			}
			g.ids = append(g.ids, fmt.Sprintf("q%d/%s", q, name))
			g.counts, g.votes = append(g.counts, []int{g.k - ones, ones}), append(g.votes, kept[l])
		}
	}
	return g, dropped
}

// files writes the votes in every way.
func (s sets) files(t *testing.T, random *rand.Rand) map[string]struct {
	file  []byte
	o     Options
	truth bool
} {
	type file = struct {
		file  []byte
		o     Options
		truth bool
	}
	k := len(s.yes[0])
	var wide, text, items, long bytes.Buffer
	w := csv.NewWriter(&wide)
	head := []string{"query"}
	for t := range k {
		head = append(head, fmt.Sprintf("t%d", t))
	}
	w.Write(append(head, "label"))
	var ids []string
	var bits, transposed, truth []byte
	bit := map[bool]byte{true: 1}
	var rows []string
	for q := range s.yes {
		id := fmt.Sprintf("q%d", q)
		ids = append(ids, id)
		row, object, several := []string{id}, map[string]any{"query": id}, [][]string{}
		for t, v := range s.yes[q] {
			row = append(row, s.cell(random, v))
			object[fmt.Sprintf("t%d", t)] = s.cell(random, v)
			several = append(several, s.names(random, v))
			for l, yes := range v {
				bits = append(bits, bit[yes])
				if yes {
					rows = append(rows, fmt.Sprintf("%s,%q,t%02d\n", id, s.labels[l], t))
				}
			}
		}
		w.Write(append(row, s.cell(random, s.truth[q])))
		line, _ := json.Marshal(object)
		text.Write(append(line, '\n'))
		line, _ = json.Marshal(map[string]any{"query": id, "votes": several, "label": s.names(random, s.truth[q])})
		items.Write(append(line, '\n'))
		for _, yes := range s.truth[q] {
			truth = append(truth, bit[yes])
		}
	}
	w.Flush()
	for t := range k {
		for q := range s.yes {
			for _, yes := range s.yes[q][t] {
				transposed = append(transposed, bit[yes])
			}
		}
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	long.WriteString("query,vote,teacher\n" + strings.Join(rows, ""))
	n, labels := int64(len(s.yes)), int64(len(s.labels))
	idArray := npyFile("<U4", false, npyElements("<U4", ids), n)
	return map[string]file{
		"CSV":            {wide.Bytes(), Options{}, true},
		"JSON text":      {text.Bytes(), Options{Format: FormatJSONL}, false},
		"JSON lists":     {items.Bytes(), Options{Format: FormatJSONL}, true},
		"long":           {long.Bytes(), Options{Layout: LayoutLong, QueryIDs: ids, K: k}, false},
		"npz":            {archiveOf(t, "votes.npy", npyFile("|u1", false, bits, n, int64(k), labels), "query.npy", idArray, "label.npy", npyFile("|u1", false, truth, n, labels)), Options{Format: FormatNPZ, Layout: LayoutWide}, true},
		"npz, teachers":  {archiveOf(t, "votes.npy", npyFile("|b1", false, transposed, int64(k), n, labels), "query.npy", idArray), Options{Format: FormatNPZ, Layout: LayoutTeachers}, false},
		"Parquet":        {s.parquet(random), Options{Format: FormatParquet}, false},
		"CSV, separated": {bytes.ReplaceAll(wide.Bytes(), []byte("|"), []byte(" + ")), Options{Separator: "+"}, true},
	}
}

func (s sets) parquet(random *rand.Rand) []byte {
	group := parquet.Group{"query": parquet.String()}
	for t := range s.yes[0] {
		group[fmt.Sprintf("t%d", t)] = parquet.String()
	}
	schema := parquet.NewSchema("votes", group)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema)
	for q := range s.yes {
		row := map[string]any{"query": fmt.Sprintf("q%d", q)}
		for t, v := range s.yes[q] {
			row[fmt.Sprintf("t%d", t)] = s.cell(random, v)
		}
		if _, err := w.Write([]any{row}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Sets of labels mean the same in every format: a query of two classes for each question and label, with
// the first labels of each teacher alone, and with the public votes that make yes from a number of teachers on the majority.
func TestSeveralLabels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		s := drawSets(random, 1+random.IntN(8), 1+random.IntN(12), 2+random.IntN(5))
		most := random.IntN(len(s.labels) + 1)
		want, dropped := s.want(len(s.labels))
		if most > 0 {
			want, dropped = s.want(most)
		}
		from := ""
		if n := random.IntN(want.k + 1); n > 0 { // yes from n teachers on
			from = fmt.Sprint(n)
			for _, row := range want.counts {
				row[0] += max(0, 2*n-want.k-1)
				row[1] += max(0, want.k+1-2*n)
			}
		}
		for name, f := range s.files(t, random) {
			o := f.o
			o.Labels, o.MostYes, o.Missing, o.KeepVotes, o.YesFrom = s.labels, most, MissingNo, true, from
			o.chunkBytes = 1 + random.IntN(200)
			got, err := gather(f.file, o)
			if err != nil {
				t.Fatalf("%s, %v, τ = %d: %v\n%s", name, s.labels, most, err, f.file)
			}
			if name == "long" { // a teacher that never says yes comes last
				got.votes, want.votes = nil, slices.Clone(want.votes)
			}
			w := want
			if got.votes == nil {
				w.votes = nil
			}
			if fmt.Sprint(got) != fmt.Sprint(w) {
				t.Fatalf("%s, %v, τ = %d:\n got %v\nwant %v\n%s", name, s.labels, most, got, w, f.file)
			}
			r, err := NewReader(context.Background(), bytes.NewReader(f.file), o)
			if err != nil {
				t.Fatal(err)
			}
			var truth []int
			for b, err := range r.Batches() {
				if err != nil {
					t.Fatal(err)
				}
				truth = append(truth, b.Labels...)
			}
			if r.Dropped() != dropped {
				t.Fatalf("%s: %d votes were dropped, want %d", name, r.Dropped(), dropped)
			}
			var yes []int
			for _, v := range s.truth {
				for _, x := range v {
					yes = append(yes, map[bool]int{true: 1}[x])
				}
			}
			if f.truth != r.first.labels || f.truth && !slices.Equal(truth, yes) {
				t.Fatalf("%s: truths %v, want %v", name, truth, yes)
			}
			r.Close()
		}
	}
}

// A question that is one query takes public votes in every layout, beside the same votes of teachers, and no other way
// of reading a file forgets them.
func TestYesFromOfOneQuestion(t *testing.T) {
	wide := "id,t1,t2,t3,t4,t5\na,1,0,0,0,0\nb,1,1,1,0,0\n"
	for name, f := range map[string]struct {
		file string
		o    Options
	}{
		"fast CSV":   {wide, Options{}},
		"other CSV":  {strings.ReplaceAll(wide, "a,1", "\"a\",1"), Options{}},
		"coins":      {strings.ReplaceAll(wide, "b,1,1,1,0,0", "b,1,1,1,0,"), Options{Missing: MissingCoin}},
		"JSON Lines": {`{"id":"a","votes":[1,0,0,0,0]}` + "\n" + `{"id":"b","votes":[1,1,1,0,0]}` + "\n", Options{Format: FormatJSONL}},
		"counts":     {"id,zeros,ones\na,4,1\nb,2,3\n", Options{Layout: LayoutCounts, Header: HeaderYes}},
		"long": {"query,teacher,vote\na,t1,1\na,t2,0\na,t3,0\na,t4,0\na,t5,0\nb,t1,1\nb,t2,1\nb,t3,1\nb,t4,0\nb,t5,0\n",
			Options{Layout: LayoutLong}},
	} {
		for from, public := range map[string][2]int{"1": {0, 4}, "2/5": {0, 2}, "3": {0, 0}, "5": {4, 0}} {
			o := f.o
			o.YesFrom = from
			got, err := gather([]byte(f.file), o)
			want := [][]int{{4 + public[0], 1 + public[1]}, {2 + public[0], 3 + public[1]}}
			if name == "coins" {
				want[1][0]-- // until it is drawn
			}
			if err != nil || fmt.Sprint(got.counts) != fmt.Sprint(want) || got.k != 5 {
				t.Errorf("%s, from %s: %v of K = %d, want %v (%v)", name, from, got.counts, got.k, want, err)
			}
		}
		o := f.o
		o.YesFrom = "6"
		if _, err := gather([]byte(f.file), o); err == nil || !strings.Contains(err.Error(), "yes from") {
			t.Errorf("%s, from 6 of 5: %v", name, err)
		}
	}
	for _, o := range []Options{{YesFrom: "1", Classes: []string{"a", "b", "c"}}, {YesFrom: "1", Missing: MissingAbstain}, {YesFrom: "x"}} {
		if _, err := gather([]byte(wide), o); err == nil || !strings.Contains(err.Error(), "yes from") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// In the layout long the votes of a teacher are where its name is among all names.
func TestSeveralLabelsLongKeepsVotes(t *testing.T) {
	file := "query,teacher,vote\na,t2,dog\na,t1,cat\na,t2,cat\nb,t1,dog\nb,t2,\n"
	o := Options{Layout: LayoutLong, Labels: []string{"cat", "dog"}, Missing: MissingNo, KeepVotes: true}
	got, err := gather([]byte(file), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[[1 1] [0 1] [0 0] [1 0]]"; fmt.Sprint(got.votes) != want {
		t.Errorf("votes %v, want %v", got.votes, want)
	}
	o.Missing = MissingAbstain
	if got, err = gather([]byte(file), o); err != nil {
		t.Fatal(err)
	}
	if want := "[[1 1] [0 1] [0 -1] [1 -1]]"; fmt.Sprint(got.votes) != want || got.missing != 2 {
		t.Errorf("votes %v with %d missing, want %v with 2", got.votes, got.missing, want)
	}
}

// Rows of two labels are these two, also where a third is spelled as both with a separator between them.
func TestSeveralLabelsLongOfOddSpellings(t *testing.T) {
	o := Options{Layout: LayoutLong, Labels: []string{"red", "blue"}, Missing: MissingNo,
		Same: []Spelling{{Class: "blue", Text: "red|blue"}}}
	got, err := gather([]byte("query,teacher,vote\na,t1,red\na,t1,blue\na,t2,red|blue\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[[1 1] [0 2]]"; fmt.Sprint(got.counts) != want {
		t.Errorf("counts %v, want %v", got.counts, want)
	}
}

// What can be read in two ways, or promises another number of votes than is charged, is refused.
func TestSeveralLabelsRefuses(t *testing.T) {
	labels := []string{"cat", "dog", "bird"}
	o := Options{Labels: labels}
	with := func(change func(*Options)) Options {
		p := o
		change(&p)
		return p
	}
	array := func(shape ...int64) []byte {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		return npyFile("|u1", false, make([]byte, n), shape...)
	}
	for _, tt := range []struct {
		name, file string
		o          Options
		want       string
	}{
		{"a name that is no label", "query,t1,t2\na,cat|fox,dog\n", o, `"fox" is not one of the labels "cat", "dog", "bird"`},
		{"a label twice", "query,t1,t2\na,cat|cat,dog\n", o, `has the label "cat" twice`},
		{"an empty name", "query,t1,t2\na,cat|,dog\n", o, "an empty name between its separators"},
		{"a blank", "query,t1,t2\na,cat,\n", o, "missing no counts a blank as no to every label"},
		{"a coin", "", with(func(o *Options) { o.Missing = MissingCoin }), "missing coin goes without labels"},
		{"abstentions with τ", "", with(func(o *Options) { o.Missing, o.MostYes = MissingAbstain, 2 }),
			"missing abstain goes without most yes"},
		{"τ below 0", "", with(func(o *Options) { o.MostYes = -1 }), "between 1 and the number of labels, 3"},
		{"τ above L", "", with(func(o *Options) { o.MostYes = 4 }), "between 1 and the number of labels, 3"},
		{"classes too", "", with(func(o *Options) { o.Classes = []string{"no", "yes"} }), "exclude each other"},
		{"counts", "", with(func(o *Options) { o.Layout = LayoutCounts }), "the votes of single teachers are needed"},
		{"a separator in a name", "", with(func(o *Options) { o.Separator = "a" }), `but "cat" has it`},
		{"a slash in a name", "", with(func(o *Options) { o.Labels = []string{"sci/fi", "b"} }), "names without /"},
		{"one label", "", with(func(o *Options) { o.Labels = []string{"a"} }), "between 2 and 1000"},
		{"τ without labels", "", Options{MostYes: 1}, "most yes goes with labels"},
		{"no without labels", "", Options{Missing: MissingNo}, "missing no goes with labels"},
		{"a separator without labels", "", Options{Separator: ";"}, "separator goes with labels"},
		{"longer vectors", string(array(2, 3, 4)), with(func(o *Options) { o.Format, o.Layout = FormatNPY, LayoutWide }),
			"vectors of 4 labels, want 3"},
		{"two dimensions", string(array(2, 3)), with(func(o *Options) { o.Format, o.Layout = FormatNPY, LayoutWide }),
			"want 3: the last is the labels"},
		{"an array of another order", string(npyFile("|u1", true, make([]byte, 18), 2, 3, 3)),
			with(func(o *Options) { o.Format, o.Layout = FormatNPY, LayoutWide }), "Fortran order"},
		{"a vote of 2", string(npyFile("|u1", false, []byte{0, 1, 2}, 1, 1, 3)),
			with(func(o *Options) { o.Format, o.Layout = FormatNPY, LayoutWide }), "is not 0 or 1"},
		{"a label of a teacher twice", "query,teacher,vote\na,t1,cat\na,t1,cat\n",
			with(func(o *Options) { o.Layout = LayoutLong }), `"cat" twice`},
		{"a blank beside labels", "query,teacher,vote\na,t1,cat\na,t1,\n",
			with(func(o *Options) { o.Layout, o.Missing = LayoutLong, MissingNo }), "a blank beside labels"},
		{"a teacher without a label", "query,teacher,vote\na,t1,cat\nb,t2,dog\n",
			with(func(o *Options) { o.Layout = LayoutLong }), "labels of 1 of K = 2 teachers"},
		{"a set in a row of one label", "query,teacher,vote\na,t1,cat|dog\n",
			with(func(o *Options) { o.Layout = LayoutLong }), `"cat|dog" is not one of the labels`},
	} {
		_, err := gather([]byte(tt.file), tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		var parse *ParseError
		if tt.file != "" && !errors.As(err, &parse) {
			t.Errorf("%s: %T, want a ParseError", tt.name, err)
		}
	}
}

// A batch that had ids of labels before, and is used again for questions without ids, numbers them.
func TestBatchOfQuestionsIsUsedAgain(t *testing.T) {
	b := &Batch{}
	for range 2 {
		b.reset(&fileInfo{k: 2, classes: new(classList)})
		b.places = append(b.places, 1)
		b.perLabel([]string{"x", "y"})
		if want := "[0/x 0/y]"; fmt.Sprint(b.IDs) != want {
			t.Fatalf("ids %v, want %v", b.IDs, want)
		}
	}
}

// Questions without ids are numbered, over all batches, and a question that comes twice is refused.
func TestSeveralLabelsIDs(t *testing.T) {
	o := Options{Labels: []string{"x", "y"}, Missing: MissingNo, K: 2, Header: HeaderNo, chunkBytes: 1}
	got, err := gather([]byte("x,y\nx|y,x\n,y\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[0/x 0/y 1/x 1/y 2/x 2/y]"; fmt.Sprint(got.ids) != want {
		t.Errorf("ids %v, want %v", got.ids, want)
	}
	_, err = gather([]byte("query,t1,t2\na,x,y\na,x,y\n"), Options{Labels: o.Labels})
	if err == nil || !strings.Contains(err.Error(), `query id "a" is already in line 2`) {
		t.Errorf("a question twice: %v", err)
	}
}

// FuzzSets reads any cell: what is read as a set is written again, and read as the same.
func FuzzSets(f *testing.F) {
	for _, cell := range []string{"", "cat", "cat|dog", " dog | cat ", "|", "cat||dog", "NA", "-1", "cat|cat", "[\"cat\"]"} {
		f.Add(cell)
	}
	o := Options{Labels: []string{"cat", "dog", "sea lion"}, MostYes: 2}
	s, err := newLabelSet(&o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		yes, missing, rule := s.parse(&cell{text: text}, nil)
		if rule.String() != "" {
			return
		}
		if missing == (len(yes) > 0) {
			t.Fatalf("%q: %v, missing %v", text, yes, missing)
		}
		var names []string
		for _, l := range yes {
			names = append(names, o.Labels[l])
		}
		again, _, rule := s.parse(&cell{text: strings.Join(names, "|")}, nil)
		if rule.String() != "" || !slices.Equal(again, yes) {
			t.Fatalf("%q is %v, and written again %v (%v)", text, yes, again, rule)
		}
		if kept := s.truncate(slices.Clone(yes)); len(kept) > 2 || !slices.IsSorted(kept) {
			t.Fatalf("%q: %v of %v are counted", text, kept, yes)
		}
	})
}
