package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/release/exitcode"
)

var update = flag.Bool("update", false, "rewrite the golden files inside testdata/script")

// programs lists the programs that scripts can run.
var programs = map[string]func(){"darrm": main}

func TestMain(m *testing.M) { testscript.Main(cleaned{m}, programs) }

// cleaned removes the folder of toyProgram at the end.
type cleaned struct{ *testing.M }

// Run runs the tests. The programs that they start have one processor each, since several of them run
// at once anyway, and collect garbage twice as late as usual: with the setting of make test they touch
// two or three times the memory, which costs more than the collection. Races need two processors.
func (m cleaned) Run() int {
	defer func() { os.RemoveAll(toyFolder) }()
	if !raced.Enabled {
		os.Setenv("GOGC", "200")
		os.Setenv("GOMAXPROCS", "1")
	}
	return m.M.Run()
}

// Every file in testdata/script is one topic. The scripts run this very program in a process of its
// own, with a cache and a home of its own. $VOTES is the real file of votes, $TABLES tables of many
// classes, $FORMAT4 a ledger of format 4. The commands below are the scripts' own.
func TestScripts(t *testing.T) {
	votes, err := filepath.Abs(filepath.Join("..", "..", "testdata", "mnist-5v8", "votes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	ledgers, err := filepath.Abs(filepath.Join("..", "..", "ledger", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Abs(filepath.Join("..", "..", "python", "tests", "tables", "classes"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("VOTES", votes)
			e.Setenv("TABLES", tables)
			e.Setenv("DATA", os.Getenv("DARRM_DATA")) // real tables, where the folder has them
			e.Setenv("FORMAT4", filepath.Join(ledgers, "format4.ledger"))
			e.Setenv("DARRM_CACHE", filepath.Join(e.WorkDir, "cache"))
			// Those of Run, and those of internal/testing/mutant.
			for _, name := range []string{"GOGC", "GOMAXPROCS", "DARRM_MUTANT", "DARRM_CALLED"} {
				e.Setenv(name, os.Getenv(name))
			}
			// Under the race detector every process would sleep a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "highs":
				return strings.Contains(lp.Backend(), "HiGHS"), nil
			case "devfull":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			case "realtables":
				return os.Getenv("DARRM_DATA") != "", nil
			case "smalldisk":
				return programs[name] != nil, nil
			case "signals":
				return runtime.GOOS != "windows", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": cmdFails, "exits": cmdExits, "interrupt": cmdSignal(os.Interrupt),
			"terminate": cmdSignal(syscall.SIGTERM), "lines": cmdLines,
			"normalise": cmdNormalise, "keys": cmdKeys, "replace": cmdReplace, "entry": cmdEntry,
			"forge": cmdForge, "vector": cmdVector, "near": cmdNear,
		},
	})
}

// fails CODE PROGRAM ARG…: the program must exit with CODE, print nothing on
// stdout, and say what is wrong in one line on stderr, which a hint may follow; as
// a JSON object that repeats the code where --json is among the arguments.
func cmdFails(ts *testscript.TestScript, neg bool, args []string) {
	cmdExits(ts, neg, args)
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is not empty: %q", out)
	}
	if err := checkComplaint(ts.ReadFile("stderr"), args); err != nil {
		ts.Fatalf("%v", err)
	}
}

func checkComplaint(stderr string, args []string) error {
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	if slices.Contains(args, "--json") {
		var e struct {
			Error string `json:"error"`
			Kind  string `json:"kind"`
			Code  int    `json:"exit_code"`
			Hint  string `json:"hint"`
			Found any    `json:"found"`
		}
		d := json.NewDecoder(strings.NewReader(stderr))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("stderr is not the JSON of an error: %w", err)
		}
		if len(lines) != 1 || e.Error == "" || strconv.Itoa(e.Code) != args[0] ||
			exitcode.Kinds[exitcode.Code(e.Code)] != e.Kind {
			return fmt.Errorf("stderr is not one error with code %s: %q", args[0], stderr)
		}
		return nil
	}
	if len(lines) == 2 && strings.HasPrefix(lines[1], "darrm: hint: ") {
		lines = lines[:1]
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "darrm: ") {
		return fmt.Errorf("stderr is not one line that begins with darrm: %q", stderr)
	}
	return nil
}

// exits CODE PROGRAM ARG…: the program must exit with CODE.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exited *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exited) {
		code = exited.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// interrupt READY [=MESSAGE] PROGRAM ARG…: sends SIGINT once the program is at work: when the
// file READY is there (or written anew, if it was), if READY is "-" when the program has read
// most of the votes sent to its stdin, which stays open, and if it is a time after that. It
// must exit with code 130 within the time promptly and print nothing on stdout. MESSAGE is a
// regular expression of what stderr says: a program that was not as far yet, on a busy
// machine, or that the signal killed before it began, is started again and gets twice the time.
// terminate does the same with SIGTERM.
func cmdSignal(sig os.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		var message *regexp.Regexp
		if len(args) > 2 && strings.HasPrefix(args[1], "=") {
			var err error
			message, err = regexp.Compile("(?m)" + args[1][1:])
			ts.Check(err)
			args = slices.Delete(args, 1, 2)
		}
		const attempts = 6
		for wait := range attempts {
			said, ended := signalled(ts, neg, args, sig, 1<<wait)
			if ended && (message == nil || message.MatchString(said)) {
				return
			}
		}
		ts.Fatalf("%d times the signal killed it, or stderr did not match %v", attempts, message)
	}
}

// signalled returns what stderr said, and whether the program ended by itself and was not
// killed by the signal, which it does not heed before its first line. The waits are patience
// times as long as usual.
func signalled(ts *testscript.TestScript, neg bool, args []string, sig os.Signal,
	patience time.Duration) (said string, ended bool) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt READY [=MESSAGE] PROGRAM ARG…")
	}
	// How long an interrupted program may take: far more than it needs, far less
	// than what it was doing.
	const promptly = 20 * time.Second
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	c := exec.Command(path, args[2:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), "DARRM_CACHE="+ts.Getenv("DARRM_CACHE"),
		"GORACE="+ts.Getenv("GORACE"))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	stdin, err := c.StdinPipe()
	ts.Check(err)
	before, existed := os.Stat(ts.MkAbs(args[0]))
	ts.Check(c.Start())
	exited := make(chan error, 1)
	go func() { exited <- c.Wait() }()
	ready := make(chan error, 1)
	go func() {
		// Time to get from there into the work: too little makes the test easier to
		// pass, never harder.
		settle := patience * 200 * time.Millisecond
		if after, err := time.ParseDuration(args[0]); err == nil {
			time.Sleep(patience * after)
			ready <- nil
			return
		}
		if args[0] == "-" {
			// More than a pipe holds: the write ends only after the program has read.
			_, err := io.WriteString(stdin, strings.Repeat("1,0,1\n", 1<<16))
			time.Sleep(settle)
			ready <- err
			return
		}
		for range 1000 {
			now, err := os.Stat(ts.MkAbs(args[0]))
			if err == nil && (existed != nil || !now.ModTime().Equal(before.ModTime())) {
				time.Sleep(settle)
				ready <- nil
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		ready <- fmt.Errorf("%s did not appear, or change", args[0])
	}()
	select {
	case err = <-ready:
	case err = <-exited:
		ts.Fatalf("it ended before it was interrupted: %v\n%s", err, stderr.String())
	}
	if err == nil {
		err = c.Process.Signal(sig)
	}
	if err != nil {
		_ = c.Process.Kill()
		<-exited
		ts.Fatalf("%v", err)
	}
	select {
	case <-exited:
	case <-time.After(promptly):
		_ = c.Process.Kill()
		<-exited
		ts.Fatalf("still running %v after %v", promptly, sig)
	}
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	if !c.ProcessState.Exited() {
		return stderr.String(), false
	}
	if code := c.ProcessState.ExitCode(); code != int(exitcode.Interrupted) || stdout.Len() > 0 {
		ts.Fatalf("exit code %d and %d bytes on stdout after %v; stderr %q", code, stdout.Len(), sig,
			stderr.String())
	}
	if err := checkComplaint(stderr.String(), append([]string{"130"}, args[2:]...)); err != nil {
		ts.Fatalf("%v", err)
	}
	return stderr.String(), true
}

// lines N FILE: the file has N lines, all of them complete.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	content := ts.ReadFile(args[1])
	if n := strconv.Itoa(strings.Count(content, "\n")); n != args[0] ||
		!strings.HasSuffix(content, "\n") {
		ts.Fatalf("%s has %s lines, want %s", args[1], n, args[0])
	}
}

// What differs from run to run or between the LP solvers, and its stand-in.
var volatile = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(`Solved by .*? in \d[^ ,]*s,`), "Solved by SOLVER in TIME,"},
	{regexp.MustCompile(`[^ "]*[/\\]([0-9a-f]{64})\.dtable`), "CACHE/ENTRY.dtable"},
	{regexp.MustCompile(`f ≤ \d\.\d{13}\d*`), "f ≤ BOUND"},
	{regexp.MustCompile(`below \d\.\d+;`), "below OPTIMUM;"},
	{regexp.MustCompile(`within \d(\.\d)?e-1[0-9] of`), "within GAP of"},
}

// normalise FILE: the file with stand-ins for what is volatile becomes the stdout
// of the script.
func cmdNormalise(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: normalise FILE")
	}
	s := ts.ReadFile(args[0])
	for _, v := range volatile {
		s = v.re.ReplaceAllString(s, v.with)
	}
	fmt.Fprint(ts.Stdout(), s)
}

// keys FILE: the names of all fields of the JSON in FILE become the stdout of the
// script, in the order in which they appear, one a line, with the names of the
// objects around them and [] for an array, whose elements must be alike.
func cmdKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keys FILE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var walk func(prefix string)
	walk = func(prefix string) {
		token, err := d.Token()
		ts.Check(err)
		open, ok := token.(json.Delim)
		if !ok {
			return
		}
		for d.More() {
			if open == '[' {
				walk(prefix + "[]")
				continue
			}
			key, err := d.Token()
			ts.Check(err)
			name := strings.TrimPrefix(fmt.Sprintf("%s.%v", prefix, key), ".")
			add(name)
			walk(name)
		}
		_, err = d.Token()
		ts.Check(err)
	}
	walk("")
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("%s: more follows the JSON value", args[0])
	}
	for _, n := range names {
		fmt.Fprintln(ts.Stdout(), n)
	}
}

// replace FILE OUT REGEXP TEXT: writes FILE to OUT with every match replaced;
// there must be one.
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: replace FILE OUT REGEXP TEXT")
	}
	re, err := regexp.Compile(args[2])
	ts.Check(err)
	old := ts.ReadFile(args[0])
	if !re.MatchString(old) {
		ts.Fatalf("%s does not match %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(re.ReplaceAllString(old, args[3])), 0o666))
}

// entry VARIABLE DIR: sets the variable to the path of the only entry in the
// cache DIR.
func cmdEntry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: entry VARIABLE DIR")
	}
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "*.dtable"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d entries in %s, want 1", len(found), args[1])
	}
	ts.Setenv(args[0], found[0])
}

// forge DIR FROM: puts the value of the only entry in the cache FROM into the cache
// DIR, under the key of its only entry, with everything that a store checks in
// order.
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: forge DIR FROM")
	}
	only := func(dir string) (*cache.Store, string) {
		s, err := cache.Open(ts.MkAbs(dir))
		ts.Check(err)
		entries, err := s.List()
		ts.Check(err)
		if len(entries) != 1 {
			ts.Fatalf("%d entries in %s, want 1", len(entries), dir)
		}
		return s, entries[0].Key
	}
	from, key := only(args[1])
	value, err := from.Get(key)
	ts.Check(err)
	to, key := only(args[0])
	ts.Check(to.Put(key, value))
}
