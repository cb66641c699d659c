package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/mutant"
)

// What became of a change.
type verdict int

const (
	noticed verdict = iota
	timedOut
	survived
	same   // it survived, since no test binary has it: it is equal, or nothing there calls it
	broken // it does not compile
)

// A judge runs the tests of one package.
type judge struct {
	dir, binary string
	plain       []byte        // digest of the binary without a change
	quick       string        // pattern of the tests that run first
	cpu, wall   time.Duration // a run may take so long
}

// judges stand in the order in which they are asked: the changed package's own comes first.
type judges []judge

// newJudges runs the tests of dirs without a change, which must pass, and takes their times.
// Binaries come into temp.
func newJudges(ctx context.Context, temp string, dirs []string) (judges, error) {
	var all judges
	for i, dir := range dirs {
		j := judge{
			dir: dir, binary: filepath.Join(temp, strconv.Itoa(i)+".test"),
			cpu: time.Hour, wall: 3 * time.Hour,
		}
		out, err := j.compile(ctx, "")
		if err != nil {
			return nil, fmt.Errorf("%s without a change: %w\n%s", dir, err, out)
		}
		if j.plain, err = j.digest(); err != nil {
			return nil, err
		}
		begin := time.Now()
		v, cpu, out := j.run(ctx, "", "-test.v")
		if v != survived {
			return nil, fmt.Errorf("%s: the tests fail without a change:\n%s", dir, out)
		}
		j.quick = quickest(string(out))
		// Other programs may slow a run down, but they cost it no processor time.
		j.cpu = 5*cpu + 10*time.Second
		j.wall = 10*time.Since(begin) + time.Minute
		all = append(all, j)
	}
	return all, nil
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \(([0-9.]+)s\)$`)

// quickest is the pattern of the quickest tests that together take a tenth of the time that the
// tests of the verbose output take.
func quickest(output string) string {
	type timed struct {
		name    string
		seconds float64
	}
	var all []timed
	var sum float64
	for _, m := range passed.FindAllStringSubmatch(output, -1) {
		s, _ := strconv.ParseFloat(m[2], 64) // the expression admits digits alone
		all = append(all, timed{m[1], s})
		sum += s
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	var names []string
	var quick float64
	for _, t := range all {
		if quick += t.seconds; quick > sum/10 {
			break
		}
		names = append(names, t.name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// of plants p and asks one judge after the other until one notices.
func (js judges) of(ctx context.Context, p point) (verdict, error) {
	overlay, err := mutant.Overlay(filepath.Dir(js[0].binary), p.file, p.changed())
	if err != nil {
		return broken, err
	}
	last := same
	for i, j := range js {
		if _, err := j.compile(ctx, overlay); err != nil {
			if i > 0 {
				return noticed, nil // another package cannot use it
			}
			return broken, nil
		}
		digest, err := j.digest()
		switch {
		case err != nil:
			return broken, err
		case bytes.Equal(digest, j.plain):
			continue
		}
		if v := j.test(ctx, overlay); v != survived {
			return v, nil
		}
		last = survived
	}
	return last, nil
}

// compile builds the test binary with the overlay. Nothing in its bytes hangs on the overlay but
// the code.
func (j judge) compile(ctx context.Context, overlay string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w -buildid=",
		"-overlay="+overlay, "-o", j.binary, ".")
	cmd.Dir = j.dir
	return cmd.CombinedOutput()
}

// digest is the hash of the binary.
func (j judge) digest() ([]byte, error) {
	content, err := os.ReadFile(j.binary)
	sum := sha256.Sum256(content)
	return sum[:], err
}

// test runs the quick tests and then the others.
func (j judge) test(ctx context.Context, overlay string) verdict {
	v, _, _ := j.run(ctx, overlay, "-test.run="+j.quick)
	if v == survived {
		v, _, _ = j.run(ctx, overlay, "-test.skip="+j.quick)
	}
	return v
}

// run runs the binary within its times, and within 8 GB, since a change may ask for any memory. It
// returns the processor's time too. What the tests compile themselves has the change too.
func (j judge) run(
	ctx context.Context, overlay, which string,
) (v verdict, cpu time.Duration, out []byte) {
	ctx, cancel := context.WithTimeout(ctx, j.wall+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c",
		fmt.Sprintf(`ulimit -v 8388608 && ulimit -t %d && exec "$@"`, int(j.cpu.Seconds())), "sh",
		j.binary, "-test.failfast", "-test.timeout", j.wall.String(), which)
	cmd.Dir = j.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "DARRM_LONG=", "RAPID_NOFAILFILE=1")
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
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
