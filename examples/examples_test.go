package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a program prints: a line for each, where … stands for anything and # for a number in [least,
// most].
type line struct {
	text        string
	least, most float64
}

var programs = map[string][]line{
	"labels": {
		{text: "solved:   one label is (0.40731, 0.0003)-DP and errs with probability 0.04…"},
		// Averaged over its noise the mechanism is right on 82.23 % (darrm compare). 1,866 independent
		// labels have a standard deviation of at most 1.16 points; six of them: one run in 10⁸ fails by
		// chance, and labels that ignore the votes (about 50 %) always do.
		{"released: 1866 labels, # % of them right", 75.2, 89.2},
		{text: "charged:  (1.49347, 0.00109…) for the teachers' training, whatever they are asked; " +
			"(0.50653, 0.0089…) is left"},
		{text: "again:    answered before: true"},
		{text: `april:    paid for by "teachers:clinics"`},
		{text: "may:      privacy budget exceeded: …"},
	},
	"classes": {
		{"optimal-counts:    one label costs ε = 0.25   # % are expected to agree", 83, 85},
		{"permute-and-flip:  one label costs ε = 0.25   # % are expected to agree", 79, 81},
		{text: "lnmax: …"},
		{text: ""},
		// A label agrees with probability 0.7 and more: fewer than two of twelve, one run in 10⁵. That
		// labels follow their votes is tested with more of them in package ensemble.
		{"12 labels by optimal-counts, together (3, 0)-DP; # of them are what most prompts named", 2, 12},
		{text: "id,label"},
		{text: "0,…"},
		{text: "1,…"},
		{text: "…"},
	},
	"certified": {
		{text: "proved:  one answer is (0.9489666323, 0)-DP; no probability changed by more than 2e-16"},
		{text: "table:   where classes have uneven shares of the votes, 8…"},
		{text: "mine:             76.1 % agree"},
		{text: "lnmax:            78.6 % agree"},
		{text: "permute-and-flip: 84.2 % agree"},
	},
	"training": {
		{text: "objective-perturbation:  (1, 1e-06)-DP, neighbours replace one record; noise … times " +
			"the sensitivity"},
		{text: "output-perturbation:     (1, 1e-06)-DP, neighbours replace one record; noise … times " +
			"the sensitivity"},
		{text: "phased-sgd:              (1, 1e-06)-DP, neighbours replace one record; noise … times " +
			"the sensitivity"},
		{text: ""},
		{text: "released: 6 weights by objective-perturbation; (0.5, 9e-6) is left"},
		// Of 150 runs the worst had 89.3 %. A model that learned nothing has 50 % on average.
		{"private model:     # % of public records right", 80, 95},
		{"without privacy:   # %", 90, 95},
	},
}

// Every example compiles, runs, and prints what it is to show. An example with a test of its own
// in its folder is left to that.
func TestExamples(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) < len(programs) {
		t.Fatalf("%q, %v", mains, err)
	}
	bin := t.TempDir()
	for _, file := range mains {
		name := filepath.Dir(file)
		if slices.ContainsFunc(first, func(p struct{ name, title, prints, again string }) bool {
			return p.name == name
		}) {
			continue // TestFirstPrograms
		}
		if own, _ := filepath.Glob(filepath.Join(name, "*_test.go")); len(own) > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want, ok := programs[name]
			if !ok {
				t.Fatal("nothing says what it prints: add it to programs, or a test to its folder")
			}
			program := filepath.Join(bin, name)
			if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./"+name).CombinedOutput(); err !=
				nil {
				t.Fatalf("%v\n%s", err, out)
			}
			c := exec.CommandContext(t.Context(), program)
			c.Dir, c.Env = "..", append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(got) != len(want) {
				t.Fatalf("%d lines, not %d:\n%s", len(got), len(want), out)
			}
			for i, w := range want {
				if why := w.differs(got[i]); why != "" {
					t.Errorf("line %d: %q is not %q: %s", i+1, got[i], w.text, why)
				}
			}
			if left, _ := os.ReadDir(strings.TrimPrefix(c.Env[len(c.Env)-1], "TMPDIR=")); len(left) > 0 {
				t.Errorf("it leaves %v behind", left)
			}
		})
	}
}

// differs describes the difference of a line from the expected one, "" if there is none.
func (w line) differs(got string) string {
	pattern := strings.NewReplacer("…", ".*", "#", ` *([0-9.]+)`).Replace(regexp.QuoteMeta(w.text))
	m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(got)
	if m == nil {
		return "another text"
	}
	if len(m) > 1 {
		if x, err := strconv.ParseFloat(m[1], 64); err != nil || !(x >= w.least && x <= w.most) {
			return "the number is out of its range"
		}
	}
	return ""
}
