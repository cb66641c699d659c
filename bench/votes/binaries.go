package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/processor"
)

// binaries compares two builds of darrm: whole processes of `darrm aggregate`, labels
// written, on a file of every kind. The runs alternate; the least time, wall and
// processor, and the largest memory count. Labels that differ are an error.
func binaries(list string, n, runs int, dir string) error {
	p, remove, err := newPair(list, n, dir)
	if err != nil {
		return err
	}
	defer remove()
	fmt.Printf("%s queries × %d votes, darrm aggregate with labels written, least of %d "+
		"alternating runs\n\n", thousands(n), teachers, runs)
	fmt.Println("| file | s before | s after | ratio | processor s before | after | ratio | peak " +
		"MiB before | after |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	differ := false
	for _, kind := range kinds {
		layout := "wide"
		if kind == "teachers.npy" {
			layout = "teachers"
		}
		x, y, err := p.least(runs, "votes."+kind, layout, "--m", "1", "--eps", "1", "--teacher-delta",
			"0", "--insecure-seed", "7")
		if err != nil {
			return err
		}
		a, err := os.ReadFile(filepath.Join(p.dir, "labels0"))
		b, err2 := os.ReadFile(filepath.Join(p.dir, "labels1"))
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		differ = differ || len(a) == 0 || !bytes.Equal(a, b)
		fmt.Printf("| %s | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f | %d | %d |\n", kind, x.wall, y.wall,
			y.wall/x.wall, x.cpu, y.cpu, y.cpu/x.cpu, x.peak>>20, y.peak>>20)
	}
	if differ {
		return errors.New("the two write different labels")
	}
	return nil
}

// pair is two builds of darrm, and the directory of the files that they read and write.
type pair struct {
	builds [2]string
	dir    string
}

// newPair takes two paths separated by a comma, and writes the files of n queries.
func newPair(list string, n int, dir string) (p pair, remove func(), err error) {
	before, after, ok := strings.Cut(list, ",")
	if !ok {
		return pair{}, nil, fmt.Errorf("binaries %q, want two paths separated by a comma", list)
	}
	dir, remove, err = generated(dir, n)
	return pair{[2]string{before, after}, dir}, remove, err
}

// least returns the least usage of each build over alternating runs. They write labels0 and
// labels1.
func (p pair) least(runs int, votes, layout string, how ...string) (before, after usage, err error) {
	least := [2]usage{{wall: 1e9, cpu: 1e9}, {wall: 1e9, cpu: 1e9}}
	for range runs {
		for i, binary := range p.builds {
			u, err := aggregate(binary, filepath.Join(p.dir, votes), layout,
				filepath.Join(p.dir, fmt.Sprint("labels", i)), how...)
			if err != nil {
				return usage{}, usage{}, err
			}
			least[i] = least[i].least(u)
		}
	}
	return least[0], least[1], nil
}

// generated writes the files of n queries into dir, or a new directory where it is "".
func generated(dir string, n int) (_ string, remove func(), err error) {
	remove = func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "darrm-bench-votes-"); err != nil {
			return "", nil, err
		}
		remove = func() { os.RemoveAll(dir) }
	}
	// In a process of its own: a child's peak memory counts the moment when it still
	// shares this one's.
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	if out, err := exec.Command(self, "-generate", strconv.Itoa(n), "-dir",
		dir).CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("generate: %w: %s", err, out)
	}
	return dir, remove, nil
}

// releases compares two builds that release labels of one CSV file. Coins are the system's, so that
// the labels differ.
func releases(list string, n, runs int, dir string) error {
	p, remove, err := newPair(list, n, dir)
	if err != nil {
		return err
	}
	defer remove()
	fmt.Printf("%s queries × %d votes in CSV, darrm aggregate with the system's coins, least of %d "+
		"alternating runs\n\n", thousands(n), teachers, runs)
	fmt.Println("| mechanism | s before | s after | ratio | processor s before | after | ratio |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	for _, mechanism := range []string{"darrm", "gnmax"} {
		x, y, err := p.least(runs, "votes.csv", "wide", stated(mechanism)...)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f |\n", mechanism, x.wall, y.wall,
			y.wall/x.wall, x.cpu, y.cpu, y.cpu/x.cpu)
	}
	return nil
}

// stated returns the arguments of a mechanism, darrm or gnmax.
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

func aggregate(binary, votes, layout, out string, how ...string) (usage, error) {
	return released(binary, votes, layout, out, append(how, "--force")...)
}

// released runs darrm aggregate.
func released(binary, votes, layout, out string, how ...string) (usage, error) {
	cmd := exec.Command(binary, append([]string{"aggregate", votes, "--layout", layout,
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
