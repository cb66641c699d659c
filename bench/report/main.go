// Command report measures and writes the pages of measurements. Each command that a page's template
// names is run, and what it prints is kept in bench/results.json with the day, the versions and the
// machine; the pages are written from their templates and that file.
//
//	go run ./bench/report [-list | -write] [-only WORD]
//
// -write runs nothing. A command that fails, or that needs a variable which is not set, leaves its
// result as it was, with its own date; the exit status is then 1. Results are kept as they come, so an
// interrupted run keeps what it had. All of them take an hour on a machine that does nothing else.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/darrm/darrm/bench/peers"
)

var (
	pages   = []string{"bench/README.md", "bench/votes/README.md"}
	results = "bench/results.json"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list := flag.Bool("list", false, "say what would be run, and when it was")
	only := flag.String("only", "", "only commands with this word")
	none := flag.Bool("write", false, "write the pages, and measure nothing")
	flag.Parse()
	failed := 0
	var err error
	if !*none {
		failed, err = measure(ctx, *list, *only)
	}
	if !*list {
		err = errors.Join(err, write(pages, results))
	}
	if err != nil || failed > 0 {
		fmt.Fprintln(os.Stderr, "report:", failed, "results are as they were;", err)
		os.Exit(1)
	}
}

// measure runs the commands, and returns the number of those that failed.
func measure(ctx context.Context, list bool, only string) (failed int, err error) {
	all, err := readResults(results)
	if err != nil {
		return 0, err
	}
	for _, name := range pages {
		template, err := os.ReadFile(name + suffix)
		if err != nil {
			return failed, err
		}
		for _, command := range commands(string(template)) {
			if !strings.Contains(command, only) {
				continue
			}
			if list {
				stamp := "never measured"
				if i := slices.IndexFunc(all, func(r result) bool { return r.Command == command }); i >= 0 {
					stamp = all[i].stamp()
				}
				fmt.Printf("%s: %s\n\t%s\n", name, command, stamp)
				continue
			}
			r, err := run(ctx, command)
			if err == nil {
				err = keep(results, r)
			}
			if err != nil {
				if ctx.Err() != nil {
					return failed, ctx.Err()
				}
				failed++
				fmt.Fprintf(os.Stderr, "report: %s: %v\n", command, err)
			}
		}
	}
	return failed, nil
}

// run runs a command.
func run(ctx context.Context, command string) (result, error) {
	fmt.Fprintf(os.Stderr, "report: %s\n", command)
	before, began := load(), time.Now()
	// A variable that is not set ends the command before it begins.
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c",
		`env="$(scripts/highs env)"; eval "$env"; `+command)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Run(); err != nil {
		return result{}, err
	}
	if out.Len() == 0 {
		return result{}, errors.New("it printed nothing")
	}
	return result{Command: command, Date: began.UTC().Format(time.DateOnly), Version: version(ctx),
		Go: peers.System(), Machine: machine(),
		LoadBefore: before, LoadAfter: load(), Took: time.Since(began).Round(time.Second).String(),
		Output: strings.Split(strings.TrimRight(out.String(), "\n"), "\n")}, nil
}

// version is the program's.
func version(ctx context.Context) string {
	v, err := exec.CommandContext(ctx, filepath.Join("scripts", "version")).Output()
	if err != nil {
		v = []byte("an unknown version")
	}
	return strings.TrimSpace(string(v))
}

// machine returns the number of processors and their model.
func machine() string {
	name := "processors"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(text), "model name"); ok {
			line, _, _ := strings.Cut(after, "\n")
			name = strings.Trim(line, " \t:")
		}
	}
	return fmt.Sprintf("%d × %s", runtime.NumCPU(), name)
}

// load returns the mean number of programs that wanted to run in the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	now, _, _ := strings.Cut(string(text), " ")
	return now
}
