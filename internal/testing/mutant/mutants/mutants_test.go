package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// ran returns the output of run.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// newLines are the lines that run says a survivor has instead.
func newLines(report string) []string {
	var all []string
	for line := range strings.Lines(report) {
		if after, ok := strings.CutPrefix(line, "\t+ "); ok {
			all = append(all, strings.TrimSpace(after))
		}
	}
	slices.Sort(all)
	return all
}

// The equal changes of Abs live, and those of Double, until its user's tests are asked too.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	equal := []string{
		"if x < (0 + 1) { // x <= 0 and x < 1 are equal to it",
		"if x <= 0 { // x <= 0 and x < 1 are equal to it",
	}
	weak := []string{
		"func Double(x int) int { return 0 }",
		"func Double(x int) int { return x * (2 + 1) }",
		"func Double(x int) int { return x * (2 - 1) }",
		"func Double(x int) int { return x / 2 }",
	}
	alone := ran(t, "-n", "0", "testdata/tiny")
	if got, want := newLines(alone), append(weak, equal...); !slices.Equal(got, want) {
		t.Errorf("alone: %q, want %q", got, want)
	}
	want := "7 of 13 noticed (0 by the time), 0 did not compile: 53.8 %, 95 % interval 29.1 to 76.8\n"
	if !strings.HasSuffix(alone, want) {
		t.Errorf("the report is %q, want … %q", alone, want)
	}
	with := ran(t, "-n", "0", "-with", "testdata/user", "-at", "tiny.go:13", "testdata/tiny")
	if got := newLines(with); len(got) != 0 || !strings.Contains(with, "4 of 4 noticed") {
		t.Errorf("with the user's tests: %s", with)
	}
}

// Methods, generic functions, parameters without a name, init and constants are changed in their
// own way, and that way leaves the tests as they are.
func TestShapes(t *testing.T) {
	t.Parallel()
	report := ran(t, "-n", "0", "testdata/shapes")
	want := "16 of 16 noticed (0 by the time), 1 did not compile: "
	if !strings.Contains(report, want) {
		t.Errorf("the report is %q, want %q", report, want)
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	one := ran(t, "-n", "2", "-seed", "5", "-at", "tiny.go:13", "testdata/tiny")
	if again := ran(t, "-n", "2", "-seed", "5", "-at", "tiny.go:13", "testdata/tiny"); again != one {
		t.Errorf("the same seed drew %s and %s", one, again)
	}
	got := newLines(one)
	if len(got) != 2 || got[0] == got[1] {
		t.Errorf("2 changes of 4 are %q", got)
	}
	rest := newLines(ran(t, "-n", "2", "-seed", "5", "-skip", "2", "-at", "tiny.go:13",
		"testdata/tiny"))
	all := newLines(ran(t, "-n", "0", "-at", "tiny.go:13", "testdata/tiny"))
	got = append(got, rest...)
	if slices.Sort(got); len(rest) != 2 || !slices.Equal(got, all) {
		t.Errorf("2 changes and the 2 after them are %q, want %q", got, all)
	}
}

// The quickest tests are those that together take a tenth of the time.
func TestQuickest(t *testing.T) {
	t.Parallel()
	outcome := mutant.Outcome{
		Passed:  []string{"ExampleE", "TestA", "TestB", "TestC", "TestMutantsDie"},
		Skipped: []string{"TestD"},
		Seconds: map[string]float64{"TestA": 9, "TestB": .6, "ExampleE": .4},
	}
	quick, slow := quickest(timesOf(outcome, nil))
	if got, want := pattern(quick), "-test.run=^TestC$|^ExampleE$|^TestB$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := pattern(slow), "-test.run=^TestA$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if quick, _ := quickest(timesOf(mutant.Outcome{Passed: []string{"TestA"}, Seconds: map[string]float64{"TestA": 1}}, nil)); len(quick) != 0 {
		t.Errorf("all time is a tenth: %v", quick)
	}
}

// A change after which the tests do not end is noticed, and one that fails at once is not late.
func TestTimedOut(t *testing.T) {
	t.Parallel()
	at := planting{temp: t.TempDir()}
	binary := filepath.Join(at.temp, "late")
	for script, want := range map[string]verdict{
		"exit 0": survived, "exit 1": noticed, "echo 'panic: test timed out after 1s'; exit 2": timedOut,
		"echo 'SIGXCPU: CPU time limit exceeded'; exit 2": timedOut,
	} {
		if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		j := judge{dir: ".", binary: "late", tests: []timed{{name: "TestA"}},
			cpu: time.Minute, wall: time.Minute}
		if got := j.test(t.Context(), at); got != want {
			t.Errorf("%s: verdict %d, want %d", script, got, want)
		}
	}
}

// Only the tests that call a change's function run for it, and those of which that is not known.
// One that fails alone is an error.
func TestSurvey(t *testing.T) {
	t.Parallel()
	at := planting{temp: t.TempDir()}
	ran := filepath.Join(at.temp, "ran")
	script := "#!/bin/sh\nfor last; do :; done\ncase $last in\n*TestA*) n=1;;\n*TestB*) n=2;;\n" +
		"*Shy*) [ -z \"$" + called + "\" ] || exit 1;;\n*Worse*) exit 1;;\nesac\n" +
		"if [ -n \"$" + called + "\" ]; then echo $n >>\"$" + called + "\"; fi\n" +
		"echo \"$last\" >>" + ran + "\n"
	if err := os.WriteFile(filepath.Join(at.temp, "some"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	j := judge{dir: ".", binary: "some", tests: []timed{{name: "TestA"}, {name: "TestB"}, {name: "TestShy"}},
		cpu: time.Minute, wall: time.Minute}
	if err := j.survey(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"TestA TestShy", "TestB TestShy", "TestShy"} {
		if err := os.WriteFile(ran, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at.number = i + 1
		v := j.test(t.Context(), at)
		out, err := os.ReadFile(ran)
		got := regexp.MustCompile(`Test\w+`).FindAllString(string(out), -1)
		slices.Sort(got)
		if v != survived || err != nil || strings.Join(got, " ") != want {
			t.Errorf("change %d: verdict %d, %v, after %v, want %s", at.number, v, err, got, want)
		}
	}
	j.tests = []timed{{name: "TestWorse"}}
	if err := j.survey(t.Context(), at); err == nil || !strings.Contains(err.Error(), "TestWorse") {
		t.Errorf("a test that fails alone: %v", err)
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"a", "b"}, {"-n", "-1", "testdata/tiny"}, {"-skip", "-1", "testdata/tiny"},
		{"-skip", "99", "testdata/tiny"}, {"testdata"},
		{"-at", "tiny.go:1", "testdata/tiny"},
	} {
		if err := run(t.Context(), args, new(strings.Builder)); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

// Tests that were skipped judge nothing: a package of such tests is an error, and no rate.
func TestSkippedTestsDoNotJudge(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"testdata/skipped"}, new(strings.Builder))
	if err == nil || !strings.Contains(err.Error(), "no test ran, 1 were skipped") {
		t.Error(err)
	}
}

// A change that only skipped tests may call is not judged: it is no survivor, and none in the rate.
func TestSkippedTestsAreNotRun(t *testing.T) {
	t.Parallel()
	report := ran(t, "-n", "0", "testdata/partly")
	for _, want := range []string{
		"testdata/partly: tests that were skipped judge nothing: TestThird\n",
		"testdata/partly: 4 of 4 noticed (0 by the time)",
		"testdata/partly: 4 changes were not judged, for their tests were skipped\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
	if strings.Contains(report, " lives\n") {
		t.Errorf("a survivor:\n%s", report)
	}
}

// Every operator, by what it makes of one line.
func TestOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"_ = a + b", []string{"_ = a - b"}},
		{"_ = a <= b", []string{"_ = a < b", "_ = a > b"}},
		{"_ = a == b && c", []string{"_ = a != b && c", "_ = a == b || c"}},
		{"a++", []string{"", "a--"}},
		{"a *= b", []string{"", "a /= b"}},
		{"a = !b", []string{"", "a = b"}},
		{"a := 7", []string{"a := (7 + 1)", "a := (7 - 1)"}},
		{"a := .5", []string{"a := (.5 * (1 + 0x1p-4))", "a := (.5 * (1 - 0x1p-4))"}},
		{"a := 0.0", []string{"a := (0.0 + 1)", "a := (0.0 - 1)"}},
		{"f(x)", []string{""}},
		{"_ = make(T, 1, 2*b)", []string{"_ = make(T, (1 + 1), 2*b)", "_ = make(T, (1 - 1), 2*b)"}},
		{"defer f()", []string{""}},
		{"if f() {", []string{"if !(f()) {", "if false && (f()) {", "if true || (f()) {"}},
		{"_ = x[a:]", []string{"_ = x[(a) + 1:]", "_ = x[(a) - 1:]"}},
		{"_ = x[:2]", []string{"_ = x[:(2 + 1)]", "_ = x[:(2 - 1)]"}},
		{"_ = x.Upper()", []string{"_ = x.Lower()"}},
		{"_ = roundUp(x)", []string{"_ = (x)", "_ = roundDown(x)"}},
		{"_ = math.Inf(1)", []string{"_ = -math.Inf(1)"}},
		{"_ = math.IsInf(a, 1)", nil},
		{"_ = math.Nextafter(x, y)", []string{"_ = (x)"}},
		{"return x, fmt.Errorf(`%d`, 1)", []string{"return x, nil"}},
		{"return 1, errors.New(`1`)", []string{"return 1, nil"}},
		{"return 1, err", []string{"return 0, err", "return 1, nil"}},
		{"return x, err", []string{"return 0, err", "return x, nil"}},
		{"break", []string{""}},
		{"return", []string{""}},
	} {
		dir := t.TempDir()
		body := c.line
		if strings.HasSuffix(body, "{") {
			body += "\n}"
		}
		source := "package p\n\nfunc g() (float64, error) {\n" + body + "\n}\n"
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := points(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			if before, after := p.lines(); before != c.line || p.where() != "p.go:4" {
				t.Errorf("%s: the place is %s, %q", c.line, p.where(), before)
			} else {
				got = append(got, after)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s becomes %q, want %q", c.line, got, c.want)
		}
	}
}
