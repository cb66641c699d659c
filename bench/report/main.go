// Command report makes the tables of the pages again: it runs the command that stands above each,
// and puts what it prints, with the day, the versions and the machine, in its place.
//
//	go run ./bench/report [-list] [-only WORD] [PAGE…]
//
// A command that fails, or that needs a variable which is not set, leaves its table as it was, with
// its own date; the exit status is then 1. Tables are written as they come, so an interrupted run
// keeps what it had. All of them take an hour on a machine that does nothing else.
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
	"strings"
	"syscall"
	"time"
)

var pages = []string{"bench/README.md", "bench/votes/README.md"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list := flag.Bool("list", false, "say what would be run, and when it was")
	only := flag.String("only", "", "only commands with this word")
	flag.Parse()
	if flag.NArg() > 0 {
		pages = flag.Args()
	}
	failed, err := report(ctx, *list, *only)
	if err != nil || failed > 0 {
		fmt.Fprintln(os.Stderr, "report:", failed, "tables are as they were;", err)
		os.Exit(1)
	}
}

// report remakes the tables, and returns the number of those that could not be made.
func report(ctx context.Context, list bool, only string) (failed int, err error) {
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return failed, err
		}
		blocks, err := parse(string(text))
		if err != nil {
			return failed, fmt.Errorf("%s: %w", page, err)
		}
		for _, b := range blocks {
			if !strings.Contains(b.command, only) {
				continue
			}
			if list {
				fmt.Printf("%s: %s\n\t%s\n", page, b.command, b.stamp)
				continue
			}
			if err := remake(ctx, page, b.command); err != nil {
				if ctx.Err() != nil {
					return failed, ctx.Err()
				}
				failed++
				fmt.Fprintf(os.Stderr, "report: %s: %v\n", b.command, err)
			}
		}
	}
	return failed, nil
}

// remake runs the command of a page's block, and writes the page.
func remake(ctx context.Context, page, command string) error {
	fmt.Fprintf(os.Stderr, "report: %s\n", command)
	before, began := load(), time.Now()
	// A variable that is not set ends the command before it begins.
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c",
		`env="$(scripts/highs env)"; eval "$env"; `+command)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	if out.Len() == 0 {
		return errors.New("it printed nothing")
	}
	stamp := fmt.Sprintf("%s%s, %s, %s; load %s before, %s after %s.", stamps,
		began.UTC().Format(time.DateOnly), version(ctx), machine(), before, load(),
		time.Since(began).Round(time.Second))
	// Read only now: somebody may have changed the page meanwhile.
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	blocks, err := parse(string(text))
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if b.command == command {
			return os.WriteFile(page, []byte(b.replace(string(text), stamp, out.String())), 0o666)
		}
	}
	return fmt.Errorf("it is not in %s any more", page)
}

// version is the program's and Go's.
func version(ctx context.Context) string {
	v, err := exec.CommandContext(ctx, filepath.Join("scripts", "version")).Output()
	if err != nil {
		v = []byte("an unknown version")
	}
	return "darrm " + strings.TrimSpace(string(v)) + ", " + runtime.Version() + " " + runtime.GOOS +
		"/" + runtime.GOARCH
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
