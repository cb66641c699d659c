package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/processor"
	"github.com/darrm/darrm/internal/num"
)

// measurement holds the cost of one case and the quality of its table.
type measurement struct {
	solveCase
	runs          int     // the fastest of so many is reported
	seconds       float64 // wall clock of the whole process
	peakBytes     int64   // the largest resident set over the runs
	constraints   uint64  // how many the certificate covers
	expectedError float64
	gap           float64 // to the certified lower bound, absolute
}

// relativeGap is the gap as a fraction of the certified lower bound on the expected
// error. A bound of zero proves nothing relative, so the fraction is then infinite
// unless the gap is zero.
func (m measurement) relativeGap() float64 {
	if m.gap == 0 {
		return 0
	}
	return m.gap / math.Max(0, m.expectedError-m.gap)
}

func versionOf(ctx context.Context, darrm string) (string, error) {
	text, err := exec.CommandContext(ctx, darrm, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w (build it with: make build)", darrm, err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; "), nil
}

// fastest runs a case n times and reports the smallest time and the largest memory.
func fastest(ctx context.Context, darrm string, c solveCase, n int) (measurement, error) {
	var best measurement
	for i := range n {
		m, err := solveOnce(ctx, darrm, c)
		if err != nil {
			return measurement{}, fmt.Errorf("%s: %w", c, err)
		}
		if i == 0 {
			best = m
		}
		best.seconds = min(best.seconds, m.seconds)
		best.peakBytes = max(best.peakBytes, m.peakBytes)
		best.gap = max(best.gap, m.gap)
		best.expectedError = max(best.expectedError, m.expectedError)
	}
	best.runs = n
	return best, nil
}

func solveOnce(ctx context.Context, darrm string, c solveCase) (measurement, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, darrm, "solve", "--json", "--no-cache", "--quiet",
		"--K", strconv.Itoa(c.k), "--m", strconv.Itoa(allowance), "--eps", fmt.Sprint(epsilon),
		"--teacher-delta", fmt.Sprint(c.delta), "--shape", c.shape)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// Interrupt, so that the solver leaves in its own way.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second

	start := time.Now()
	err := cmd.Run()
	seconds := time.Since(start).Seconds()
	if err != nil {
		return measurement{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	m, err := parseTable(stdout.Bytes(), c)
	if err != nil {
		return measurement{}, err
	}
	m.seconds = seconds
	m.peakBytes, err = processor.Peak(cmd.ProcessState)
	return m, err
}

// parseTable reads the figures out of a table's JSON and checks that it answers c.
func parseTable(text []byte, c solveCase) (measurement, error) {
	var t struct {
		K             int      `json:"k"`
		M             float64  `json:"m"`
		Epsilon       float64  `json:"epsilon"`
		Delta         float64  `json:"teacher_delta"`
		Shape         string   `json:"shape"`
		ExpectedError *float64 `json:"expected_error"`
		Certificate   *struct {
			Constraints uint64   `json:"constraints"`
			Gap         *float64 `json:"gap"`
		} `json:"certificate"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return measurement{}, fmt.Errorf("output of darrm solve: %w", err)
	}
	got := solveCase{k: t.K, shape: t.Shape, delta: t.Delta}
	if got != c || t.M != allowance || t.Epsilon != epsilon {
		return measurement{},
			fmt.Errorf("darrm solve answered %s, m = %g, ε = %g, but was asked for %s, m = %d, ε = %g",
				got, t.M, t.Epsilon, c, allowance, epsilon)
	}
	if t.ExpectedError == nil || t.Certificate == nil || t.Certificate.Gap == nil ||
		t.Certificate.Constraints == 0 {
		return measurement{}, fmt.Errorf("output of darrm solve: no expected_error or no certificate")
	}
	return measurement{
		solveCase:     c,
		constraints:   t.Certificate.Constraints,
		expectedError: *t.ExpectedError,
		gap:           *t.Certificate.Gap,
	}, nil
}

// All cases share the privacy allowance and the teachers' ε of the literature's figures.
const (
	allowance = 5   // m
	epsilon   = 0.1 // ε of each teacher
)

const (
	free     = "free"
	monotone = "monotone"
)

// solveCase is one problem for `darrm solve`.
type solveCase struct {
	k     int
	shape string
	delta float64 // Δ of each teacher
}

func (c solveCase) String() string {
	return fmt.Sprintf("K = %d, %s, Δ = %s", c.k, c.shape, num.Shortest(c.delta))
}

// cases returns what is measured, small K first within each line of the figure.
func cases(quick bool) []solveCase {
	teachers := []int{11, 21, 41, 101, 201, 301, 501, 1001}
	if quick {
		teachers = teachers[:4]
	}
	var list []solveCase
	for _, shape := range []string{free, monotone} {
		for _, delta := range []float64{0, 1e-5} {
			for _, k := range teachers {
				list = append(list, solveCase{k: k, shape: shape, delta: delta})
			}
		}
	}
	return list
}
