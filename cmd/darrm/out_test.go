package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release/exitcode"
)

// outCommands are the commands with --out, and arguments that are right but for it. None of the
// files is there.
var outCommands = map[string]string{
	"darrm aggregate":           "votes.csv --m 1 --eps 0.5 --teacher-delta 1e-5 --insecure-seed 1",
	"darrm budget report":       "ledger",
	"darrm certify":             "gamma.csv --K 5 --label-eps 1",
	"darrm experiment run":      "figure-a.1 --quick",
	"darrm experiment show":     "figure-3.2",
	"darrm federated aggregate": "plan.json round.json answer",
	"darrm federated encode":    "plan.json round.json --silo 1 --private a.csv --ledger ledger",
	"darrm federated init":      "--silos 4,3,3 --columns a,b --response y --task logistic --clip 1 --difference-clip 1 --step-size 0.5 --rounds 2 --eps 8 --delta 1e-5 --round r",
	"darrm federated local":     "plan.json round.json --silo 1 --private a.csv --ledger ledger",
	"darrm federated pass":      "--secrets secrets --silo 1",
	"darrm federated shuffle":   "plan.json round.json answer --book .",
	"darrm label-law":           "--mechanism permute-and-flip --K 5 --label-eps 1 --data disjoint",
	"darrm mean decode":         "message --k 2 --d 4",
	"darrm mean encode":         "x.npy --k 2 --client 1",
	"darrm mean simulate":       "--n 2 --k 2 --d 4 --trials 2",
	"darrm predict":             "model.json a.csv",
	"darrm report":              "results",
	"darrm solve":               "--K 3 --m 1 --eps 0.1",
	"darrm sweep":               "--K 3 --m 1 --eps 0.1",
	"darrm train":               "a.csv --response y --task logistic --radius 1 --eps 1 --delta 1e-6",
	"darrm train convex":        "--private a.csv --response y --task logistic --set l2:10 --radius 1 --eps 1 --delta 1e-6",
	"darrm train describe":      "a.csv --public-schema",
	"darrm train federated":     "--private a.csv --response y --silos 3,3 --task logistic --clip 1 --difference-clip 1 --step-size 0.5 --eps 5 --delta 1e-3",
	"darrm train metric":        "--private a.csv --response y --task logistic --radius 1 --ball 10 --eps 2 --delta 1e-6",
	"darrm train pairwise":      "--private a.csv --response y --task logistic --radius 1 --ball 3 --eps 1 --delta 1e-6",
	"darrm train shuffled":      "--private a.csv --response y --task logistic --radius 1 --clip 1 --step-size 0.1 --eps 1 --delta 1e-6",
}

// outRefused is a value of --out, the rule that it breaks and the exit code.
type outRefused struct {
	out, rule string
	code      exitcode.Code
}

// neverReplaced are the commands that replace no file without --force.
var neverReplaced = map[string]outRefused{
	"darrm aggregate": {code: exitcode.Usage, rule: "the file exists, and it may be a release that " +
		"was paid for: give another --out, or --force"},
	"darrm federated init": {rule: "the file exists: silos may use it already",
		code: exitcode.Output},
	"darrm train":           newDraw,
	"darrm train convex":    newDraw,
	"darrm train federated": newDraw,
	"darrm train metric":    newDraw,
	"darrm train pairwise":  newDraw,
	"darrm train shuffled":  newDraw,
}

var newDraw = outRefused{rule: "the file exists, and a new draw would be a second release",
	code: exitcode.Usage}

// What cannot be written is found before anything is read or charged: no file that the arguments
// name is there. The error names the flag, the path and the rule.
func TestEveryOutIsChecked(t *testing.T) {
	var found []string
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		if c.Flag("out") != nil && c.LocalFlags().Lookup("out") != nil {
			found = append(found, c.CommandPath())
		}
	})
	for _, path := range found {
		args, ok := outCommands[path]
		if !ok {
			t.Errorf("%s has --out: add it to this test", path)
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, make := range map[string]func(string) error{
				"folder": func(p string) error { return os.Mkdir(p, 0o777) },
				"file":   func(p string) error { return os.WriteFile(p, []byte("mine"), 0o666) },
			} {
				if err := make(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			refused := []outRefused{
				{"nowhere/out.csv", `there is no folder "nowhere"`, exitcode.Output},
				{"folder", "it is a directory, not a file", exitcode.Output},
				{"file/out.csv", `"file" is a file, not a folder`, exitcode.Output},
			}
			if path == "darrm experiment run" { // into a folder, which it makes
				refused = []outRefused{
					{"file", `"file" is a file, not a folder`, exitcode.Output},
					{"file/below/out", `"file" is a file, not a folder`, exitcode.Output},
				}
			}
			kept := 2
			if why, never := neverReplaced[path]; never {
				if why == newDraw { // found once the records are read
					if err := os.WriteFile(filepath.Join(dir, "a.csv"),
						[]byte("a,b,y\n1,0,1\n0,1,0\n1,1,1\n0,0,0\n1,0,0\n0,1,1\n"), 0o666); err != nil {
						t.Fatal(err)
					}
					kept++
				}
				refused = append(refused, outRefused{"file", why.rule, why.code})
			}
			for _, x := range refused {
				all := slices.Concat(strings.Fields(path)[1:], strings.Fields(args), []string{"--out", x.out})
				code, said := exitOf(t, dir, all...)
				if want := `--out = "` + x.out + `", but ` + x.rule; code != int(x.code) ||
					!strings.Contains(said, want) {
					t.Errorf("%s --out %s: exit code %d, %q, want %d, %q", path, x.out, code, said, x.code, want)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "*"))
			if left = slices.DeleteFunc(left, func(p string) bool {
				return filepath.Base(p) == "cache"
			}); err != nil || len(left) != kept {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(b) != "mine" {
				t.Errorf("the file that was there: %q, %v", b, err)
			}
		})
	}
	if len(found) != len(outCommands) {
		t.Errorf("%d commands have --out, but %d are known", len(found), len(outCommands))
	}
}
