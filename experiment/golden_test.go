package experiment_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// longGoldens run with DARRM_LONG=1 alone. cifar-10 solves for the optimum of 3,072 features, which takes 2 s
// of a processor; crime has its loss and all its methods.
var longGoldens = []string{"cifar-10"}

// Golden values of the numbers: every CSV file of every experiment. The quick forms run
// always, but for longGoldens; the full ones with DARRM_LONG=1, those that need images only
// where DARRM_DATA names the folder that scripts/fetch-mnist filled.
func TestGolden(t *testing.T) {
	experimenttest.Numbers(t)
	for _, d := range catalog.List() {
		quick := d.Quick()
		if d.NeedsData() != "" && (os.Getenv("DARRM_DATA") == "" || !experimenttest.Long()) {
			continue
		}
		if slices.Contains(longGoldens, d.Name) && !experimenttest.Long() {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			if quick {
				golden(t, d, true)
			}
			if !quick || experimenttest.Long() {
				golden(t, d, false)
			}
		})
	}
}

func TestKindsOfLongGoldensRun(t *testing.T) {
	for _, name := range longGoldens {
		long := experimenttest.Load(t, catalog, name)
		if !slices.ContainsFunc(catalog.List(), func(d experiment.Definition) bool {
			return d.Kind == long.Kind && d.NeedsData() == "" && !slices.Contains(longGoldens, d.Name)
		}) {
			t.Errorf("no golden of kind %s runs in make test", long.Kind)
		}
	}
}

// finished are runs by their golden folders. Their files are gone.
var finished = map[string]experiment.Outcome{}

// finishedRun runs a form of an experiment, unless TestGolden did, which always runs its own.
func finishedRun(t *testing.T, d experiment.Definition, quick bool) experiment.Outcome {
	t.Helper()
	folder := goldenFolder(d, quick)
	if _, done := finished[folder]; !done {
		finished[folder] = experimenttest.Run(t, d, t.TempDir(), experiment.Options{Quick: quick, Data: realData(t, d)})
	}
	return finished[folder]
}

func golden(t *testing.T, d experiment.Definition, quick bool) {
	t.Helper()
	o := experiment.Options{Quick: quick, Data: realData(t, d)}
	out := experimenttest.Run(t, d, t.TempDir(), o)
	finished[goldenFolder(d, quick)] = out
	p := d.Form(quick)
	if len(out.Record.Steps) != p.Steps() {
		t.Errorf("took %d steps, announced %d", len(out.Record.Steps), p.Steps())
	}
	for _, c := range out.Result.Failed() {
		t.Errorf("claim fails: %s (%s)", c.Text, c.Evidence)
	}
	if d.Kind != "training" { // package shuffled does it in less time
		experimenttest.EveryClaimCanFail(t, catalog, source(t, d.Name), out,
			experimenttest.Replay(out, o))
	}
	folder := goldenFolder(d, quick)
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, table := range out.Result.Tables {
			got, err := os.ReadFile(filepath.Join(out.Dir, table.Name+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, table.Name+".csv"), got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, goldenWords), []byte(said(out.Result)), 0o666); err !=
			nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(describeGolden(t, p, folder), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, goldenRecord), append(text, '\n'), 0o666); err !=
			nil {
			t.Fatal(err)
		}
		return
	}
	for _, table := range out.Result.Tables {
		got, err := os.ReadFile(filepath.Join(out.Dir, table.Name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, table.Name+".csv")
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compareCSV(t, file, got, want)
	}
	file := filepath.Join(folder, goldenWords)
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	compareWords(t, file, said(out.Result), string(want))
}

// goldenWords names the file of a golden folder that has the sentences of the result.
const goldenWords = "said.txt"

// said returns the sentences of a result, one a line: its title, notes, captions and claims.
func said(r experiment.Result) string {
	lines := append([]string{r.Title}, r.Notes...)
	for _, t := range r.Tables {
		lines = append(lines, "table "+t.Name+": "+t.Caption)
		for _, c := range t.Columns {
			lines = append(lines, "column "+c.Name+" "+c.Format+": "+c.Title)
		}
	}
	for _, f := range r.Figures {
		lines = append(lines, "figure "+f.Name+": "+f.Caption)
	}
	for _, c := range r.Claims {
		lines = append(lines, fmt.Sprintf("claim, %t: %s (%s)", c.Holds, c.Text, c.Evidence))
	}
	return strings.Join(lines, "\n") + "\n"
}

// goldenRecord names the file of a golden folder that states the origin of its golden values.
const goldenRecord = "golden.json"

// golds are the contents of a goldenRecord.
type golds struct {
	Definition string            `json:"definition"` // SHA-256 of the parameters, claims aside
	Files      map[string]string `json:"files"`      // SHA-256 of each CSV file
}

func goldenFolder(d experiment.Definition, quick bool) string {
	name := d.Name
	if quick {
		name += experiment.QuickSuffix
	}
	return filepath.Join("testdata", "golden", name)
}

// describeGolden returns the record of a golden folder for these parameters and files. Claims do
// not change numbers; TestClaimsHoldOnGoldenFigures judges them.
func describeGolden(t testing.TB, p experiment.Parameters, folder string) golds {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "claims")
	g := golds{Files: map[string]string{}}
	if g.Definition, err = experiment.HashOf(fields); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if g.Files[filepath.Base(f)], err = experiment.HashFile(context.Background(), f,
			experiment.MaxOutput); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// Golden figures are those of today's definitions, the full ones too, which only the long
// test computes: a definition that was changed without them fails here.
func TestGoldensAreOfTheirDefinitions(t *testing.T) {
	var known []string
	for _, d := range catalog.List() {
		for _, quick := range []bool{false, true} {
			p := d.Form(quick)
			if p == nil {
				continue
			}
			folder := goldenFolder(d, quick)
			known = append(known, filepath.Base(folder))
			text, err := os.ReadFile(filepath.Join(folder, goldenRecord))
			if err != nil {
				t.Error(err)
				continue
			}
			var was golds
			if err := json.Unmarshal(text, &was); err != nil {
				t.Errorf("%s: %v", folder, err)
				continue
			}
			now := describeGolden(t, p, folder)
			if was.Definition != now.Definition {
				t.Errorf("%s: golden figures of another definition: DARRM_LONG=1 go test ./experiment -run "+
					"TestGolden/%s -update", folder, d.Name)
			}
			if !maps.Equal(was.Files, now.Files) {
				t.Errorf("%s: the files are not those that were recorded", folder)
			}
		}
	}
	folders, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !slices.Contains(known, f.Name()) {
			t.Errorf("golden folder %s is of no experiment", f.Name())
		}
	}
}

func TestGoldenRecordSeesChanges(t *testing.T) {
	text := string(source(t, "mnist-69"))
	form := func(old, new string) experiment.Parameters {
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in the definition", old)
		}
		return experimenttest.Parse(t, catalog, strings.Replace(text, old, new, 1)).Form(false)
	}
	folder := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "summary.csv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a,b\n1,2\n")
	p := form("", "")
	first := describeGolden(t, p, folder)
	if describeGolden(t, form(`"step_sizes": [`, `"step_sizes": [1e-9, `), folder).Definition ==
		first.Definition {
		t.Error("another grid of step sizes is the same definition")
	}
	if describeGolden(t,
		form(`"claims": [`, `"claims": [{"epsilon": 10, "better": ["interleaved"], "worse": ["shuffle-g"], "factor": 1},`), folder).Definition != first.Definition {
		t.Error("claims change the numbers")
	}
	write("a,b\n1,3\n")
	if maps.Equal(describeGolden(t, p, folder).Files, first.Files) {
		t.Error("another number is the same file")
	}
}
