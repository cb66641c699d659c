package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ensemble"
)

// The row that compare marks within a budget is what aggregate takes with the same flags, with the
// same figures, whatever the votes are: also where another row agrees with them more often. The bound
// of a row lies above its score.
func TestComparedWithinABudgetIsWhatAggregateTakes(t *testing.T) {
	overtaken := false
	for i, c := range []struct {
		votes      string // one row, of which there are ten
		other      string // another one, of which there are two
		flags      string
		all        string // "frozen" where the training is all that is charged
		most       int    // labels that the budget is for
		among, not string // a mechanism that is among the rows, and one that is refused
	}{
		{"1,1,1,1,1,0,0,0,0", "0,1,0,1,0,1,0,1,0", "--data disjoint", "", 12, "many-answers", ""},
		{"1,1,1,1,1,1,1,1,0", "0,1,0,1,0,1,0,1,0", "--data disjoint --queries 800", "", 800, "many-answers", ""},
		{"1,1,1,1,1,1,1,1,1", "0,0,0,0,0,0,0,0,0", "--affected 2 --neighbours add-remove --prior-mean 0.9 --queries 40", "", 40,
			"gnmax", ""},
		{"a,a,a,a,a,b,b,c,a", "b,b,c,b,b,b,b,b,a", "--classes a,b,c --data disjoint --queries 30", "", 30, "many-answers", ""},
		{"a,a,a,a,a,b,b,,a", "b,b,c,b,b,b,b,b,a", "--classes a,b,c --missing abstain --data disjoint --queries 30", "", 30, "lnmax",
			"optimal-counts"},
		{"1,1,1,1,1,0,0,0,0", "0,1,0,1,0,1,0,1,0", "--eps 0.3 --teacher-delta 1e-7 --teachers fresh", "", 12, "optimal-teachers", ""},
		{"1,1,1,1,1,0,0,0,0", "0,1,0,1,0,1,0,1,0", "--eps 0.3 --teacher-delta 1e-7 --teachers frozen --affected 2", "frozen", 12,
			"optimal-teachers", ""},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("DARRM_CACHE", filepath.Join(t.TempDir(), "cache"))
			votes := strings.Repeat(c.votes+"\n", 10) + strings.Repeat(c.other+"\n", 2)
			if err := os.WriteFile("votes.csv", []byte(votes), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := strings.Fields("votes.csv --header no --K 9 --json --budget-eps 2.5 --budget-delta 1e-5 " + c.flags)
			var compared struct {
				Answers    int
				Mechanisms []struct {
					Mechanism, Refused string
					Chosen             bool
					PerAnswer          jsonCost `json:"per_answer"`
					AllAnswers         jsonCost `json:"all_answers"`
					Expected           float64  `json:"expected_agreement"`
					ensemble.Figures
					Score *struct{ Agreement float64 }
					Upper *float64 `json:"upper_bound"`
				}
			}
			if err := json.Unmarshal(runs(t, append([]string{"compare"}, flags...)...), &compared); err != nil {
				t.Fatal(err)
			}
			var quoted struct {
				Mechanism string
				PerLabel  jsonCost  `json:"per_label"`
				Frozen    *jsonCost `json:"all_labels_frozen_teachers"`
				Fresh     jsonCost  `json:"all_labels_fresh_teachers"`
				Expected  float64   `json:"expected_agreement"`
				ensemble.Figures
			}
			if err := json.Unmarshal(runs(t, append([]string{"aggregate", "--dry-run"}, flags...)...), &quoted); err != nil {
				t.Fatal(err)
			}
			total := quoted.Fresh
			if c.all == "frozen" {
				total = *quoted.Frozen
			}
			if compared.Answers != c.most {
				t.Errorf("the budget is for %d answers, want %d", compared.Answers, c.most)
			}
			chosen, best, score, found, refused := 0, 0.0, 0.0, false, c.not == ""
			for _, m := range compared.Mechanisms {
				refused = refused || m.Mechanism == c.not && m.Refused != ""
				if m.Score == nil {
					continue
				}
				found = found || m.Mechanism == c.among
				best = max(best, m.Score.Agreement)
				if m.Upper != nil && m.Score.Agreement > *m.Upper {
					t.Errorf("%s agrees in %v, above its bound %v", m.Mechanism, m.Score.Agreement, *m.Upper)
				}
				if !m.Chosen {
					continue
				}
				chosen++
				score = m.Score.Agreement
				if m.Mechanism != quoted.Mechanism || m.PerAnswer != quoted.PerLabel || m.AllAnswers != total ||
					m.Expected != quoted.Expected || m.Figures != quoted.Figures {
					t.Errorf("compare marks %+v, but aggregate takes %+v", m, quoted)
				}
			}
			if chosen != 1 || !found || !refused {
				t.Errorf("%d rows are marked; %s: %v, %s refused: %v", chosen, c.among, found, c.not, refused)
			}
			overtaken = overtaken || best > score+1e-9
		})
	}
	if !overtaken {
		t.Error("the marked row is always the best on these votes: nothing tells that the prior chose it")
	}
}
