package answer

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

var small = Stated{"K": "7", "queries": "4", "budget-eps": "2", "budget-delta": "1e-6",
	"affected": "1"}

func TestPlan(t *testing.T) {
	steps := 0
	var early *Plan
	a, err := NewPlan(t.Context(), small, func(int, int) { steps++ }, func(p *Plan) {
		if early != nil || steps == 0 {
			t.Errorf("an early plan after %d steps, the one before: %v", steps, early)
		}
		early = p
	})
	if err != nil {
		t.Fatal(err)
	}
	best := a.Report.Choices[0]
	meaning, err := release.Meaning(best.AllLabels, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != len(a.Report.Choices) || len(a.Rows[0]) != len(a.Header) || steps == 0 ||
		a.Rows[0][0] != best.Title || best.Command == "" ||
		!strings.Contains(a.Sentence, lowerFirst(meaning)) {
		t.Errorf("a plan: %+v, %d steps", a, steps)
	}
	// What comes at once is among what comes later, with the same figures.
	if early == nil || early.Report.Advice != nil || early.Report.Choices[0].Command == "" {
		t.Fatalf("what comes at once: %+v", early)
	}
	for _, row := range early.Rows {
		if !slices.ContainsFunc(a.Rows, func(r []string) bool { return slices.Equal(r, row) }) {
			t.Errorf("the plan has no row %q: %q", row, a.Rows)
		}
	}
	if len(early.Rows) >= len(a.Rows) {
		t.Errorf("%d rows at once, %d in all", len(early.Rows), len(a.Rows))
	}
	for _, c := range early.Report.Choices {
		if d, _ := ensemble.Describe(c.Mechanism); d.Table != ensemble.NoTable {
			t.Errorf("%s is a table, and comes at once", c.Mechanism)
		}
	}
	for _, refused := range early.Report.Refused {
		if d, _ := ensemble.Describe(refused.Mechanism); d.Table == ensemble.NoTable || refused.Why != plan.ErrBeingMade.Error() {
			t.Errorf("%+v", refused)
		}
	}
}

// What is left out means the worst case: one record reaches every teacher, and they promise nothing.
func TestRequestLeavesNothingToHope(t *testing.T) {
	r, err := request(Stated{"K": "7", "queries": "4", "budget-eps": "2", "budget-delta": "1e-6"}, nil)
	if err != nil || r.Reach(r.K) != 7 || !math.IsInf(r.Each().Epsilon, 1) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = request(Stated{"K": "7", "queries": "4", "budget-eps": "2", "budget-delta": "1e-6", "affected": "2"}, nil)
	if err != nil || r.Reach(r.K) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPlanRefuses(t *testing.T) {
	with := func(flag, value string) Stated {
		s := Stated{flag: value}
		for k, v := range small {
			if k != flag {
				s[k] = v
			}
		}
		return s
	}
	for _, c := range []struct {
		s    Stated
		want string
	}{
		{with("K", "ten"), "“Teachers”"}, {with("K", ""), "number of teachers K"},
		{with("num-classes", "1"), "classes"}, {with("budget-eps", "NaN"), "“Budget: ε of all labels”"},
		{with("budget-eps", "0"), "budget epsilon"}, {with("queries", "1.5"), "“Labels”"},
		{with("affected", "8"), "affected"}, {with("eps", "0.1"), "teachers"},
		{with("K", "151"), "at most 150 teachers"}, {with("queries", "10001"), "at most 10000 labels"},
		{with("prior-mean", "0.4"), "prior mean"}, {with("agreement", "2"), "agreement"},
	} {
		if _, err := NewPlan(t.Context(), c.s, nil, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.s, err, c.want)
		}
	}
}

func TestMeaning(t *testing.T) {
	if got := Meaning(small); !strings.Contains(got, "7.39 times") {
		t.Error(got)
	}
	for _, s := range []Stated{{}, {"budget-eps": "0"}, {"budget-eps": "x"}, {"budget-eps": "1", "budget-delta": "1"},
		{"budget-eps": "Inf"}} {
		if got := Meaning(s); got != "" {
			t.Errorf("%v: %s", s, got)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		s    Stated
		want bool
	}{
		{small, false}, {Stated{"K": "150", "queries": "10000"}, false}, {Stated{"K": "151"}, true},
		{Stated{"K": "50", "num-classes": "4"}, plurality.Histograms(50, 4) > mostHistograms},
		{Stated{"K": "100", "num-classes": "10"}, true}, {Stated{"K": "11", "queries": "10001"}, true},
	} {
		b := TooLarge(c.s)
		if (b != nil) != c.want || b != nil && !strings.HasPrefix(b.Command, "darrm plan --K ") {
			t.Errorf("%v: %+v", c.s, b)
		}
	}
}

func TestCurve(t *testing.T) {
	small := maps.Clone(small)
	small["budget-delta"] = "0" // which no table for many answers keeps: they take the time
	for over := range axes {
		axis, err := Axis(small, over)
		if err != nil || !slices.IsSorted(axis) || len(axis) < 4 {
			t.Fatal(over, axis, err)
		}
		at, err := small.number(over, over, 0)
		if err != nil || !slices.Contains(axis, at) {
			t.Errorf("%s: %v has not what is stated, %v", over, axis, at)
		}
		first, last := axis[0], axis[len(axis)-1]
		low, err := NewPoint(t.Context(), small, over, first)
		if err != nil {
			t.Fatal(err)
		}
		high, err := NewPoint(t.Context(), small, over, last)
		if err != nil {
			t.Fatal(err)
		}
		if low.Agreement == nil || high.Agreement == nil ||
			(*low.Agreement < *high.Agreement) != (over != "queries") {
			t.Errorf("%s: %+v at %v, %+v at %v", over, low, first, high, last)
		}
		svg, err := DrawCurve(small, over, []Point{low, high}, 0)
		if err != nil || strings.Count(svg, "<circle") != 2 || strings.Count(svg, " rough") != 1 {
			t.Errorf("%s: %v %s", over, err, svg)
		}
		// Neighbours on the axis are joined by what was worked out.
		low.X = axis[len(axis)-2]
		svg, err = DrawCurve(small, over, []Point{low, high}, 0)
		if err != nil || strings.Contains(svg, " rough") || !strings.Contains(svg, `<polyline class="curve c1"`) {
			t.Errorf("%s, neighbours: %v %s", over, err, svg)
		}
	}
	// The line of what is wanted is at 0.9 unless another agreement is.
	drawn := map[string]string{}
	for _, wanted := range []string{"", "0.9", "0.8"} {
		s := maps.Clone(small)
		s["agreement"] = wanted
		svg, err := DrawCurve(s, "K", nil, 0)
		if drawn[wanted] = svg; err != nil {
			t.Error(err)
		}
	}
	if drawn[""] != drawn["0.9"] || drawn[""] == drawn["0.8"] {
		t.Error("the wanted agreement is not 0.9 by default")
	}
	if _, err := Axis(small, "affected"); err == nil {
		t.Error("an axis that there is none of")
	}
	// A point is the plan at its value.
	p, err := NewPoint(t.Context(), small, "K", 7)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewPlan(t.Context(), small, nil, nil)
	own := a.Point
	own.X = p.X
	if err != nil || !reflect.DeepEqual(p, own) || !strings.HasPrefix(a.Short, p.Shown+" of 4 labels") {
		t.Errorf("%+v at what is stated, planned %v, %v", p, a.Report.Choices[0].Agreement, err)
	}
}

// An axis of teachers of more than two classes ends where the page does, and not before.
func TestAxisOfTeachersEndsWithThePage(t *testing.T) {
	two, err := Axis(Stated{"K": "60"}, "K")
	if err != nil {
		t.Fatal(err)
	}
	for classes, ends := range map[string]bool{"3": false, "4": true, "6": true} {
		s := Stated{"K": "60", "num-classes": classes}
		axis, err := Axis(s, "K")
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.count("num-classes", "", 0)
		last := int(axis[len(axis)-1])
		if err != nil || plurality.Histograms(last, n) > mostHistograms && last != 60 {
			t.Errorf("%s classes: the axis ends at %d teachers", classes, last)
		}
		most := int(two[len(two)-1])
		if full := last == most; full == ends || !full && plurality.Histograms(last+1, n) <= mostHistograms {
			t.Errorf("%s classes: the axis ends at %d teachers of %d", classes, last, most)
		}
	}
}

// Errors and notes name parameters as the page does.
func TestFieldNames(t *testing.T) {
	for parameter, want := range map[string]string{"affected": "“Teachers that one record reaches”", "data": "their reach",
		"number of teachers K": "the number of teachers", "classes": "“Classes”", "delta": "delta"} {
		if got := fieldName(parameter); got != want {
			t.Errorf("%s is called %s", parameter, got)
		}
	}
	for in, want := range map[string]string{"": "", "A": "a", "No One": "no One"} {
		if got := lowerFirst(in); got != want {
			t.Errorf("%q begins a sentence as %q", in, got)
		}
	}
}

// Formats that the page does not link are refused by their names, and the command is named.
func TestFilesThatThePageReads(t *testing.T) {
	for name, read := range map[string]bool{"v.csv": true, "v.tsv.gz": true, "v.txt": true, "v.parquet": false, "v.npy": false,
		"v.npz": false, "v.csv.zst": false} {
		rows, err := FirstRows(t.Context(), name, []byte("query,t1,t2\na,0,1\n"))
		if (err == nil) != read || read && len(rows) != 2 || !read && !strings.Contains(err.Error(), "darrm votes describe") {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}

const fewVotes = "query,t1,t2,t3,label\na,0,1,1,1\nb,1,1,1,1\nc,0,0,1,0\n"

func TestVotes(t *testing.T) {
	d, err := Describe(t.Context(), Stated{}, "v.csv", []byte(fewVotes))
	if err != nil {
		t.Fatal(err)
	}
	if d.Votes.Queries != 3 || d.Votes.K != 3 || len(d.Teachers) != 3 ||
		len(d.Teachers[0]) != len(d.Header) || strings.Count(d.Picture, "<rect") != 4 {
		t.Errorf("%+v", d)
	}
	for in, want := range map[string]struct {
		fact     string
		compares bool
	}{
		fewVotes: {"values: 0 (3), 1 (6)", true},
		"scan,t1,t2,t3\na,cat,dog,cat\nb,dog,dog,cat\n": {"id scan is proposed", true},
		"query,t1,t2\na,1,-1\nb,-1,-1\n":                {"asked: is -1 a class, or no answer?", false},
		"query,t1,t2,t3\na,1,0,\nb,0,1,1\n":             {"1 vote is missing: blank (1)", true},
	} {
		d, err := Describe(t.Context(), Stated{}, "v.csv", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if facts := strings.Join(d.Facts, "\n"); !strings.Contains(facts, want.fact) || d.Compares != want.compares ||
			strings.Contains(facts, "asked: ") != (d.Votes == nil) || (d.Votes == nil) != (len(d.Answers) > 0) {
			t.Errorf("%q: %+v", in, d)
		}
	}
	budget := Stated{"budget-eps": "2", "budget-delta": "1e-5", "affected": "1"}
	with := func(more Stated) Stated {
		s := maps.Clone(budget)
		maps.Copy(s, more)
		return s
	}
	for name, c := range map[string]struct {
		data   string
		stated Stated
		says   string // the flags of the file
	}{
		"v.csv": {fewVotes, nil, ""},
		"w.csv": {"scan,t1,t2,t3\na,cat,dog,cat\nb,dog,dog,cat\n", nil, " --id-column scan --classes cat,dog"},
		// An answer to what is asked, and a missing vote.
		"x.csv": {"query,t1,t2\na,1,-1\nb,-1,-1\n", Stated{"reading": "0"}, " --classes=-1,1"},
		"y.csv": {"query,t1,t2,t3\na,1,0,\nb,0,1,1\n", nil, " --missing abstain"},
		// Roles of columns without names.
		"z.csv.gz": {"q9,7,0,1,1\nq8,7,1,1,0\n", Stated{"header": "no", "roles": "id,-,vote,vote,vote"},
			" --id-column '#1' --label-column - --vote-columns '#3..#5' --header no"},
		"l.jsonl": {`{"q":"a","v":[1,0,1],"y":1}` + "\n", Stated{"roles": "id,vote,truth"},
			" --id-column q --label-column y --votes-column v"},
	} {
		got, err := Compare(t.Context(), with(c.stated), name, []byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := "darrm compare " + name + c.says + " --budget-eps 2 --budget-delta 1e-5 --affected 1"; len(got.Rows) < 3 ||
			got.Report.Private || got.Command != want || len(got.Release) == 0 {
			t.Errorf("%s: %s, want %s; %+v", name, got.Command, want, got)
		}
		release := got.Release[len(got.Release)-1]
		if !strings.HasPrefix(release, "darrm aggregate "+name+" ") || !strings.Contains(release, "--affected 1") {
			t.Errorf("%s: %s", name, release)
		}
		for flag := range strings.FieldsSeq(c.says) {
			if !strings.Contains(release, flag) {
				t.Errorf("%s: %s has no %s", name, release, flag)
			}
		}
	}
	for name, c := range map[string]struct {
		data string
		s    Stated
	}{
		"a cut row": {"query,t1,t2\na,0\n", budget}, "nothing": {"", budget}, "no budget": {fewVotes, Stated{"affected": "1"}},
		"what is asked":     {"query,t1,t2\na,1,-1\nb,-1,-1\n", budget},
		"no such answer":    {"query,t1,t2\na,1,-1\nb,-1,-1\n", with(Stated{"reading": "2"})},
		"no role of votes":  {fewVotes, with(Stated{"roles": "id,-,-,-,-"})},
		"an unknown role":   {fewVotes, with(Stated{"roles": "id,vote,vote,vote,label"})},
		"a role too little": {fewVotes, with(Stated{"roles": "id,vote,vote,vote"})},
	} {
		if _, err := Compare(t.Context(), c.s, "v.csv", []byte(c.data)); err == nil {
			t.Errorf("%s is compared", name)
		}
	}
}

// What was found is shown as roles, and the same roles, stated, read the same votes.
func TestRoles(t *testing.T) {
	for name, c := range map[string]struct{ file, data, want string }{
		"by their names":  {"v.csv", fewVotes, "id,vote,vote,vote,truth"},
		"without names":   {"v.csv", "0,1,1\n1,1,1\n", "vote,vote,vote"},
		"an index":        {"v.csv", ",t1,t2,t3\n0,1,1,0\n1,0,1,1\n", "id,vote,vote,vote"},
		"proposed, a gap": {"v.tsv", "scan\tage\tr_1\tr_2\tr_3\nx\t7.5\ta\tb\ta\ny\t7.25\ta\ta\tb\n", "id,-,vote,vote,vote"},
		"a list":          {"v.jsonl", `{"query":"a","votes":[1,0,1],"label":1}` + "\n" + `{"query":"b","votes":[1,1,1]}` + "\n", "id,vote,truth"},
		"keys":            {"v.jsonl", `{"t1":1,"query":"a","t2":0}` + "\n", "vote,id,vote"},
		"counts":          {"v.csv", "query,zeros,ones\na,3,4\nb,1,6\n", ""},
	} {
		d, err := Describe(t.Context(), Stated{}, c.file, []byte(c.data))
		if err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := strings.Join(d.Roles, ","); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
			continue
		}
		if c.want == "" || d.Votes == nil {
			continue
		}
		again, err := Describe(t.Context(), Stated{"roles": c.want}, c.file, []byte(c.data))
		if err != nil || again.Votes == nil || !slices.Equal(again.Votes.Histogram, d.Votes.Histogram) ||
			!slices.Equal(again.Roles, d.Roles) {
			t.Errorf("%s, stated: %+v, %v", name, again, err)
		}
	}
}

// tables returns a file of each kind of table.
func tables(t *testing.T) map[string][]byte {
	t.Helper()
	gamma, err := os.ReadFile("../../gamma/testdata/k11-m3-free.json")
	if err != nil {
		t.Fatal(err)
	}
	o := plurality.DefaultObjective(3)
	many, err := pluralitysolve.Optimal(t.Context(), plurality.Problem{K: 5, Classes: 3, Epsilon: 1,
		Affected: 1}, o, pluralitysolve.Options{Gap: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	all, err := answerssolve.Best(t.Context(), answers.Problem{K: 5, Classes: 3, Affected: 1,
		Answers: 3, Epsilon: 2, Delta: 1e-5}, answers.Prior{Objective: o}, answerssolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := noisymax.Best(t.Context(), noisymax.Problem{Teachers: 5, Classes: 3, Affected: 1, Answers: 3,
		Epsilon: 2, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{"gamma": gamma}
	for kind, table := range map[string]json.Marshaler{"plurality": many, "answers": all, "noise": &noisymax.Table{Certified: noise}} {
		if out[kind], err = table.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Every line of a table's certificate is shown and explained, and a table that claims more than it
// keeps is refused.
func TestCheck(t *testing.T) {
	unshown := []string{"format_version", "kind", "gamma", "masses", "proof", "proof_weights", "events",
		"solver", "version", "certificate"}
	for kind, data := range tables(t) {
		c, err := Check(t.Context(), data)
		if err != nil {
			t.Fatal(kind, err)
		}
		if !strings.HasPrefix(c.Verdict, "VERIFIED") || !strings.Contains(c.Picture, "<polyline") {
			t.Errorf("%s: %+v", kind, c)
		}
		var fields, certificate map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(fields["certificate"], &certificate); err != nil {
			t.Fatal(err)
		}
		for name := range certificate {
			fields["certificate."+name] = nil
		}
		for name := range fields {
			if slices.Contains(unshown, name) {
				continue
			}
			if !slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Name == name && l.Means != "" }) {
				t.Errorf("%s: %s is not explained", kind, name)
			}
		}
		// The promise comes before all that tells how it is kept.
		at := regexp.MustCompile(`"\w*epsilon": ?([0-9.]+)`).FindSubmatchIndex(data)
		stronger := slices.Concat(data[:at[2]], []byte("0.01"), data[at[3]:])
		if c, err := Check(t.Context(), stronger); err == nil {
			t.Errorf("%s with ε = 0.01: %s", kind, c.Verdict)
		}
	}
}

func TestStory(t *testing.T) {
	for _, step := range []string{"vote", "noise", "labels", "bill"} {
		s, err := NewStep(t.Context(), Stated{}, step)
		if err != nil || s.Says == "" || !strings.Contains(s.Picture, "<title>") {
			t.Errorf("%s: %+v, %v", step, s, err)
		}
	}
	for _, s := range []Stated{{"votes": "11"}, {"votes": "-1"}, {"eps": "0"}, {"eps": "11"},
		{"queries": "0"}, {"queries": "x"}} {
		if _, err := NewStep(t.Context(), s, "labels"); err == nil {
			t.Errorf("%v is told", s)
		}
	}
	if _, err := NewStep(t.Context(), Stated{}, "end"); err == nil {
		t.Error("a step that there is none of is told")
	}
}

// The best guess is not below (e^ε+δ)/(e^ε+1), and at most a hundredth of a percent above.
func TestGuess(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.1, 1, 2, 5, 10} {
		e := num.Exp(num.Decimal(epsilon)).Nearest()
		want := (e + storyDelta) / (e + 1)
		if g := guess(epsilon); g < want*(1-1e-12) || g > want+1e-4*(1+1e-9) || math.IsNaN(g) {
			t.Errorf("ε = %v: %v, want %v", epsilon, g, want)
		}
	}
}

// The page links one format of votes, no plotting library and no server.
func TestWhatThePageLinks(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile(`(?m)^(gonum\.org/v1/plot|github\.com/parquet-go|net/http$|os/exec$).*`).
		FindAllString(string(out), -1); bad != nil {
		t.Errorf("the page links %q", bad)
	}
}

// The third step does not claim that one label costs less than itself.
func TestStoryOfOneLabel(t *testing.T) {
	for queries, want := range map[string]string{"1": ": the sum of all.",
		"100": "less than the sum"} {
		s, err := NewStep(t.Context(), Stated{"eps": "0.1", "queries": queries}, "labels")
		if err != nil || !strings.Contains(s.Says, want) {
			t.Errorf("%s labels: %+v, %v", queries, s, err)
		}
	}
}

// Every true class counts as one, the first too; a row without a label has none.
func TestTruthsOfVotes(t *testing.T) {
	const data = "query,t1,t2,t3,label\na,0,0,1,0\nb,1,1,0,0\nc,1,1,1,1\nd,0,0,0,\n"
	o, err := options(t.Context(), Stated{}, "v.csv", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ballotsOf(t.Context(), o, []byte(data), 3, false)
	if err != nil {
		t.Fatal(err)
	}
	if s := b.Plain(); math.Abs(s.Accuracy-2./3) > 1e-15 || b.Len() != 4 {
		t.Errorf("of three known truths the majority has %+v", s)
	}
}
