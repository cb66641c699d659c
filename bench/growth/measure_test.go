//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary stands in for darrm: GROWTH_FAKE selects its behaviour.
func TestMain(m *testing.M) {
	switch os.Getenv("GROWTH_FAKE") {
	case "":
		os.Exit(m.Run())
	case "fail":
		fmt.Fprintln(os.Stderr, "darrm: no solver")
		os.Exit(5)
	default:
		fakeDarrm(os.Args[1:])
	}
}

// fake makes the test binary a stand-in when it is run again.
func fake(t *testing.T, behaviour string) {
	t.Setenv("GROWTH_FAKE", behaviour)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else every child sleeps a second under -race
}

// fakeDarrm answers like darrm, with the case read from its arguments.
func fakeDarrm(args []string) {
	if args[0] == "version" {
		fmt.Print("darrm 0\nLP solver: none\n")
		return
	}
	flags := make(map[string]string)
	for i := 1; i+1 < len(args); i++ {
		flags[args[i]] = args[i+1]
	}
	fmt.Printf(tableJSON, flags["--K"], flags["--m"], flags["--eps"], flags["--teacher-delta"],
		flags["--shape"])
}

const tableJSON = `{"k": %s, "m": %s, "epsilon": %s, "teacher_delta": %s, "shape": "%s",
"expected_error": 0.25, "certificate": {"constraints": 364, "gap": 1e-13}}`

func TestFastest(t *testing.T) {
	fake(t, "answer")
	c := solveCase{k: 11, shape: monotone, delta: 1e-5}
	m, err := fastest(t.Context(), os.Args[0], c, 2)
	if err != nil {
		t.Fatal(err)
	}
	if m.solveCase != c || m.runs != 2 || m.constraints != 364 || m.expectedError != 0.25 ||
		m.gap != 1e-13 {
		t.Errorf("got %+v", m)
	}
	// Any Go program needs more than 1 MiB and this one less than 1 GiB: catches a wrong unit.
	if m.peakBytes < 1<<20 || m.peakBytes > 1<<30 {
		t.Errorf("peak memory is %d bytes", m.peakBytes)
	}
	if !(m.seconds > 0) {
		t.Errorf("took %g s", m.seconds)
	}
}

func TestFastestFails(t *testing.T) {
	fake(t, "fail")
	_, err := fastest(t.Context(), os.Args[0], solveCase{k: 11, shape: free}, 1)
	if err == nil || !strings.Contains(err.Error(), "no solver") ||
		!strings.Contains(err.Error(), "K = 11") {
		t.Errorf("error %v does not give the case and what darrm said", err)
	}
	if _, err := versionOf(t.Context(), filepath.Join(t.TempDir(), "darrm")); err == nil ||
		!strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v does not say how to build darrm", err)
	}
}

func TestRunCanceled(t *testing.T) {
	fake(t, "answer")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := solveOnce(ctx, os.Args[0], solveCase{k: 11, shape: free}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestParseTableErrors(t *testing.T) {
	c := solveCase{k: 11, shape: free, delta: 1e-5}
	good := fmt.Sprintf(tableJSON, "11", "5", "0.1", "0.00001", free)
	if _, err := parseTable([]byte(good), c); err != nil {
		t.Fatalf("the table the cases are made from: %v", err)
	}
	for _, tc := range []struct{ name, old, new string }{
		{"another K", `"k": 11`, `"k": 12`},
		{"another m", `"m": 5`, `"m": 4`},
		{"another ε", `"epsilon": 0.1`, `"epsilon": 0.2`},
		{"another Δ", `"teacher_delta": 0.00001`, `"teacher_delta": 0`},
		{"another shape", free, monotone},
		{"no error", `"expected_error"`, `"error"`},
		{"no certificate", `"certificate"`, `"claim"`},
		{"no gap", `"gap"`, `"slack"`},
		{"no constraints", `364`, `0`},
		{"cut off", `1e-13}}`, `1e-13`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(good, tc.old, tc.new, 1)
			if text == good {
				t.Fatalf("%q is not in the table", tc.old)
			}
			if m, err := parseTable([]byte(text), c); err == nil {
				t.Errorf("no error, but %+v", m)
			}
		})
	}
}

// The whole command, on small cases.
func TestRun(t *testing.T) {
	fake(t, "answer")
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-quick", "-n", "1", "-out", dir, "-darrm", os.Args[0]}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"growth.svg", "growth.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	header, tables, _ := strings.Cut(out.String(), "\n\n")
	if !strings.HasPrefix(header, "darrm 0; LP solver: none; ") || !strings.Contains(tables, "| 101 | monotone |") {
		t.Errorf("it prints\n%s", out.String())
	}
	for _, args := range [][]string{{"-n", "0"}, {"stray"}, {"-bogus"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
