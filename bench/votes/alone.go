package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/darrm/darrm/bench/processor"
)

// generated writes the files of n queries into dir, or a new directory where it is "".
func generated(dir string, n int) (_ string, remove func(), err error) {
	remove = func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "darrm-bench-votes-"); err != nil {
			return "", nil, err
		}
		remove = func() { os.RemoveAll(dir) }
	}
	return dir, remove, generateApart(dir, n)
}

// generateApart generates in a process of its own: a child's peak memory counts the moment when it
// still shares this one's.
func generateApart(dir string, n int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err := exec.Command(self, "-generate", strconv.Itoa(n), "-dir", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("generate: %w: %s", err, out)
	}
	return nil
}

// stated returns the arguments of a mechanism, optimal-teachers or gnmax.
func stated(mechanism string) []string {
	how := []string{"--m", "1", "--eps", "1", "--teacher-delta", "0"}
	if mechanism == "gnmax" {
		how = []string{"--label-eps", "1", "--delta", "1e-6", "--affected", "1"}
	}
	return append([]string{"--accept-weak", "--mechanism", mechanism}, how...)
}

// usage is a process's use of resources: seconds, and bytes.
type usage struct {
	wall, cpu float64
	peak      int64
}

// least returns the smaller times, and the larger memory.
func (u usage) least(v usage) usage {
	return usage{min(u.wall, v.wall), min(u.cpu, v.cpu), max(u.peak, v.peak)}
}

// released runs darrm aggregate.
func released(binary, votes, out string, how ...string) (usage, error) {
	cmd := exec.Command(binary, append([]string{"aggregate", votes,
		"--K", fmt.Sprint(teachers), "-q", "--out", out, "--out-format", "csv"}, how...)...)
	begin := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		return usage{}, fmt.Errorf("%s: %w: %s", binary, err, output)
	}
	u := usage{wall: time.Since(begin).Seconds(),
		cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	u.peak, _ = processor.Peak(cmd.ProcessState) // 0 where it is not known
	return u, nil
}

// alone times the release of labels of one CSV file by one build, with the system's coins: without
// a ledger, where the votes are read once, and with one, where they are read twice. It prints how
// long 10⁹ votes would take at that rate.
func alone(binary string, n, runs int, dir string) error {
	dir, remove, err := generated(dir, n)
	if err != nil {
		return err
	}
	defer remove()
	fmt.Printf("%s queries × %d votes in CSV, darrm aggregate with the system's coins, least of %d "+
		"runs\n\n", thousands(n), teachers, runs)
	fmt.Println("| mechanism | ledger | s | queries/s | s for 10⁹ votes | processor s | peak MiB |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|")
	book := filepath.Join(dir, "budget.ledger")
	for _, c := range []struct {
		mechanism, ledger string
		how               []string
	}{
		{"optimal-teachers", "no", []string{"--force"}},
		{"optimal-teachers", "yes", []string{"--ledger", book, "--request-id", "a", "--teachers", "frozen",
			"--ensemble", "e"}},
		{"gnmax", "no", []string{"--force"}},
	} {
		least := usage{wall: 1e9, cpu: 1e9}
		for range runs {
			labels := filepath.Join(dir, "labels")
			for _, file := range []string{book, book + ".anchor", book + ".secret", labels} {
				_ = os.Remove(file) // of the run before
			}
			if out, err := exec.Command(binary, "budget", "init", book, "--eps", "100", "--delta",
				"0.1").CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", binary, err, out)
			}
			u, err := released(binary, filepath.Join(dir, "votes.csv"), labels,
				append(stated(c.mechanism), c.how...)...)
			if err != nil {
				return err
			}
			least = least.least(u)
		}
		fmt.Printf("| %s | %s | %.1f | %s | %.0f | %.1f | %d |\n", c.mechanism, c.ledger, least.wall,
			thousands(int(float64(n)/least.wall)), least.wall*1e9/float64(n*teachers), least.cpu,
			least.peak>>20)
	}
	return nil
}
