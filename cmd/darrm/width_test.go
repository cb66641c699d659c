package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/testing/clitest"
)

// runDarrm runs the command line in this process.
func runDarrm(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := tryDarrm(t, args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return stdout, stderr
}

// tryDarrm is runDarrm for what may fail.
func tryDarrm(t *testing.T, args ...string) (stdout, stderr string, err error) {
	var out, talk bytes.Buffer
	root := cli.NewRoot(&cli.App{In: strings.NewReader(""), Out: &out, Err: &talk}, commandGroups)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), talk.String(), err
}

// Whatever a command prints fits the terminal.
func TestOutputsFitTheTerminal(t *testing.T) {
	votes, err := filepath.Abs(filepath.Join("..", "..", "testdata", "mnist-5v8", "votes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DARRM_CACHE", t.TempDir())
	t.Chdir(t.TempDir())
	var private, public strings.Builder
	for i := range 200 {
		x := float64(i%17)/8 - 1
		fmt.Fprintf(&private, "%v,%v,%d\n", x, 1-x*x, i%2)
		fmt.Fprintf(&public, "%v,%v,%d\n", -x, x*x, (i+1)%2)
	}
	for name, text := range map[string]string{"private.csv": private.String(),
		"public.csv": public.String()} {
		if err := os.WriteFile(name, []byte("a,b,y\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runDarrm(t, strings.Fields("solve --K 11 --m 3 --out t.json")...)
	runDarrm(t, strings.Fields("budget init book.ledger --eps 100 --delta 0.9")...)
	release := []string{"aggregate", votes}
	release = append(release,
		strings.Fields("--m 3 --eps 0.13577 --teacher-delta 1e-4 --teachers frozen --ensemble "+
			"digits-of-march --ledger book.ledger --request-id first --out paid.csv")...)
	runDarrm(t, release...)

	training := "--private private.csv --public public.csv --allow-shared-records --response y " +
		"--task logistic --radius 1 --clip 1 --step-size 0.1 --method priv-pub --epochs 4 --eps 2 --delta 1e-5"
	for _, command := range []string{
		"solve --K 11 --m 3",
		"solve --K 10 --m 3 --eps 0.123456789 --prior worst-case",
		"solve --K 21 --label-eps 0.25 --eps inf --affected 1",
		"verify t.json",
		"sweep --K 11,15 --m 1:3 --eps 0.1 --teacher-delta 1e-5,1e-4",
		"plan --K 11 --eps inf --data disjoint --budget-eps 2 --budget-delta 1e-5 --queries 3 " +
			"--agreement 0",
		"plan --K 11 --eps 0.1 --teacher-delta 0 --teachers frozen --budget-eps 2 --budget-delta 0 " +
			"--queries 1000",
		"aggregate VOTES --m 3 --eps 0.13577 --teacher-delta 1e-4 --accept-weak --dry-run",
		"aggregate VOTES --m 3 --eps 0.13577 --teacher-delta 1e-4 --insecure-seed 1 --force " +
			"--out sim.csv",
		"aggregate VOTES --mechanism gnmax --label-eps 0.4 --delta 1e-5 --affected 1 --dry-run " +
			"--records 10 --accept-weak",
		"compare VOTES --m 3 --eps 0.13577 --teacher-delta 1e-4",
		"compare VOTES --eps inf --label-eps 0.4 --delta 1e-5 --affected 1",
		"account --K 11 --m 3 --eps 0.1 --teacher-delta 1e-5 --queries 1,20 --slack 1e-4",
		"account --K 250 --mechanism gnmax --label-eps 2 --delta 1e-4 --data disjoint --queries " +
			"1,1000000 --records 100",
		"account train --n 100 --epochs 5 --step-size 0.1 --clip 1 --noise 2 --delta 1e-5",
		"bounds " + training,
		"train shuffled " + training + " --dry-run",
		"votes describe VOTES",
		"budget show book.ledger",
		"budget history book.ledger",
		"budget verify book.ledger",
		"cache list",
		"cache path",
		"version",
		"experiment list",
		"experiment run figure-a.1 --quick",
	} {
		for _, width := range clitest.Widths {
			t.Setenv("COLUMNS", fmt.Sprint(width))
			args := strings.Fields(strings.ReplaceAll(command, "VOTES", votes))
			stdout, stderr := runDarrm(t, args...)
			if strings.HasPrefix(stdout, "{") {
				stdout = "" // JSON is for programs
			}
			clitest.CheckWidth(t, command, stdout, width)
			clitest.CheckWidth(t, command, stderr, width)
		}
	}
}

// So does the help of every command.
func TestHelpFitsTheTerminal(t *testing.T) {
	var commands [][]string
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		commands = append(commands, strings.Fields(c.CommandPath())[1:])
	})
	for _, width := range clitest.Widths {
		t.Setenv("COLUMNS", fmt.Sprint(width))
		for _, args := range commands {
			stdout, _ := runDarrm(t, append([]string{"help"}, args...)...)
			clitest.CheckWidth(t, fmt.Sprint("help ", args), stdout, width)
		}
	}
}
