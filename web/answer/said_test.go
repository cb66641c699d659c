package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/golden"
	"github.com/darrm/darrm/internal/testing/must"
)

// stating returns what "flag=value flag=value" states; + stands for a space in a value.
func stating(text string) Stated {
	s := Stated{}
	for word := range strings.FieldsSeq(text) {
		flag, value, _ := strings.Cut(word, "=")
		s[flag] = strings.ReplaceAll(value, "+", " ")
	}
	return s
}

var (
	picture = regexp.MustCompile(`<svg.*?</svg>`)
	shape   = regexp.MustCompile(`(?:aria-label|points|height|class)=\\?"[^"]*"|>[^<]+<`)
)

// shapes lists what a picture says and shows, without where its frame stands.
func shapes(svg string) string {
	return "SVG " + strings.Join(slices.Compact(shape.FindAllString(svg, -1)), " ")
}

// A saying collects what the page says, with a title for each answer.
type saying struct {
	strings.Builder
	t *testing.T
}

// add notes an answer, or the error in its place.
func (s *saying) add(title string, answer any, err error) {
	s.t.Helper()
	fmt.Fprintf(s, "\n## %s\n", title)
	if err != nil {
		fmt.Fprintf(s, "refused: %v\n", err)
		return
	}
	text, is := answer.(string)
	if !is {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(answer); err != nil {
			s.t.Fatal(err)
		}
		text = strings.ReplaceAll(strings.TrimSpace(b.String()), ",\"", ",\n\"") // a line for each field
	}
	text = picture.ReplaceAllStringFunc(text, shapes)
	s.WriteString(text + "\n")
}

// All that the page says of plans, word by word, and its figures within a thousandth: tables are solved to a
// ten-thousandth of their optimum.
func TestAllThatIsSaidOfPlans(t *testing.T) {
	s := &saying{t: t}
	const base = "K=7 queries=4 budget-eps=2 "
	for _, stated := range []string{
		base + "affected=1", base, base + "affected=1 prior-mean=0.9 agreement=0.99", base + "affected=2 num-classes=3 K=4",
		base + "affected=1 eps=0.1 teachers=fresh", base + "affected=1 eps=0.1 teachers=frozen", base + "affected=3 eps=2 teachers=fresh",
		base + "budget-eps=0.001", base + "K=151", base + "K=40 num-classes=6", base + "queries=10001", base + "agreement=2",
		base + "eps=0.1", base + "eps=x", base + "K=", base + "num-classes=x", base + "queries=1.5", base + "budget-eps=NaN", base + "budget-delta=-1",
		base + "affected=1 shares=.9,.1 budget-delta=1e-5", base + "affected=1 shares=.9,.1 cost=0:1=9,1:0=1 budget-delta=1e-5", base + "affected=1 shares=.99,.01 budget-eps=.1",
		base + "affected=1 cost=balanced", base + "affected=1 shares=no=.9,yes=.1", base + "K=30 num-classes=5 cost=ordered",
		base + "affected=8", base + "teacher-delta=x", base + "agreement=x", base + "prior-mean=0.4", base + "prior-mean=x", base + "num-classes=0", "",
	} {
		of := stating(stated)
		s.add("command: "+stated, PlanCommand(of), nil)
		s.add("too large: "+stated, TooLarge(of), nil)
		s.add("meaning: "+stated, Meaning(of), nil)
		plan, err := NewPlan(t.Context(), of, nil, func(early *Plan) { s.add("early: "+stated, early, nil) })
		s.add("plan: "+stated, plan, err)
	}
	for _, parameter := range []string{"affected", "data", "number of teachers K", "classes", "epsilon"} {
		s.add("name: "+parameter, fieldName(parameter), nil)
	}
	golden.Compare(t, "plans.golden", s.String(), 1e-3)
}

// All that curves and the story say, pictures included.
func TestAllThatIsSaidOfCurves(t *testing.T) {
	s := &saying{t: t}
	const base = "K=7 queries=4 budget-eps=2 affected=1"
	for over := range maps.Keys(axes) {
		if !slices.Contains([]string{"K", "queries", "budget-eps"}, over) {
			t.Errorf("nothing tests the axis %s", over)
		}
	}
	for _, over := range []string{"K", "queries", "budget-eps", "affected"} {
		for _, stated := range []string{base, base + " K=60 num-classes=4", base + " K=150 queries=10000 budget-eps=1e6", base + " K= queries= budget-eps=",
			base + " K=-1 queries=0 budget-eps=0", base + " K=x queries=x budget-eps=x", base + " num-classes=x"} {
			axis, err := Axis(stating(stated), over)
			s.add("axis "+over+": "+stated, fmt.Sprint(axis), err)
		}
	}
	of := stating(base)
	for _, over := range []string{"K", "queries", "budget-eps"} {
		axis := must.Get(Axis(of, over))(t)
		var points []Point
		for _, i := range []int{0, 2, 3} {
			p, err := NewPoint(t.Context(), of, over, axis[i])
			s.add(fmt.Sprintf("point %s %v: %s", over, axis[i], base), p, err)
			points = append(points, p)
		}
		points = append(points, Point{X: axis[5]}) // where nothing fits
		svg, err := DrawCurve(of, over, points, axis[3])
		s.add("picture "+over, svg, err)
	}
	for over, stated := range map[string]string{"affected": base, "K": base + " agreement=x", "queries": base + " queries=x"} {
		if svg, err := DrawCurve(stating(stated), over, nil, 0); err == nil || svg != "" {
			t.Errorf("a curve over %s of %s: %s", over, stated, svg)
		}
	}
	p, err := NewPoint(t.Context(), of, "budget-eps", 1e-9)
	s.add("point where nothing fits", p, err)
	p, err = NewPoint(t.Context(), of, "queries", 0)
	s.add("point that breaks a rule", p, err)
	p, err = NewPoint(t.Context(), stating(base+" affected=9"), "queries", 4)
	s.add("point of more teachers than there are", p, err)
	p, err = NewPoint(t.Context(), stating(base+" affected=9"), "K", 3)
	s.add("point of as many teachers as there are", p, err)
	svg, err := DrawCurve(stating(base+" agreement=0"), "K", nil, 0)
	s.add("picture of nothing, nothing wanted", svg, err)
	for _, step := range []string{"vote", "noise", "labels", "bill", "end"} {
		for _, stated := range []string{"", "eps=0.1234 queries=1", "votes=4 eps=2.5 queries=7", "votes=10 eps=0.01 queries=10000", "votes=0 eps=10 queries=1", "votes=11", "votes=-1",
			"eps=0.009", "eps=10.1", "queries=0", "queries=10001", "votes=x", "eps=x", "queries=x"} {
			told, err := NewStep(t.Context(), stating(stated), step)
			s.add("story "+step+": "+stated, told, err)
		}
	}
	golden.Compare(t, "curves.golden", s.String(), 1e-3)
}

// All that is said of files of votes and of tables.
func TestAllThatIsSaidOfVotes(t *testing.T) {
	s := &saying{t: t}
	const budget = "budget-eps=2 budget-delta=0 affected=1"
	for i, f := range []struct{ name, data, stated string }{
		{"v.csv", fewVotes, ""}, {"v.csv", fewVotes, "classes=0,1"}, {"v.csv", fewVotes, "classes=0,1,2"}, {"v.csv", fewVotes, `classes=a,"`},
		{"v.csv", fewVotes, "header=yes"}, {"v.csv", fewVotes, "header=maybe"}, {"v.csv", fewVotes, "reading=0"}, {"v.csv", fewVotes, "reading=x"},
		{"w.csv", "scan,t1,t2,t3\na,cat,dog,cat\nb,dog,dog,cat\n", ""},
		{"x.csv", "query,t1,t2\na,1,-1\nb,-1,-1\n", ""}, {"x.csv", "query,t1,t2\na,1,-1\nb,-1,-1\n", "reading=0"},
		{"x.csv", "query,t1,t2\na,1,-1\nb,-1,-1\n", "reading=1"}, {"x.csv", "query,t1,t2\na,1,-1\nb,-1,-1\n", "reading=2"},
		{"x.csv", "query,t1,t2\na,1,-1\nb,-1,-1\n", "reading=-2"},
		{"y.csv", "query,t1,t2,t3\na,1,0,\nb,0,1,1\n", ""},
		{"z.csv.gz", "q9,7,0,1,1\nq8,7,1,1,0\n", "header=no roles=id,-,vote,vote,vote"},
		{"z.csv", "q9,7,0,1,1\nq8,7,1,1,0\n", "header=no roles=id,vote,-,vote,vote classes=0,1,7"},
		{"z.csv", "a,b,c,d,e,f\n1,0,x,1,1,0\n", "roles=vote,vote,-,vote,truth,vote"},
		{"l.jsonl", `{"q":"a","v":[1,0,1],"y":1}` + "\n", "roles=id,vote,truth"}, {"l.jsonl", `{"q":"a","v":1,"w":0,"y":1}` + "\n", "roles=id,vote,vote,truth"},
		{"c.csv", "query,zeros,ones\na,3,4\nb,1,6\n", ""}, {"t.tsv", "scan\tage\tr_1\tr_2\tr_3\nx\t7.5\ta\tb\ta\ny\t7.25\ta\ta\tb\n", ""},
		{"n.csv", ",t1,t2,t3\n0,1,1,0\n1,0,1,1\n", ""}, {"p.parquet", "", ""}, {"p.csv.zst", "", ""}, {"", "", ""}, {"e.csv", "", ""}, {"e.csv", "query,t1\n", ""},
		{"v.csv", fewVotes, "roles=id,-,-,-,-"}, {"v.csv", fewVotes, "roles=id,vote,vote,vote,label"}, {"v.csv", fewVotes, "roles=id,vote,vote,vote"},
		{"v.csv", "query,t1,t2\na,0\n", ""}, {"o.csv", "query,t1\na,0\nb,1\n", ""}, {"several.csv", "query,t1,t2,t3\na,x|y,x,y\nb,y,x|y,x\n", ""},
	} {
		d, err := Describe(t.Context(), stating(f.stated), f.name, []byte(f.data))
		s.add(fmt.Sprintf("describe %d %s, %q", i, f.name, f.stated), d, err)
		c, err := Compare(t.Context(), stating(budget+" "+f.stated), f.name, []byte(f.data))
		if c != nil && i > 2 { // its figures are in the table too
			c.Report = nil
		}
		s.add(fmt.Sprintf("compare %d %s, %q", i, f.name, f.stated), c, err)
	}
	for _, stated := range []string{"", "budget-eps=2", "budget-eps=2 affected=9", "budget-eps=0.01 affected=3", "budget-eps=1 affected=1 num-classes=9 K=8 queries=7"} {
		c, err := Compare(t.Context(), stating(stated), "v.csv", []byte(fewVotes))
		s.add("compare with "+stated, c, err)
	}
	for _, stated := range []string{"shares=0=.8,1=.2", "shares=.8,.2 cost=0:1=9", "shares=yes=.2,no=.8", "cost=0:1=4"} {
		c, err := Compare(t.Context(), stating("budget-eps=2 budget-delta=1e-5 affected=1 "+stated), "v.csv", []byte(fewVotes))
		if c != nil {
			c.Report = nil
		}
		s.add("compare with "+stated, c, err)
	}
	rows, err := FirstRows(t.Context(), "v.csv", []byte(fewVotes+strings.Repeat("d,0,0,0,0\n", 9)))
	s.add("first rows", rows, err)
	for _, name := range []string{"k11", "k7-any", "k8-by-name", "classes/k7-c3", "classes/k3-c3-counts", "classes/k7-c3-uneven", "answers/k11",
		"answers/k5c3-by-name", "answers/k7m", "noise/k30", "noise/k7t3m"} {
		c, err := Check(t.Context(), must.Get(os.ReadFile(filepath.Join("..", "..", "python", "tests", "tables", name+".json")))(t))
		s.add("table "+name, c, err)
	}
	for _, bad := range []string{"", "{", "[]", `{"k":3}`} {
		c, err := Check(t.Context(), []byte(bad))
		s.add("table "+bad, c, err)
	}
	golden.Compare(t, "votes.golden", s.String(), 1e-3)
}
