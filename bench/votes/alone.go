package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

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
		{"darrm", "no", []string{"--force"}},
		{"darrm", "yes", []string{"--ledger", book, "--request-id", "a", "--teachers", "frozen",
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
			u, err := released(binary, filepath.Join(dir, "votes.csv"), "wide", labels,
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
