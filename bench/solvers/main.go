// Command solvers solves the same tables with HiGHS and with plain Go, in turns, so that other work
// on the machine hits both, and prints processor seconds, certified gaps and the ratios to HiGHS.
//
//	go run ./bench/solvers [-runs N] [-limit D] [-only K]
//
// It builds both programs: the one with HiGHS as `eval "$(scripts/highs env)"` says.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/peers"
)

// cases are sizes at which solvers differ: m = 20 has weights near rounding, and the last ones are
// beyond what plain Go took before.
var cases = []string{
	"--K 101 --m 5",
	"--K 255 --m 5",
	"--K 255 --m 20",
	"--K 255 --m 20 --teacher-delta 0",
	"--K 255 --m 100 --teacher-delta 0",
	"--K 301 --m 5 --teacher-delta 0",
	"--K 501 --m 5",
	"--K 501 --m 5 --shape monotone",
}

type program struct {
	name, path string
	seconds    float64 // least of the runs
	gap        float64 // largest
	err        error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	runs := flag.Int("runs", 3, "solves of each table by each program; the fastest counts")
	limit := flag.Duration("limit", 2*time.Minute, "longest solve")
	only := flag.String("only", "", "only cases with these options")
	flag.Parse()
	peers.End("solvers", compare(ctx, *runs, *limit, *only))
}

func compare(ctx context.Context, runs int, limit time.Duration, only string) error {
	if runs < 1 {
		return fmt.Errorf("-runs = %d, want at least 1", runs)
	}
	work, err := os.MkdirTemp("", "solvers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	highs, plain := filepath.Join(work, "highs"), filepath.Join(work, "plain")
	if err := errors.Join(build(ctx, highs), build(ctx, plain, "CGO_ENABLED=0", "GOFLAGS=")); err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, highs, "version").Output()
	if err != nil {
		return err
	}
	if !bytes.Contains(version, []byte("HiGHS")) {
		return errors.New(`the build has no HiGHS: run eval "$(scripts/highs env)" first`)
	}
	fmt.Println("| table | solver | processor s | ÷ HiGHS | certified gap |")
	fmt.Println("|---|---|---:|---:|---:|")
	for _, options := range cases {
		if !strings.Contains(options, only) {
			continue
		}
		programs := []*program{{name: "HiGHS", path: highs}, {name: "plain Go", path: plain}}
		for _, p := range programs {
			p.seconds = math.Inf(1)
		}
		for range runs {
			for _, p := range programs {
				if p.err == nil {
					p.err = p.run(ctx, limit, options)
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
		for _, p := range programs {
			if p.err != nil {
				fmt.Printf("| %s | %s | | | %v |\n", options, p.name, p.err)
				continue
			}
			fmt.Printf("| %s | %s | %.2f | %.2f | %.1e |\n", options, p.name, p.seconds,
				p.seconds/programs[0].seconds, p.gap)
		}
	}
	return nil
}

// build builds darrm at a path.
func build(ctx context.Context, path string, env ...string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/darrm")
	c.Env, c.Stderr = append(os.Environ(), env...), os.Stderr
	return c.Run()
}

// run solves once and keeps the least time and the largest gap.
func (p *program) run(ctx context.Context, limit time.Duration, options string) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(limited, p.path, append(strings.Fields("solve --eps 0.1 --no-cache "+
		"--quiet --json"), strings.Fields(options)...)...)
	out, err := c.Output()
	var ended *exec.ExitError
	switch {
	case limited.Err() != nil:
		return fmt.Errorf("stopped after %v", limit)
	case errors.As(err, &ended):
		return errors.New(reason(ended.Stderr))
	case err != nil:
		return err
	}
	var table struct {
		Certificate *struct {
			Gap *float64 `json:"gap"`
		} `json:"certificate"`
	}
	if err := json.Unmarshal(out, &table); err != nil {
		return fmt.Errorf("output of darrm solve: %w", err)
	}
	if table.Certificate == nil || table.Certificate.Gap == nil {
		return errors.New("the table has no certified gap")
	}
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	p.seconds = min(p.seconds, took.Seconds())
	p.gap = max(p.gap, *table.Certificate.Gap)
	return nil
}

// reason returns the last part of the error that darrm states in JSON.
func reason(stderr []byte) string {
	var stated struct{ Error string }
	if err := json.Unmarshal(stderr, &stated); err != nil {
		return strings.TrimSpace(string(stderr))
	}
	parts := strings.Split(stated.Error, ": ")
	return parts[len(parts)-1]
}
