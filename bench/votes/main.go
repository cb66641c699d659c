// Command votes measures how fast files of votes are read and voted on, against
// numpy on the same files.
//
//	go run ./bench/votes [-max 10000000] [-runs 3] [-dir DIR] [-keep]
//
// It generates 10⁴, 10⁵, … queries × 11 votes as CSV, .npy (one byte and, as NumPy
// does by default, eight bytes a vote) and Parquet, runs every program on every
// file as a process of its own, alternating, and prints the times, ratios and peak
// memory as tables. Programs that read the same file must count the same
// majorities; if they do not, the exit status is 1. Times never decide.
//
// The work that is done per batch is answer, in hook.go.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/bench/processor"
)

func main() {
	most := flag.Int("max", 10_000_000, "largest number of queries")
	runs := flag.Int("runs", 3, "runs of every program on every file")
	dir := flag.String("dir", "", "where to put the files (default: a temporary directory)")
	keep := flag.Bool("keep", false, "leave the files behind")
	child := flag.String("child", "", "read this file and print what was counted")
	layout := flag.String("layout", "default", "of the child's file")
	make := flag.Int("generate", 0, "only write the files of so many queries to -dir")
	out := flag.String("out", "", "let the child write the majorities to this file")
	rows := flag.Int("rows", 1_000_000, "queries for -alone")
	one := flag.String("alone", "",
		"time releases of labels by this build of darrm alone, of a CSV file of -rows queries")
	flag.Parse()
	var err error
	switch {
	case *make > 0:
		err = generate(*dir, *make)
	case *one != "":
		err = alone(*one, *rows, *runs, *dir)
	case *child != "":
		err = read(context.Background(), *child, *layout, *out)
	default:
		err = measure(*most, *runs, *dir, *keep)
	}
	peers.End("votes", err)
}

// program is something to run on one kind of file.
type program struct {
	name string
	file string // its kind
	args func(path string) []string
	none bool // it counts nothing, it is there for comparison
}

// measure generates, runs and prints.
func measure(most, runs int, dir string, keep bool) error {
	if runs < 1 || most < 10_000 {
		return fmt.Errorf("runs = %d and max = %d, want at least 1 and 10000", runs, most)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	python, err := peers.Python("numpy")
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "darrm-bench-votes-"); err != nil {
			return err
		}
		if !keep {
			defer os.RemoveAll(dir)
		}
	}
	script := filepath.Join(dir, "numpy_votes.py")
	if err := os.WriteFile(script, numpyScript, 0o600); err != nil {
		return err
	}
	ours := func(layout string, more ...string) func(string) []string {
		return func(path string) []string {
			return append([]string{self, "-child", path, "-layout", layout}, more...)
		}
	}
	numpy := func(how string) func(string) []string {
		return func(path string) []string { return []string{python, script, how, path} }
	}
	labels := filepath.Join(dir, "labels.csv")
	programs := []program{
		{name: "darrm", file: "csv", args: ours("wide")},
		{name: "darrm, labels written", file: "csv", args: ours("wide", "-out", labels)},
		{name: "numpy.loadtxt", file: "csv", args: numpy("loadtxt")},
		{name: "numpy, bytes reshaped", file: "csv", args: numpy("bytes")},
		{name: "darrm", file: "csv.gz", args: ours("wide")},
		{name: "darrm", file: "u1.npy", args: ours("wide")},
		{name: "numpy.load", file: "u1.npy", args: numpy("load")},
		{name: "darrm", file: "i8.npy", args: ours("wide")},
		{name: "numpy.load", file: "i8.npy", args: numpy("load")},
		{name: "darrm", file: "teachers.npy", args: ours("teachers")},
		{name: "numpy.load", file: "teachers.npy", args: numpy("loadT")},
		{name: "darrm", file: "parquet", args: ours("wide")},
		{name: "darrm", file: "jsonl", args: ours("wide")},
		{name: "importing numpy", file: "", args: numpy("import"), none: true},
	}
	version, err := exec.Command(python, "-c",
		"import platform, numpy; print('Python', platform.python_version(), 'numpy', "+
			"numpy.__version__)").Output()
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d cores, load %s\n", peers.System(), strings.TrimSpace(string(version)), runtime.NumCPU(),
		peers.Load())
	wrong := false
	for n := 10_000; n <= most; n *= 10 {
		if err := generateApart(dir, n); err != nil {
			return err
		}
		results := make([]result, len(programs))
		for range runs {
			for i, p := range programs {
				if err := results[i].add(p.args(filepath.Join(dir, "votes."+p.file)), p.none); err != nil {
					return fmt.Errorf("%s on %s, %d queries: %w", p.name, p.file, n, err)
				}
			}
		}
		wrong = !report(n, runs, programs, results, dir) || wrong
		if !keep {
			for _, kind := range kinds {
				os.Remove(filepath.Join(dir, "votes."+kind))
			}
		}
	}
	if wrong {
		return errors.New("programs count different majorities")
	}
	return nil
}

// result holds the measurements of one program on one file.
type result struct {
	seconds []float64
	peak    int64 // bytes, the largest
	counted string
}

func (r *result) add(args []string, none bool) error {
	cmd := exec.Command(args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, errs.String())
	}
	r.seconds = append(r.seconds, time.Since(begin).Seconds())
	if peak, err := processor.Peak(cmd.ProcessState); err == nil { // else it is not known
		r.peak = max(r.peak, peak)
	}
	counted := strings.TrimSpace(out.String())
	if !none && r.counted != "" && r.counted != counted {
		return fmt.Errorf("counted %s, and %s before", counted, r.counted)
	}
	r.counted = counted
	return nil
}

// report prints a table and reports whether all programs counted the same.
func report(n, runs int, programs []program, results []result, dir string) bool {
	fmt.Printf("\n%s queries × %d votes, whole processes, %d alternating runs\n\n", thousands(n),
		teachers, runs)
	fmt.Println("| file | MiB | program | min, s | median, s | queries/s | ÷ darrm, min | peak MiB " +
		"| majority 1 |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---:|---:|")
	best := make(map[string]float64) // of ours
	same := true
	counted := ""
	for i, p := range programs {
		r := results[i]
		slices.Sort(r.seconds)
		if p.name == "darrm" {
			best[p.file] = r.seconds[0]
		}
		size, rate, ratio := "", "", ""
		if info, err := os.Stat(filepath.Join(dir, "votes."+p.file)); err == nil && p.file != "" {
			size = strconv.FormatFloat(float64(info.Size())/(1<<20), 'f', 1, 64)
		}
		if !p.none {
			if counted == "" {
				counted = r.counted
			}
			same = same && r.counted == counted
			rate = thousands(int(float64(n) / r.seconds[0]))
			ratio = strconv.FormatFloat(r.seconds[0]/best[p.file], 'f', 1, 64)
		}
		fmt.Printf("| %s | %s | %s | %.3f | %.3f | %s | %s | %d | %s |\n", p.file, size, p.name,
			r.seconds[0], r.seconds[len(r.seconds)/2], rate, ratio, r.peak>>20, r.counted)
	}
	return same
}

// thousands prints a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
