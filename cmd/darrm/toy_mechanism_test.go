package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// A new mechanism is two files, its law and its row in the table: flags, completion, help,
// comparison, plan, release, ledger and service follow from the row.
func TestToyMechanism(t *testing.T) {
	t.Parallel()
	program := must.Get(toyProgram())(t)
	dir := must.Get(os.MkdirTemp("", "toy"))(t) // the name of a socket has little room
	t.Cleanup(func() { os.RemoveAll(dir) })
	votes := filepath.Join(dir, "votes.csv")
	if err := os.WriteFile(votes, []byte("t1,t2,t3\n1,1,1\n0,1,0\n1,0,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	planned := []string{"plan", "--K", "3", "--eps", "inf", "--affected", "1", "--budget-eps", "6",
		"--budget-delta", "0", "--queries", "3"}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"toy-flip", []string{"aggregate", "--help-all"}},
		{"toy-flip", []string{"account", "--help-all"}},
		{"toy-flip", []string{"serve", "--help-all"}},
		{"toy-flip", []string{"compare", "--help-all"}},
		{"toy-flip\n", []string{"__complete", "aggregate", "--mechanism", ""}},
		{"toy-flip\n", []string{"__complete", "serve", "--mechanism", ""}},
		{"\n toy-flip ", []string{"compare", votes, "--eps", "inf", "--label-eps", "1", "--affected",
			"1"}},
		{"\n toy-flip ", planned},
		{"--mechanism toy-flip --label-eps 2", append(planned, "--json")},
		{" 3 0 0.6 ", strings.Fields("account --mechanism toy-flip --K 3 --label-eps 0.2 --affected 1 " +
			"--queries 3")},
	} {
		got := toyRun(t, program, tt.args...)
		if words := strings.Join(strings.Fields(got), " "); !strings.Contains(got, tt.want) &&
			!strings.Contains(words, tt.want) {
			t.Errorf("darrm %s has no %q:\n%s", strings.Join(tt.args, " "), tt.want, got)
		}
	}

	// It is scored by its own law: the truth in e/(e+1) of all cases.
	var compared struct {
		Mechanisms []struct {
			Name  string `json:"mechanism"`
			Score struct{ Agreement float64 }
		}
	}
	out := toyRun(t, program, "compare", votes, "--eps", "inf", "--label-eps", "1", "--affected", "1",
		"--json")
	if err := json.Unmarshal([]byte(out), &compared); err != nil {
		t.Fatal(err)
	}
	scored := false
	for _, m := range compared.Mechanisms {
		if m.Name == "toy-flip" {
			scored = math.Abs(m.Score.Agreement-math.E/(math.E+1)) < 1e-9
		}
	}
	if !scored {
		t.Errorf("it is not among what is compared:\n%s", out)
	}

	// It releases, is charged by its name, and answers on line. At ε = 50 a label is wrong with e⁻⁵⁰.
	book := filepath.Join(dir, "patients.ledger")
	if _, err := ledger.Create(t.Context(), book, must.Get(ledger.NewBudget(200, 0))(t),
		ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	labels := filepath.Join(dir, "labels.csv")
	mechanism := []string{"--mechanism", "toy-flip", "--label-eps", "50", "--affected", "1",
		"--ledger", book, "--accept-weak"}
	toyRun(t, program, append([]string{"aggregate", votes, "--request-id", "march", "--slack", "0",
		"--out", labels}, mechanism...)...)
	if got := string(must.Get(os.ReadFile(labels))(t)); got != "query,label\n0,1\n1,0\n2,1\n" {
		t.Errorf("labels %q", got)
	}
	socket := filepath.Join(dir, "s")
	s := &servetest.Server{Program: program, Socket: socket, Args: append([]string{
		"serve", "--K", "3", "--key", filepath.Join(dir, "key"), "--listen", "unix:" + socket,
	}, mechanism...)}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	client := servetest.NewClient(socket)
	defer client.Close()
	a, err := client.Once(t.Context(), "image-1", []int{1, 2})
	if err != nil || a.Class == nil || *a.Class != 1 {
		t.Errorf("on line it answers %+v, %v", a, err)
	}
	var charged []string
	for _, e := range historyOf(t, book) {
		if what := release.Describe(e.Event); what != "" {
			charged = append(charged, fmt.Sprintf("%v for %s", e.Total(), what))
		}
	}
	if want := []string{"(150, 0) for 3 labels by toy-flip, each (50, 0)-DP",
		"(50, 0) for 1 label by toy-flip, (50, 0)-DP"}; !slices.Equal(charged, want) {
		t.Errorf("charged %q, want %q", charged, want)
	}
}

// docs/concepts.md lists the table of mechanisms.
func TestMechanismsPage(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "concepts.md")))(t))
	for _, d := range ensemble.Mechanisms() {
		needs := "`--label-eps`, `--affected`"
		switch {
		case d.Teachers:
			needs = "two classes, `--eps`, `--teacher-delta`, `--m`"
		case d.Table == ensemble.AnswersTable:
			needs = "`--table`, by `darrm solve --queries`"
		case d.Table == ensemble.LabelTable:
			needs = "`--table`, by `darrm solve --queries --mechanism`"
		case d.Delta:
			needs += ", `--delta`"
		}
		if row := "| `" + d.Name + "` | " + d.About + " | " + needs +
			" |\n"; !strings.Contains(page, row) {
			t.Errorf("docs/concepts.md does not have the row\n%s", row)
		}
	}
}
