package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// runs executes a command line and returns what it wrote to stdout.
func runs(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, talk bytes.Buffer
	root := cli.NewRoot(&cli.App{In: strings.NewReader(""), Out: &out, Err: &talk}, commandGroups)
	root.SetArgs(args)
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, talk.String())
	}
	return out.Bytes()
}

type plannedJSON struct {
	NoNoise bool `json:"no_noise_needed"`
	Choices []struct {
		Mechanism string
		PerLabel  jsonCost `json:"per_label"`
		AllLabels jsonCost `json:"all_labels"`
		Args      []string
		// of the command to run before
		PrepareArgs []string `json:"prepare_args"`
	}
}

type jsonCost struct{ Epsilon, Delta float64 }

// What plan prints is what aggregate says and what a ledger of exactly the budget is charged,
// for every choice of every kind of teachers. Each command is run as printed, on votes of as
// many queries, with no flag but those of the dry run and the ledger added.
func TestPlannedCommandsCostWhatWasPlanned(t *testing.T) {
	for i, c := range []struct {
		teachers           string
		k, classes         int
		queries            int
		epsilon, delta     string
		mechanisms, ledger []string // the ledger's flags beside the request id
	}{
		{"--eps inf --data disjoint", 9, 2, 10, "1.7", "1e-5",
			[]string{"gnmax", "lnmax", "many-answers", "optimal-counts", "permute-and-flip"}, nil},
		{"--eps inf --affected 3 --neighbours add-remove", 9, 2, 10, "1.7", "1e-5",
			[]string{"gnmax", "lnmax", "many-answers", "optimal-counts", "permute-and-flip"}, nil},
		{"--eps inf --affected 1 --prior-mean 0.6", 20, 2, 7, "3", "0",
			[]string{"lnmax", "optimal-counts", "permute-and-flip"}, nil},
		{"--eps inf --affected 2 --abstentions", 9, 3, 10, "6", "1e-6",
			[]string{"confident-gnmax", "gnmax-renyi", "lnmax", "many-answers", "optimal-counts",
				"permute-and-flip"}, nil},
		{"--eps inf --affected 1", 9, 3, 10, "6", "1e-6",
			[]string{"gnmax", "lnmax", "many-answers", "optimal-counts", "permute-and-flip"}, nil},
		{"--eps 0.3 --teacher-delta 1e-7 --teachers fresh", 7, 2, 12, "2.5", "1e-4",
			[]string{"gnmax", "lnmax", "many-answers", "optimal-teachers", "permute-and-flip"},
			[]string{"--teachers", "fresh"}},
		{"--eps 0.3 --teacher-delta 0 --teachers fresh --affected 2", 7, 2, 3, "1.9", "0",
			[]string{"lnmax", "optimal-teachers", "permute-and-flip"}, []string{"--teachers", "fresh"}},
		{"--eps 0.3 --teacher-delta 1e-7 --teachers frozen --affected 5", 7, 2, 1000, "1.5", "1e-6",
			[]string{"optimal-teachers"}, []string{"--teachers", "frozen", "--ensemble", "e"}},
		{"--eps 0.3 --teacher-delta 1e-7 --teachers frozen --affected 5", 7, 2, 10, "1.49", "1e-6",
			[]string{"gnmax", "lnmax", "many-answers", "optimal-counts", "permute-and-flip"}, nil},
		{"--eps 0.3 --teacher-delta 1e-7 --teachers frozen --data disjoint", 7, 2, 1000, "0.3", "1e-7",
			[]string{"optimal-teachers"}, []string{"--teachers", "frozen", "--ensemble", "e"}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("DARRM_CACHE", filepath.Join(t.TempDir(), "cache"))
			row := make([]string, c.k)
			for j := range row {
				row[j] = fmt.Sprint(j % c.classes)
			}
			votes := []byte(strings.Repeat(strings.Join(row, ",")+"\n", c.queries))
			if err := os.WriteFile("votes.csv", votes, 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields("plan --json --agreement 0 "+c.teachers),
				"--K", fmt.Sprint(c.k), "--num-classes", fmt.Sprint(c.classes), "--queries",
				fmt.Sprint(c.queries), "--budget-eps", c.epsilon, "--budget-delta", c.delta)
			var planned plannedJSON
			if err := json.Unmarshal(runs(t, args...), &planned); err != nil {
				t.Fatal(err)
			}
			var names []string
			for j, choice := range planned.Choices {
				names = append(names, choice.Mechanism)
				ledger := fmt.Sprintf("l%d", j)
				budget := []string{"budget", "init", ledger, "--eps", c.epsilon, "--delta", c.delta}
				if strings.Contains(c.teachers, "add-remove") {
					budget = append(budget, "--neighbours", "add-remove")
				}
				runs(t, budget...)
				if before := choice.PrepareArgs; before != nil {
					runs(t, before[1:]...)
				}
				command := append(slices.Clone(choice.Args[1:]), "--header", "no", "--dry-run", "--json",
					"--ledger", ledger, "--request-id", "a")
				for f := 0; f < len(c.ledger); f += 2 {
					if !slices.Contains(command, c.ledger[f]) && (j == 0 || strings.HasPrefix(choice.Mechanism, "optimal-")) {
						command = append(command, c.ledger[f], c.ledger[f+1])
					}
				}
				if slices.Contains(command, "frozen") && !slices.Contains(command, "--ensemble") {
					command = append(command, "--ensemble", "e") // which a ledger needs
				}
				var quoted struct {
					Mechanism string
					PerLabel  jsonCost  `json:"per_label"`
					Frozen    *jsonCost `json:"all_labels_frozen_teachers"`
					Fresh     jsonCost  `json:"all_labels_fresh_teachers"`
					Charge    struct{ Epsilon, Delta json.Number }
				}
				if err := json.Unmarshal(runs(t, command...), &quoted); err != nil {
					t.Fatal(err)
				}
				total := quoted.Fresh
				if slices.Contains(c.ledger, "frozen") {
					total = *quoted.Frozen
				}
				if name := strings.TrimSuffix(choice.Mechanism, "_renyi"); quoted.Mechanism != name ||
					quoted.PerLabel != choice.PerLabel || total != choice.AllLabels {
					t.Errorf("planned %+v, but aggregate says %+v", choice, quoted)
				}
				// The charge is the total, rounded up to whole units, and fits, or the dry run had failed.
				charged, _ := quoted.Charge.Epsilon.Float64()
				if charged < total.Epsilon || charged > total.Epsilon+1e-11 {
					t.Errorf("%s: charged %v, planned %v", choice.Mechanism, charged, total.Epsilon)
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, c.mechanisms) {
				t.Errorf("choices %v, want %v", names, c.mechanisms)
			}
		})
	}
}
