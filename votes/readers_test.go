package votes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/oddvotes"
)

// otherReader returns the value of an environment variable that scripts/test-readers sets: the place of a
// reader that this package is compared with.
func otherReader(t *testing.T, variable string) string {
	t.Helper()
	place := os.Getenv(variable)
	if place == "" {
		t.Skipf("no %s: scripts/test-readers has it", variable)
	}
	return place
}

// runJSON runs a program of another language, whose output is JSON.
func runJSON(t *testing.T, in any, out any, program string, args ...string) {
	t.Helper()
	stdin, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var said, talk bytes.Buffer
	c := exec.CommandContext(t.Context(), program, args...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(stdin), &said, &talk
	if err := c.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, talk.String())
	}
	if err := json.Unmarshal(said.Bytes(), out); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, talk.String())
	}
}

// countedTexts returns how many votes have each text, by a survey; null stands for "" where absent says so.
func countedTexts(s *Survey, absent string) map[string]int64 {
	count := make(map[string]int64)
	for _, v := range s.Values {
		if v.Spellings == nil {
			count[v.Value] += v.Votes
		}
		for _, spelled := range v.Spellings {
			count[spelled.Text] += spelled.Votes
		}
	}
	for _, spelled := range s.Missing {
		text := spelled.Text
		if text == "blank" || text == absent {
			text = ""
		}
		count[text] += spelled.Votes
	}
	return count
}

// pandasCounts counts the texts of the votes of text files as pandas reads them.
const pandasCounts = `
import collections, json, sys
import pandas
answers = []
for path, names, between, skip in json.load(sys.stdin):
    frame = pandas.read_csv(path, sep=between, skiprows=skip, dtype=str, keep_default_na=False, skipinitialspace=True,
                            encoding="utf-8-sig")
    frame.columns = [name.strip() for name in frame.columns]
    count = collections.Counter()
    for name in names:
        count.update(text.strip() for text in frame[name])
    answers.append(count)
json.dump(answers, sys.stdout)
`

// pandas finds the votes that a survey counts, text by text, in every text file of the folder and in
// those of the generator.
func TestVotesInPandas(t *testing.T) {
	python := otherReader(t, "DARRM_PANDAS")
	type file struct {
		path string
		want map[string]int64
	}
	var files []file
	var asked [][]any
	ask := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) { return Open(t.Context(), o, path) },
			nil)
		if err != nil || s.Columns.In != "columns" || s.Columns.Layout != LayoutWide.String() {
			return // of which nothing can be read, or not of columns with names
		}
		lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		skip, between := 0, ","
		if strings.HasPrefix(lines[0], "sep=") {
			skip, between = 1, lines[0][4:5]
		} else {
			for _, other := range []string{";", "\t"} {
				if strings.Count(lines[0], other) > strings.Count(lines[0], between) {
					between = other
				}
			}
		}
		files = append(files, file{path, countedTexts(s, "")})
		asked = append(asked, []any{path, s.Columns.Votes, between, skip})
	}
	folder, err := filepath.Glob("testdata/strange/*.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range folder {
		ask(path)
	}
	for seed := range uint64(300) {
		for _, f := range oddvotes.New(seed).Files {
			if ending := filepath.Ext(f.Name); ending == ".csv" || ending == ".tsv" {
				path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%s", seed, f.Name))
				if err := os.WriteFile(path, f.Text, 0o600); err != nil {
					t.Fatal(err)
				}
				ask(path)
			}
		}
	}
	var got []map[string]int64
	runJSON(t, asked, &got, python, "-c", pandasCounts)
	for i, f := range files {
		if !maps.Equal(got[i], f.want) {
			t.Errorf("%s: %v, but pandas reads %v", f.path, f.want, got[i])
		}
	}
	if len(files) < 100 {
		t.Errorf("%d files are compared, want 100", len(files))
	}
}

// hyparquet, a reader of JavaScript, finds the votes that a survey counts in the Parquet files of the
// folder and of the generator.
func TestVotesInHyparquet(t *testing.T) {
	module := otherReader(t, "DARRM_HYPARQUET")
	paths, err := filepath.Glob("testdata/strange/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(0); seed < 400 && len(paths) < 20; seed++ {
		for _, f := range oddvotes.New(seed).Files {
			if filepath.Ext(f.Name) == ".parquet" {
				path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%s", seed, f.Name))
				if err := os.WriteFile(path, f.Text, 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		s, err := Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) { return Open(t.Context(), o, path) },
			nil)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]int64
		runJSON(t, nil, &got, "node", append([]string{"testdata/hyparquet/counts.mjs", module, path}, s.Columns.Votes...)...)
		if want := countedTexts(s, "null"); !maps.Equal(got, want) {
			t.Errorf("%s: %v, but hyparquet reads %v", path, want, got)
		}
	}
	if len(paths) < 20 {
		t.Errorf("%d files are compared, want 20", len(paths))
	}
}

// DuckDB writes and reads votes in tables of many types, in Parquet, text and JSON Lines: a survey counts
// what it reads.
func TestVotesInDuckDB(t *testing.T) {
	module, folder := otherReader(t, "DARRM_DUCKDB"), t.TempDir()
	var answers map[string]map[string]int64
	runJSON(t, nil, &answers, "node", "testdata/duckdb/votes.mjs", module, folder)
	for name, want := range answers {
		path := filepath.Join(folder, name)
		s, err := Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) { return Open(t.Context(), o, path) },
			nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := countedTexts(s, "null"); !maps.Equal(got, want) || s.Queries != 5000 || s.Columns.IDName() != "id" {
			t.Errorf("%s: %v of %d queries by %q, but DuckDB reads %v", name, got, s.Queries, s.Columns.IDName(), want)
		}
	}
	if len(answers) != 53 {
		t.Errorf("%d files are compared, want 53", len(answers))
	}
}

// numpyArrays writes arrays of votes of several types into a folder, and prints them as text.
const numpyArrays = `
import json, sys
import numpy
folder, answers = sys.argv[1], {}
draw = numpy.random.default_rng(7)
votes = draw.integers(0, 2, (12, 5))
for kind in "bool int8 uint8 int16 uint16 int32 int64 uint64 float32 float64".split():
    for order in "CF":
        name = f"{kind}-{order}.npy"
        numpy.save(f"{folder}/{name}", numpy.asarray(votes.astype(kind), order=order))
        answers[name] = votes.astype(str).tolist()
floats = votes.astype(float)
floats[draw.random(floats.shape) < .2] = numpy.nan
numpy.save(f"{folder}/nan.npy", floats)
answers["nan.npy"] = [["" if x != x else str(int(x)) for x in row] for row in floats]
words = numpy.array(["cat", "dog"])[votes]
numpy.save(f"{folder}/words.npy", words)
answers["words.npy"] = words.tolist()
numpy.savez(f"{folder}/two.npz", votes=votes, names=numpy.arange(12))
answers["two.npz"] = votes.astype(str).tolist()
numpy.savez_compressed(f"{folder}/one.npz", votes)
answers["one.npz"] = votes.astype(str).tolist()
json.dump(answers, sys.stdout)
`

// What NumPy writes is read cell by cell.
func TestVotesOfNumPy(t *testing.T) {
	python, dir := otherReader(t, "DARRM_PANDAS"), t.TempDir()
	var want map[string][][]string
	runJSON(t, nil, &want, python, "-c", numpyArrays, dir)
	for name, rows := range want {
		s, err := Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) {
			return Open(t.Context(), o, filepath.Join(dir, name))
		}, nil)
		if err != nil || len(s.Readings) == 0 || s.Readings[0].Options.Layout != LayoutWide {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		if got := cellsOf(t, s.Readings[0].Options, filepath.Join(dir, name)); !slices.EqualFunc(got, rows, slices.Equal) {
			t.Errorf("%s: %q, but NumPy wrote %q", name, got, rows)
		}
	}
	if len(want) != 24 {
		t.Errorf("%d arrays, want 24", len(want))
	}
}

// cellsOf reads votes as names of classes, "" for missing.
func cellsOf(t *testing.T, o Options, path string) (rows [][]string) {
	t.Helper()
	r, err := Open(t.Context(), o, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	classes := r.Classes()
	for b, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			row := make([]string, b.K)
			for j := range row {
				if class := b.Votes[i*b.K+j]; class >= 0 {
					row[j] = classes[class]
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// frames makes frames of tables, of the types that pandas has for such cells, and prints what the Python
// package would hand to the program.
const frames = `
import base64, json, sys
import pandas
sys.path.insert(0, sys.argv[1])
from darrm import _rows
answers = []
for i, table in enumerate(json.load(sys.stdin)):
    frame = pandas.DataFrame(table["Cells"], columns=table["Names"], dtype=object)
    for j, name in enumerate(frame.columns):
        texts, known = frame[name], [t for t in frame[name] if t != ""]
        if name == table["ID"]:
            continue
        if known and all(t.lstrip("-").isdigit() and str(int(t)) == t for t in known):
            column = pandas.to_numeric(texts.replace("", None))
            kind = (i + j) % 3
            frame[name] = column if kind == 0 else column.astype("float64") if kind == 1 else column.astype("Int64")
        elif (i + j) % 3 == 0:
            frame[name] = texts.astype("category")
        elif (i + j) % 3 == 1:
            frame[name] = texts.replace("", None)
    if table["ID"] and i % 2:
        frame = frame.set_index(table["ID"])
    text, options, _ = _rows.read(frame, {})
    answers.append([base64.b64encode(text).decode(), options])
json.dump(answers, sys.stdout)
`

// Frames of pandas are read by the rules of files, cell by cell.
func TestOddVotesInFrames(t *testing.T) {
	python := otherReader(t, "DARRM_PANDAS")
	var cases []*oddvotes.Case
	var tables []*oddvotes.Table
	for seed := range uint64(500) {
		if c := oddvotes.New(seed); c.Table != nil {
			cases, tables = append(cases, c), append(tables, c.Table)
		}
	}
	var got []struct {
		text    []byte
		options map[string]string
	}
	var raw [][2]json.RawMessage
	runJSON(t, tables, &raw, python, "-c", frames, filepath.Join("..", "python"))
	got = slices.Grow(got, len(raw))[:len(raw)]
	for i := range raw {
		if err := json.Unmarshal(raw[i][0], &got[i].text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw[i][1], &got[i].options); err != nil || len(got[i].options) != 1 ||
			got[i].options["header"] != "yes" {
			t.Fatalf("%s: options %v, %v", cases[i].Name, got[i].options, err)
		}
	}
	wrong := 0
	for i, c := range cases {
		c.Files = []oddvotes.File{{Name: "frame.csv", Text: got[i].text}}
		_, faults := checkOdd(t, c)
		for _, fault := range faults {
			wrong++
			t.Errorf("%s: %s\n%s", c.Name, fault, got[i].text)
		}
	}
	t.Logf("%d frames, %d wrong", len(cases), wrong)
	if len(cases) < 150 {
		t.Errorf("%d frames, want 150", len(cases))
	}
}
