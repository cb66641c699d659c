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
	"syscall"
	"time"
)

// binaries compares two builds of darrm: whole processes of `darrm aggregate`, labels
// written, on a file of every kind. The runs alternate; the least time, wall and
// processor, and the largest memory count. Labels that differ are an error.
func binaries(list string, n, runs int, dir string) error {
	before, after, ok := strings.Cut(list, ",")
	if !ok {
		return fmt.Errorf("binaries %q, want two paths separated by a comma", list)
	}
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "darrm-bench-votes-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	// In a process of its own: a child's peak memory counts the moment when it still
	// shares this one's.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err := exec.Command(self, "-generate", strconv.Itoa(n), "-dir",
		dir).CombinedOutput(); err != nil {
		return fmt.Errorf("generate: %w: %s", err, out)
	}
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
		least := [2]usage{{wall: 1e9, cpu: 1e9}, {wall: 1e9, cpu: 1e9}}
		for range runs {
			for i, binary := range []string{before, after} {
				u, err := aggregate(binary, filepath.Join(dir, "votes."+kind), layout,
					filepath.Join(dir, fmt.Sprint("labels", i)))
				if err != nil {
					return err
				}
				least[i] = usage{min(least[i].wall, u.wall), min(least[i].cpu, u.cpu),
					max(least[i].peak, u.peak)}
			}
		}
		a, err := os.ReadFile(filepath.Join(dir, "labels0"))
		b, err2 := os.ReadFile(filepath.Join(dir, "labels1"))
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		differ = differ || len(a) == 0 || !bytes.Equal(a, b)
		x, y := least[0], least[1]
		fmt.Printf("| %s | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f | %d | %d |\n", kind, x.wall, y.wall,
			y.wall/x.wall, x.cpu, y.cpu, y.cpu/x.cpu, x.peak>>20, y.peak>>20)
	}
	if differ {
		return errors.New("the two write different labels")
	}
	return nil
}

// usage is a process's use of resources: seconds, and bytes.
type usage struct {
	wall, cpu float64
	peak      int64
}

func aggregate(binary, votes, layout, out string) (usage, error) {
	cmd := exec.Command(binary, "aggregate", votes, "--layout", layout, "--K", fmt.Sprint(teachers),
		"--m", "1", "--eps", "1", "--teacher-delta", "0",
		"--insecure-seed", "7", "-q", "--out", out, "--out-format", "csv", "--force")
	begin := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		return usage{}, fmt.Errorf("%s: %w: %s", binary, err, output)
	}
	u := usage{wall: time.Since(begin).Seconds(),
		cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = int64(r.Maxrss) << 10 // kilobytes on Linux
	}
	return u, nil
}
