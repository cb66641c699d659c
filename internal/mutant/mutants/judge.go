package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	broken // it does not compile
)

// A judge runs the tests of one package.
type judge struct {
	dir, binary string
	limit       time.Duration
}

// judges stand in the order in which they are asked: the changed package's own comes first.
type judges []judge

// newJudges runs the tests of dirs without a change, which must pass, and takes their times.
// Binaries come into temp.
func newJudges(temp string, dirs []string) (judges, error) {
	var all judges
	for i, dir := range dirs {
		j := judge{
			dir: dir, binary: filepath.Join(temp, strconv.Itoa(i)+".test"), limit: 30 * time.Minute,
		}
		if out, err := j.compile(""); err != nil {
			return nil, fmt.Errorf("%s without a change: %w\n%s", dir, err, out)
		}
		begin := time.Now()
		if v, out := j.test(""); v != survived {
			return nil, fmt.Errorf("%s: the tests fail without a change:\n%s", dir, out)
		}
		j.limit = 5*time.Since(begin) + 10*time.Second
		all = append(all, j)
	}
	return all, nil
}

// of plants p and asks one judge after the other until one notices.
func (js judges) of(p point) (verdict, error) {
	overlay, err := mutant.Overlay(filepath.Dir(js[0].binary), p.file, p.changed())
	if err != nil {
		return broken, err
	}
	for i, j := range js {
		if _, err := j.compile(overlay); err != nil {
			if i > 0 {
				return noticed, nil // another package cannot use it
			}
			return broken, nil
		}
		if v, _ := j.test(overlay); v != survived {
			return v, nil
		}
	}
	return survived, nil
}

// compile builds the test binary with the overlay.
func (j judge) compile(overlay string) ([]byte, error) {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w",
		"-overlay="+overlay, "-o", j.binary, ".")
	cmd.Dir = j.dir
	return cmd.CombinedOutput()
}

// test runs the binary within the time, and within 8 GB, since a change may ask for any memory.
// What the tests compile themselves has the change too.
func (j judge) test(overlay string) (verdict, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), j.limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 8388608; exec "$@"`, "sh",
		j.binary, "-test.failfast", "-test.timeout", j.limit.String())
	cmd.Dir = j.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "DARRM_LONG=", "RAPID_NOFAILFILE=1")
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS=-overlay="+overlay)
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return survived, out
	case ctx.Err() != nil, strings.Contains(string(out), "panic: test timed out"):
		return timedOut, out
	}
	return noticed, out
}
