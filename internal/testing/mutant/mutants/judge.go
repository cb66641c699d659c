package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// What became of a change.
type verdict int

const (
	noticed verdict = iota
	timedOut
	survived
	broken // it does not compile
	notRun // no test that ran calls its function, and tests were skipped
)

// A judge runs the tests of one package.
type judge struct {
	dir, binary string        // no binary where the package has no tests
	tests       []timed       // by their time
	skipped     []string      // tests that did not run
	cpu, wall   time.Duration // a run of all may take so long
}

// A timed is a test with the seconds that it takes, and the numbers of the woven changes whose
// functions it calls: nil where that is not known.
type timed struct {
	name    string
	seconds float64
	calls   map[int]bool
}

// judges stand in the order in which they are asked: the changed package's own comes first.
type judges []judge

// A planting is a copy of the changed package, and where its test binaries are.
type planting struct {
	temp, overlay string
	number        int    // of the change that is chosen in a woven copy, else 0
	called        string // file in which a woven copy notes the functions that are called, or ""
}

// newJudges runs the tests of dirs without a change, which must pass, and takes their times.
// Binaries come into temp. Of the tests whose names are in split each subtest is a test by itself.
// Of the packages behind the first, or of the first where it is alone, the tests that match which are asked.
func newJudges(
	ctx context.Context, temp string, dirs, split []string, which string,
) (judges, error) {
	var all judges
	for i, dir := range dirs {
		j := judge{dir: dir, cpu: time.Hour, wall: 3 * time.Hour}
		tested, err := hasTests(dir)
		if err != nil {
			return nil, err
		}
		if !tested && i == 0 && len(dirs) > 1 {
			all = append(all, j)
			continue
		}
		if !tested {
			return nil, fmt.Errorf("%s has no tests: nothing judges a change", dir)
		}
		j.binary = strconv.Itoa(i) + ".test"
		if out, err := j.compile(ctx, planting{temp: temp}); err != nil {
			return nil, fmt.Errorf("%s without a change: %w\n%s", dir, err, out)
		}
		begin := time.Now()
		args := []string{"-test.v=test2json"}
		if i > 0 || len(dirs) == 1 {
			args = append(args, "-test.run="+which)
		}
		v, cpu, out := j.run(ctx, planting{temp: temp}, args...)
		if v != survived {
			return nil, fmt.Errorf("%s: the tests fail without a change:\n%s", dir, out)
		}
		outcome, err := outcomeOf(ctx, out)
		if err != nil {
			return nil, err
		}
		j.tests, j.skipped = timesOf(outcome, split), outcome.Skipped
		if len(j.tests) == 0 {
			return nil, fmt.Errorf("%s: no test ran, %d were skipped: nothing judges a change", dir,
				len(j.skipped))
		}
		// Other programs may slow a run down, but they cost it no processor time.
		j.cpu = 5*cpu + 10*time.Second
		j.wall = 10*time.Since(begin) + time.Minute
		all = append(all, j)
	}
	return all, nil
}

// hasTests reports whether the package in dir has files of tests.
func hasTests(dir string) (bool, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return false, err
	}
	return len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) > 0, nil
}

// outcomeOf reads the output of a test binary with -test.v=test2json.
func outcomeOf(ctx context.Context, output []byte) (o mutant.Outcome, err error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json")
	cmd.Stdin = bytes.NewReader(output)
	events, err := cmd.Output()
	if err != nil {
		return o, fmt.Errorf("go tool test2json: %w", err)
	}
	return mutant.Read(events), nil
}

// timesOf lists the tests that passed, the quickest first, with the subtests of split in place of
// the whole. A list of mutants is no test of the package: it reads the files as they are on the disk.
func timesOf(o mutant.Outcome, split []string) []timed {
	var all []timed
	for _, name := range o.Passed {
		names := []string{name}
		switch {
		case strings.HasSuffix(name, "MutantsDie"):
			continue
		case slices.Contains(split, name):
			names = o.Parts[name]
		}
		for _, name := range names {
			all = append(all, timed{name: name, seconds: o.Seconds[name]})
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	return all
}

// quickest splits the tests: those of the first part together take a tenth of the time at most.
func quickest(all []timed) (quick, slow []timed) {
	var sum, first float64
	for _, t := range all {
		sum += t.seconds
	}
	for i, t := range all {
		if first += t.seconds; first > sum/10 {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// pattern is the expression for the names of the tests and subtests.
func pattern(tests []timed) string {
	var names []string
	for _, t := range tests {
		names = append(names, "^"+strings.ReplaceAll(regexp.QuoteMeta(t.name), "/", "$/^")+"$")
	}
	return "-test.run=" + strings.Join(names, "|")
}

// survey runs each test of j alone, with all changes compiled in and none chosen, and notes whose
// functions it calls. Processes that the test starts count as the test. Of a test that fails only
// with the notes (of a process that may not write, or whose writes are counted) nothing is known.
func (j *judge) survey(ctx context.Context, at planting) error {
	at.number, at.called = 0, filepath.Join(at.temp, "called")
	for i := range j.tests {
		t := &j.tests[i]
		if err := os.WriteFile(at.called, nil, 0o600); err != nil {
			return err
		}
		v, cpu, _ := j.run(ctx, at, pattern(j.tests[i:i+1]))
		if v != survived {
			quiet := at
			quiet.called = ""
			v, cpu, out := j.run(ctx, quiet, pattern(j.tests[i:i+1]))
			if ctx.Err() != nil {
				return nil
			}
			if v != survived {
				return fmt.Errorf("%s: %s fails alone, without a change:\n%s", j.dir, t.name, out)
			}
			t.seconds = cpu.Seconds()
			continue
		}
		called, err := os.ReadFile(at.called)
		if err != nil {
			return err
		}
		t.seconds, t.calls = cpu.Seconds(), map[int]bool{}
		for line := range strings.Lines(string(called)) {
			n, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				return fmt.Errorf("%s: a call in %s: %w", t.name, at.called, err)
			}
			t.calls[n] = true
		}
	}
	slices.SortStableFunc(j.tests, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	return nil
}

// of judges the points in their order. Those inside functions are compiled together.
func (js judges) of(
	ctx context.Context, temp string, points []point, told func(point, verdict),
) error {
	alone := planting{temp: filepath.Join(temp, "alone")}
	together := planting{temp: filepath.Join(temp, "woven")}
	for _, p := range []planting{alone, together} {
		if err := os.MkdirAll(p.temp, 0o700); err != nil {
			return err
		}
	}
	compiles, err := js.weave(ctx, &together, points)
	if err != nil {
		return err
	}
	for _, p := range points {
		v := broken
		switch {
		case p.in == nil:
			v, err = js.alone(ctx, alone, p)
		case compiles[p.number]:
			together.number = p.number
			v = js.test(ctx, together)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		told(p, v)
	}
	return nil
}

// weave compiles the points that stand in functions into one binary for each judge, and returns the
// numbers of those that compile.
func (js judges) weave(
	ctx context.Context, at *planting, points []point,
) (map[int]bool, error) {
	points = slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.in == nil })
	for len(points) > 0 {
		w := weave(points)
		var err error
		if at.overlay, err = mutant.Overlay(at.temp, w.files); err != nil {
			return nil, err
		}
		out, err := js[0].compile(ctx, *at)
		if err == nil {
			break
		}
		bad := w.broken(out)
		if len(bad) == 0 {
			return nil, fmt.Errorf("%s with all changes: %w\n%s", js[0].dir, err, out)
		}
		points = slices.DeleteFunc(points, func(p point) bool { return bad[p.number] })
	}
	compiles := map[int]bool{}
	for _, p := range points {
		compiles[p.number] = true
	}
	for _, j := range js[1:] {
		if out, err := j.compile(ctx, *at); err != nil && len(points) > 0 {
			return nil, fmt.Errorf("%s with all changes: %w\n%s", j.dir, err, out)
		}
	}
	for i := range js {
		if len(points) == 0 {
			break
		}
		if err := js[i].survey(ctx, *at); err != nil {
			return nil, err
		}
	}
	return compiles, nil
}

// alone compiles p by itself.
func (js judges) alone(ctx context.Context, at planting, p point) (v verdict, err error) {
	at.overlay, err = mutant.Overlay(at.temp, map[string]string{p.file: p.changed()})
	if err != nil {
		return broken, err
	}
	for i, j := range js {
		if _, err := j.compile(ctx, at); err != nil {
			if i > 0 {
				return noticed, nil // another package cannot use it
			}
			return broken, nil
		}
		if v := j.test(ctx, at); v != survived {
			return v, nil
		}
	}
	return survived, nil
}

// test asks one judge after the other until one notices.
func (js judges) test(ctx context.Context, at planting) verdict {
	asked, skipped := 0, 0
	for _, j := range js {
		if v := j.test(ctx, at); v != survived {
			return v
		}
		asked += len(j.callers(at.number))
		skipped += len(j.skipped)
	}
	if asked == 0 && skipped > 0 {
		return notRun // who knows what these would have noticed
	}
	return survived
}

// compile builds the test binary, or the package alone where it has none, and has the compiler name
// every error.
func (j judge) compile(ctx context.Context, at planting) ([]byte, error) {
	args := []string{"build", "-gcflags=-e", "-overlay=" + at.overlay, "."}
	if j.binary != "" {
		args = []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=-e",
			"-overlay=" + at.overlay, "-o", filepath.Join(at.temp, j.binary), "."}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = j.dir
	return cmd.CombinedOutput()
}

// callers are the tests that can notice the change of the number; all of them where it is 0.
func (j judge) callers(number int) []timed {
	return slices.DeleteFunc(slices.Clone(j.tests), func(t timed) bool {
		return number != 0 && t.calls != nil && !t.calls[number]
	})
}

// test runs the tests that can notice, first the quick ones: no other calls the function of the
// change that is chosen.
func (j judge) test(ctx context.Context, at planting) verdict {
	quick, slow := quickest(j.callers(at.number))
	for _, part := range [][]timed{quick, slow} {
		if len(part) == 0 {
			continue
		}
		if v, _, _ := j.within(at, part).run(ctx, at, pattern(part)); v != survived {
			return v
		}
	}
	return survived
}

// within allows a run of a part of the surveyed tests five times the processor's time of that part.
func (j judge) within(at planting, part []timed) judge {
	if at.number == 0 {
		return j // the times are of tests that ran side by side
	}
	limit := 10.0
	for _, t := range part {
		limit += 5 * t.seconds
	}
	j.cpu = min(j.cpu, time.Duration(limit*float64(time.Second)))
	return j
}

// run runs the binary within its times, and within 8 GB, since a change may ask for any memory. It
// returns the processor's time too. What the tests compile themselves has the change too.
func (j judge) run(
	ctx context.Context, at planting, args ...string,
) (v verdict, cpu time.Duration, out []byte) {
	ctx, cancel := context.WithTimeout(ctx, j.wall+10*time.Second)
	defer cancel()
	limits := fmt.Sprintf(`ulimit -v 8388608 && ulimit -t %d && exec "$@"`, int(j.cpu.Seconds()))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits, "sh",
		filepath.Join(at.temp, j.binary), "-test.failfast", "-test.timeout", j.wall.String()}, args...)...)
	cmd.Dir = j.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "DARRM_LONG=", "RAPID_NOFAILFILE=1",
		chosen+"="+strconv.Itoa(at.number), called+"="+at.called)
	if at.overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+at.overlay)
	}
	out, err := cmd.CombinedOutput()
	if s := cmd.ProcessState; s != nil {
		cpu = s.UserTime() + s.SystemTime()
	}
	switch {
	case err == nil:
		return survived, cpu, out
	case ctx.Err() != nil, strings.Contains(string(out), "panic: test timed out"),
		strings.Contains(string(out), "SIGXCPU"):
		return timedOut, cpu, out
	}
	return noticed, cpu, out
}
