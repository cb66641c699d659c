package votes

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"testing"
)

// pythonCounts counts the texts of the votes of a file, which it reads by Python's csv or json alone.
const pythonCounts = `
import collections, csv, json, sys
path, names = sys.argv[1], json.loads(sys.argv[2])
text = open(path, encoding="utf-8-sig", newline="").read()
count = collections.Counter()
if path.endswith(".jsonl"):
    for line in text.splitlines():
        count.update("" if v is None else str(v) for v in json.loads(line)[names[0]])
else:
    lines = text.splitlines(keepends=True)
    stated = lines[0].startswith("sep=")
    between = lines[0][4] if stated else max(",;\t", key=lines[0].count)
    rows = list(csv.reader(lines[1 if stated else 0:], delimiter=between, skipinitialspace=True))
    header = [name.strip() for name in rows[0]]
    for row in rows[1:]:
        count.update(row[header.index(name)].strip() for name in names)
json.dump(count, sys.stdout)
`

// Python's csv and json find the votes that a survey counts, text by text, in every file of the folder
// that is text.
func TestStrangeVotesInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || os.Getenv("DARRM_LONG") == "" {
		t.Skip("no python3, or not test-long: a process for each file")
	}
	for _, file := range []string{"all_missing.csv", "allsame.csv", "bigid.jsonl", "class_NA.csv", "class_None.csv",
		"class_comma.csv", "floats_blank.csv", "inthead.csv", "labelled_some.csv", "mix_TF.csv", "mix_demo.csv",
		"nfd.csv", "october.csv", "pandas_index.csv", "pandas_index_names.csv", "pm1_demo.csv",
		"semicolon_decimalcomma.csv", "sep_line.csv", "space_after_comma.csv", "spaces.csv", "truth_m1l.csv"} {
		s, err := lookAtFile(t, file)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]int64)
		for _, v := range s.Values {
			if v.Spellings == nil {
				got[v.Value] += v.Votes
			}
			for _, spelled := range v.Spellings {
				got[spelled.Text] += spelled.Votes
			}
		}
		for _, spelled := range s.Missing {
			text := spelled.Text
			if text == "blank" {
				text = ""
			}
			got[text] += spelled.Votes
		}
		names, err := json.Marshal(s.Columns.Votes)
		if err != nil {
			t.Fatal(err)
		}
		var out, talk bytes.Buffer
		c := exec.CommandContext(t.Context(), python, "-c", pythonCounts, "testdata/strange/"+file, string(names))
		c.Stdout, c.Stderr = &out, &talk
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, talk.String())
		}
		var want map[string]int64
		if err := json.Unmarshal(out.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, but Python reads %v", file, got, want)
		}
	}
}
