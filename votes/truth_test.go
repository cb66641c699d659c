package votes

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
)

// readTruth reads votes with the true labels, on one worker and on three, in chunks of any size.
func readTruth(t *testing.T, in string, opts Options) ([]int, error) {
	t.Helper()
	var labels []int
	for i, chunk := range []int{0, 1, 30} {
		opts.chunkBytes, opts.Workers = chunk, i+1
		a, err := readAll(strings.NewReader(in), opts)
		if err != nil {
			return nil, err
		}
		if i > 0 && !reflect.DeepEqual(labels, a.Labels) {
			t.Errorf("%q: %v in chunks of %d, but %v", in, a.Labels, chunk, labels)
		}
		labels = a.Labels
	}
	return labels, nil
}

// A truth may be known for some queries, whatever says that it is not; it is no truth that names
// another class.
func TestTruthOfSomeQueries(t *testing.T) {
	for _, missing := range []string{"", "NA", "nan", "None", "null", "N/A", "?", "-1", " "} {
		in := "t1,t2,label\n0,1,1\n0,0," + missing + "\n1,1,0\n"
		if got, err := readTruth(t, in, Options{}); err != nil || !reflect.DeepEqual(got, []int{1, -1, 0}) {
			t.Errorf("%q: %v, error %v", missing, got, err)
		}
	}
	// a class of that name is one
	classes := Options{Classes: []string{"-1", "NA", "1"}}
	got, err := readTruth(t, "t1,t2,label\n1,1,NA\n1,1,-1\n1,1,\n", classes)
	if err != nil || !reflect.DeepEqual(got, []int{1, 0, -1}) {
		t.Errorf("%v, error %v", got, err)
	}
	for _, tt := range []struct {
		in   string
		opts Options
		want []int
	}{
		{"{\"t1\":1,\"label\":null}\n{\"t1\":1}\n{\"label\":1,\"t1\":0}\n{\"t1\":1,\"label\":-1}\n", Options{},
			[]int{-1, -1, 1, -1}},
		{"{\"votes\":[1,0],\"y\":1}\n{\"votes\":[0,0]}\n", Options{LabelColumn: "y"}, []int{1, -1}},
	} {
		got, err := readTruth(t, tt.in, jsonl(tt.opts))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, error %v", tt.in, got, err)
		}
	}
	for _, in := range []string{"t1,label\n1,2\n", "t1,label\n1,no\n", "t1,label\n1,1.5\n"} {
		if _, err := readTruth(t, in, Options{}); err == nil || !strings.Contains(err.Error(), "label ") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// The first line of JSON Lines need not have the truth; a key that is not the truth must be there.
func TestTruthOnALaterLine(t *testing.T) {
	in := "{\"t1\":1}\n{\"t1\":0}\n{\"t1\":0,\"Truth\":1}\n"
	for _, in := range []string{in, strings.ReplaceAll(in, `"t1":`, `"votes":[0,1],"query":`)} {
		a, err := readAll(strings.NewReader(in), jsonl(Options{TrustIDs: true}))
		if strings.Contains(in, "query") {
			in = strings.Replace(in, `"query":0`, `"query":2`, 1)
			a, err = readAll(strings.NewReader(in), jsonl(Options{TrustIDs: true}))
		}
		if err != nil || !reflect.DeepEqual(a.Labels, []int{-1, -1, 1}) {
			t.Errorf("%s: %+v, error %v", in, a, err)
		}
	}
	for in, want := range map[string]string{
		"{\"t1\":1}\n{\"t1\":0,\"y\":1}\n":                 `the key "y" is not in the first line`,
		"{\"t1\":1,\"t2\":1,\"label\":1}\n{\"t1\":0}\n":    `the key "t2" of the first line is missing`,
		"{\"t1\":1,\"label\":1,\"label\":0}\n":             "twice",
		"{\"t1\":1}\n{\"t1\":1,\"label\":1,\"label\":0}\n": "twice",
	} {
		if _, err := readAll(strings.NewReader(in), jsonl(Options{})); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// Of several files, one may lack the truth.
func TestTruthOfSomeFiles(t *testing.T) {
	dir := t.TempDir()
	with := put(t, dir, "with.csv", "t1,t2,label\n0,1,1\n0,0,\n")
	without := put(t, dir, "without.csv", "t1,t2\n1,1\n")
	for _, paths := range [][]string{{with, without, with + "2"}, {without, with}} {
		for i := range paths {
			if paths[i] == with+"2" {
				paths[i] = put(t, dir, "again.csv", "t1,t2,truth\n1,1,0\n")
			}
		}
		r, err := Open(context.Background(), Options{Workers: 1}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		n, known := 0, 0
		for b, err := range r.Batches() {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Len() {
				n++
				if b.Labels != nil && b.Labels[i] >= 0 {
					known++
				}
			}
			b.Release()
		}
		if r.Close(); n != 3 && n != 4 || known != n-2 {
			t.Errorf("%v: %d queries, %d known", paths, n, known)
		}
	}
}

// A truth that nobody needs is found, so that it is no vote, and not judged.
func TestTruthThatIsNotNeeded(t *testing.T) {
	no := Options{NoTruth: true}
	for _, tt := range []struct {
		in     string
		opts   Options
		unused []string
	}{
		{"t1,t2,label\n0,1,dunno\n0,0,\n", no, []string{"label"}},
		{"t1,t2,label,truth\n0,1,9,8\n", Options{NoTruth: true, VoteColumns: []string{"t1", "t2"}},
			[]string{"label", "truth"}},
		{"t1,y,t2\n0,zzz,1\n", Options{NoTruth: true, LabelColumn: "y"}, []string{"y"}},
		{"{\"t1\":0,\"t2\":1,\"label\":[1,2]}\n", jsonl(no), []string{"label"}},
		{"{\"t1\":0,\"t2\":1}\n{\"t1\":0,\"t2\":1,\"label\":{}}\n", jsonl(no), nil},
		{"{\"votes\":[0,1]}\n{\"votes\":[0,1],\"y\":7}\n",
			jsonl(Options{NoTruth: true, LabelColumn: "y"}), nil},
	} {
		r, err := NewReader(context.Background(), strings.NewReader(tt.in), tt.opts)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		roles := r.Columns()
		a, err := collect(r)
		if err != nil || a.K != 2 || a.Labels != nil || r.first.labels || roles.Truth != "" ||
			!reflect.DeepEqual(roles.Unused, tt.unused) {
			t.Errorf("%q: %+v, error %v, %v", tt.in, a, err, roles)
		}
	}
	// without the column there is no such truth to leave out
	if _, err := readAll(strings.NewReader("t1,t2\n0,1\n"), Options{NoTruth: true, LabelColumn: "y"}); err ==
		nil {
		t.Error("a column that is not there was found")
	}
}

// Where the votes are listed, whatever else stands in a file is not looked at.
func TestListedVotesAlone(t *testing.T) {
	listed := Options{VoteColumns: []string{"t1", "t2"}}
	for _, tt := range []struct {
		name, in string
		opts     Options
	}{
		{"names twice", "x,t1,x,t2\na,0,b,1\n", listed},
		{"Latin-1", "hôpital,t1,t2\nh\xf4pital,0,1\n", listed},
		{"Latin-1 in the header", "h\xf4pital,t1,t2\nx,0,1\n", listed},
		{"blank names", ",t1,,t2\na,0,b,1\n", listed},
		{"JSON lists", "{\"t1\":0,\"t2\":1,\"l\":[1]}\n{\"t1\":0,\"t2\":1,\"m\":{}}\n", jsonl(listed)},
		{"a JSON list beside keys", "{\"v\":[0,1],\"x\":1}\n{\"v\":[0,1],\"z\":1}\n",
			jsonl(Options{VotesColumn: "v"})},
	} {
		if a, err := readAll(strings.NewReader(tt.in), tt.opts); err != nil || a.K != 2 {
			t.Errorf("%s: %+v, error %v", tt.name, a, err)
		}
	}
	for name, in := range map[string]string{
		"a vote's name twice":     "t1,t2,t1\n0,1,1\n",
		"a vote in Latin-1":       "t1,t2,x\n0,\xf4,\n",
		"an id in Latin-1":        "id,t1,t2\n\xf4,0,1\n",
		"an id's name in Latin-1": "i\xf4,t1,t2\na,0,1\n",
	} {
		opts := listed
		if strings.Contains(name, "id's name") {
			opts.IDColumn = "1"
		}
		if a, err := readAll(bytes.NewReader([]byte(in)), opts); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
