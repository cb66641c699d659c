package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/web/answer"
)

// same compares the page's report with the command's, but for what names parameters: the page has fields where the
// command has flags.
func same(t *testing.T, what string, page any, command []byte) {
	t.Helper()
	var got, want map[string]any
	if err := errors.Join(json.Unmarshal(must.Get(json.Marshal(page))(t), &got), json.Unmarshal(command, &want)); err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if _, has := got[name]; !has {
			t.Errorf("%s: the page has no %s", what, name)
		}
	}
	for name, value := range got {
		if !slices.Contains([]string{"notes", "warnings", "refused"}, name) && !reflect.DeepEqual(value, want[name]) {
			t.Errorf("%s: %s:\n page    %v\n command %v", what, name, value, want[name])
		}
	}
}

// The page answers as the commands do, figure by figure, and its command is one that answers so: random requests of
// plan, and of compare.
func TestPageAnswersAsTheCommands(t *testing.T) {
	t.Setenv("DARRM_CACHE", t.TempDir())
	rng := rand.New(rand.NewPCG(51, 2))
	pick := func(values ...string) string { return values[rng.IntN(len(values))] }
	for range 8 {
		k := 2 + rng.IntN(4)
		s := answer.Stated{"K": fmt.Sprint(k), "queries": pick("1", "3", "20"), "budget-eps": pick("0.5", "2", "3.7"), "budget-delta": "0",
			"agreement": pick("0", "0.85")} // which the page wants 0.9 of by default, and the command nothing
		for flag, value := range map[string]string{"affected": fmt.Sprint(1 + rng.IntN(k)), "prior-mean": "0.8", "num-classes": pick("2", "3")} {
			if rng.IntN(2) == 0 {
				s[flag] = value
			}
		}
		if rng.IntN(3) == 0 {
			s["eps"], s["teacher-delta"], s["teachers"] = pick("0.1", "1"), "0", pick("fresh", "frozen")
		}
		p, err := answer.NewPlan(t.Context(), s, nil, nil)
		if err != nil {
			t.Errorf("%v: %v", s, err)
			continue
		}
		args := strings.Fields(answer.PlanCommand(s))[1:]
		want := runs(t, append(slices.Clone(args), "--json")...)
		same(t, fmt.Sprint(args), p.Report, want)
	}
	const data = "query,t1,t2,t3,label\na,0,1,1,1\nb,1,1,1,1\nc,0,0,1,0\n"
	file := filepath.Join(t.TempDir(), "v.csv")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, stated := range []answer.Stated{{"budget-eps": "2", "budget-delta": "0"}, {"budget-eps": "1", "budget-delta": "0", "affected": "1"}} {
		c := must.Get(answer.Compare(t.Context(), stated, file, []byte(data)))(t)
		want := runs(t, append(strings.Fields(c.Command)[1:], "--json")...)
		same(t, c.Command, c.Report, want)
	}
}
