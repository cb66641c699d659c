package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// Whether two draws of fresh teachers have equal votes is not paid for, so nothing that a ledger
// shows may differ by it: not its file, nor the page, the report, the history, the sums. Nor may it
// differ by what the refusal made who asked say.
//
// The attack: K = 11 teachers whose votes are ε-DP with ε = 1, one query asked twice of teachers
// that vote anew, m = 0.1, so that (0.2, 0) is charged. A vote is "yes" with probability p, or e·p
// for the neighbouring data, so that two draws are equal with probability (p²+(1-p)²)¹¹: .499 for p
// = .0316, and .153 for the neighbour. Who sees "equal" has an event with .499 > e^.2·.153, by
// .313, where δ = 0 is promised. The test has no chance in it: it compares what is seen in the two
// cases.
func TestEqualVotesTellNothing(t *testing.T) {
	const first, other = "1,0,1,1,0,0,1,1,1,0,1", "1,0,1,1,0,0,1,1,1,0,0"
	worlds := []struct {
		name, second string
		tries        [][]string // the last succeeds
	}{
		{"other votes", other, [][]string{{}}},
		{"equal votes, refused and stated", first, [][]string{{}, {"--dry-run"}, {"--votes-cast-anew"}}},
		{"equal votes, stated at once", first, [][]string{{"--votes-cast-anew"}}},
		{"other votes, stated", other, [][]string{{"--votes-cast-anew"}}},
	}
	equal := func(p float64) float64 { return math.Pow(p*p+(1-p)*(1-p), 11) }
	here, neighbour := equal(0.0316), equal(math.E*0.0316)
	must.Near(t, "P[equal]", here, 0.499, 1e-3)
	must.Near(t, "P[equal] of the neighbour", neighbour, 0.153, 2e-3)
	delta := here - math.Exp(0.2)*neighbour
	must.Near(t, "δ(0.2)", delta, 0.313, 2e-3)
	t.Setenv("DARRM_CACHE", t.TempDir())
	var seen [][]string
	for _, w := range worlds {
		t.Chdir(t.TempDir())
		runDarrm(t, "budget", "init", "l", "--eps", "5", "--delta", "0.001")
		ask := func(id, row string, more ...string) error {
			head := "t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,t11\n"
			if err := os.WriteFile("votes.csv", []byte(head+row+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := tryDarrm(t,
				append(strings.Fields("aggregate votes.csv --K 11 --m 0.1 --eps 1 --teacher-delta 0 --ledger "+
					"l --teachers fresh --request-id "+id+" --out "+id+".csv -q"), more...)...)
			return err
		}
		if err := ask("march", first); err != nil {
			t.Fatal(err)
		}
		for i, more := range w.tries {
			if err := ask("april", w.second, more...); (err == nil) != (i == len(w.tries)-1) {
				t.Fatalf("%s: %q: %v", w.name, more, err)
			}
		}
		seen = append(seen, lookAt(t, "l"))
	}
	for i, got := range seen[1:] {
		for j, text := range got {
			if text != seen[0][j] {
				t.Errorf("%q is seen, so that δ(0.2) = %.3f where 0 was charged: from %q\n%s\ndiffers from\n%s",
					worlds[i+1].name, delta, looks[j], text, seen[0][j])
			}
		}
	}
}

// looks are all commands that show a ledger.
var looks = []string{"file", "budget show l", "budget show l --json", "budget history l",
	"budget history l --json", "budget verify l", "budget verify l --json", "budget report l",
	"budget report l --json"}

// lookAt returns what each shows, with times left out, results too, which are digests of what was
// released, and other digests and ids numbered: equal ones have one number.
func lookAt(t *testing.T, path string) (seen []string) {
	l := must.Get(ledger.Open(t.Context(), path))(t)
	var results []string
	for _, e := range must.Get(l.History(t.Context()))(t) {
		if e.Kind == ledger.KindResult {
			name := e.Result.String()
			results = append(results, name, "result", name[:16], "result", name[:8]+"…", "result")
		}
	}
	if len(results) != 12 {
		t.Fatalf("%d results", len(results)/6)
	}
	unresulted := strings.NewReplacer(results...)
	times := regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:]+(\.\d+)?(Z| UTC)|on \d+ \w+ \d{4}`)
	random := regexp.MustCompile(`[0-9a-f]{16,}|[0-9a-f]{8}…`)
	numbers := map[string]string{}
	for _, look := range looks {
		text := string(must.Get(os.ReadFile(path))(t))
		if look != "file" {
			text, _ = runDarrm(t, strings.Fields(look)...)
		}
		text = times.ReplaceAllString(unresulted.Replace(text), "time")
		seen = append(seen, random.ReplaceAllStringFunc(text, func(s string) string {
			if numbers[s] == "" {
				numbers[s] = fmt.Sprintf("#%d", len(numbers))
			}
			return numbers[s]
		}))
	}
	return seen
}
