package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	asolve "github.com/darrm/darrm/plurality/answers/solve"
	psolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve/page"
)

// services are mechanisms of every kind: with γ, with a table of many classes, with noise and
// permission to abstain.
var services = sync.OnceValues(func() (map[string]page.Service, error) {
	out := map[string]page.Service{}
	problem, err := constraints.NewProblem(11, 3, 0.1, 1e-5)
	if err != nil {
		return nil, err
	}
	table, err := solve.Optimal(context.Background(), problem, solve.Options{})
	if err != nil {
		return nil, err
	}
	plan, err := release.DaRRM(table.Certified, accountant.ReplaceOne)
	if err != nil {
		return nil, err
	}
	out["gamma"] = page.Service{Plan: plan, Teachers: "fresh", Classes: []string{"no", "yes"}}
	many, err := psolve.Optimal(context.Background(),
		plurality.Problem{K: 7, Classes: 3, Affected: 1, Epsilon: 1}, plurality.Objective{Accuracy: 0.75},
		psolve.Options{})
	if err != nil {
		return nil, err
	}
	if plan, err = release.Plurality(many.Certified, accountant.ReplaceOne); err != nil {
		return nil, err
	}
	out["plurality"] = page.Service{Plan: plan, Classes: []string{"cat", "dog", "<bird>"}}
	if problem, err = constraints.NewTotalProblem(4, 1, 0.5, math.Inf(1), 0); err != nil {
		return nil, err
	}
	if table, err = solve.Optimal(context.Background(), problem, solve.Options{Counts: []float64{1, 2, 3, 4, 5}}); err != nil {
		return nil, err
	}
	if plan, err = release.DaRRM(table.Certified, accountant.ReplaceOne); err != nil {
		return nil, err
	}
	out["gamma by name"] = page.Service{Plan: plan, Classes: []string{"no", "yes"}}
	named, err := asolve.Best(context.Background(), answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 2, Epsilon: 2,
		Delta: 1e-5, Named: true}, answers.Prior{Objective: plurality.Objective{Accuracy: 0.75},
		Shares: plurality.Shares{0.8, 0.2}}, asolve.Options{})
	if err != nil {
		return nil, err
	}
	if plan, err = (release.Table{Answers: named}).Plan(accountant.ReplaceOne); err != nil {
		return nil, err
	}
	out["answers by name"] = page.Service{Plan: plan, Classes: []string{"no", "yes"}}
	s := ensemble.Setting{K: 250, Classes: 10, Affected: 1, Neighbours: accountant.ReplaceOne}
	m, err := ensemble.Calibrated("confident-gnmax", s, accountant.Cost{Epsilon: 1, Delta: 1e-8},
		ensemble.Check{Threshold: 150, Ratio: 4})
	if err != nil {
		return nil, err
	}
	if plan, err = release.NewPlan(m); err != nil {
		return nil, err
	}
	out["gnmax"] = page.Service{Plan: plan, Teachers: "frozen",
		Classes: strings.Split("0123456789", "")}
	return out, nil
})

func service(t testing.TB, name string) page.Service {
	t.Helper()
	all, err := services()
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// charged returns the report of a ledger with n answers.
func charged(t *testing.T, name string, n int, id func(int) string) *release.BudgetView {
	t.Helper()
	budget, err := ledger.NewBudget(60, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(context.Background(), filepath.Join(t.TempDir(), name), budget,
		ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(0.1, 1e-7)
	if err != nil {
		t.Fatal(err)
	}
	var requests []ledger.Request
	for i := range n {
		event := `{"mechanism":"gnmax","queries":1,"k":11,"affected":1,"teachers":"none","per_answer":{"epsilon":0.1,"delta":1e-7},"rule":"<img src=x>"}`
		requests = append(requests, ledger.Request{ID: id(i), Count: 1, Unit: unit,
			Event: json.RawMessage(event), Relation: ledger.ReplaceOne})
	}
	var receipts []*ledger.Receipt
	for some := range slices.Chunk(requests, n/200+1) {
		more, err := l.ChargeAll(context.Background(), some)
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, more...)
	}
	for i, r := range receipts[max(0, n-3):] {
		if _, err := l.RecordResult(context.Background(), r, ledger.Digest{byte(i), 7}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := release.NewBudgetView(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Spending { // as if they came over a day
		r.Spending[i].Time = r.Spending[i].Time.Add(time.Duration(i*i) * 24 * time.Hour /
			time.Duration(len(r.Spending)*len(r.Spending)))
	}
	return r
}

func write(t *testing.T, s page.Service, r *release.BudgetView) string {
	t.Helper()
	p, err := page.New(s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, r, time.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if folder := os.Getenv("DARRM_PAGES"); folder != "" { // scripts/test-pages looks at them
		name := strings.NewReplacer("/", "-").Replace(t.Name()) + ".html"
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

var active = regexp.MustCompile(
	`(?i)<script|https?://|\son\w+=|<(link|iframe|img|object|embed|base|form)\b|@import|url\(`)

// The page of every kind of mechanism shows the budget left, the mechanism, and the latest
// requests, newest first; it has no digest of an answer, no script and nothing from a network.
func TestPage(t *testing.T) {
	for _, name := range []string{"gamma", "plurality", "gnmax"} {
		t.Run(name, func(t *testing.T) {
			s := service(t, name)
			r := charged(t, "patients.ledger", 45, func(i int) string {
				return fmt.Sprintf("request-%02d", i)
			})
			got := write(t, s, r)
			m := s.Plan.Mechanism()
			for _, want := range []string{m.Title(), m.PerAnswer().String(), m.Basis(), r.Meaning, r.Limit,
				r.Short.Remaining[0], r.Short.Remaining[1], r.Head, "45 charges by"} {
				if !strings.Contains(got, template(want)) {
					t.Errorf("the page has no %q", want)
				}
			}
			for _, class := range s.Classes {
				if !strings.Contains(got, template(class)) {
					t.Errorf("the page has no class %q", class)
				}
			}
			if n := strings.Count(got, "<svg "); n != 2 {
				t.Errorf("%d pictures, want 2", n)
			}
			var ids []string
			for _, m := range regexp.MustCompile(`<td class="id">([^<]*)</td>`).FindAllStringSubmatch(got,
				-1) {
				ids = append(ids, m[1])
			}
			if len(ids) != 20 || ids[0] != "request-44" || ids[19] != "request-25" {
				t.Errorf("requests %q, want the latest 20", ids)
			}
			for i := range 3 {
				if digest := (ledger.Digest{byte(i), 7}).String(); strings.Contains(got, digest) {
					t.Errorf("the page has the digest of an answer")
				}
			}
			if found := active.FindString(got); found != "" {
				t.Errorf("the page has %q", found)
			}
		})
	}
}

// template returns a text as the page's template writes it.
func template(s string) string { return strings.ReplaceAll(html.EscapeString(s), "+", "&#43;") }

// Where the classes are told apart, the picture says of which class it is.
func TestPageOfClassesToldApart(t *testing.T) {
	for name, wanted := range map[string][]string{
		"gamma by name":   {"How often the second class is the answer, against its votes", "probability"},
		"answers by name": {"the class number 0 (from 0) leads", "the class number 1 (from 0) leads"},
	} {
		got := write(t, service(t, name), charged(t, "named.ledger", 2, func(i int) string { return fmt.Sprint(i) }))
		for _, want := range wanted {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the page has no %q", name, want)
			}
		}
		if strings.Contains(got, "γ(l)") {
			t.Errorf("%s: the page has γ(l)", name)
		}
	}
}

// A ledger without entries has a page, and one with a single entry a picture.
func TestPageOfFewEntries(t *testing.T) {
	s := service(t, "gamma")
	if got := write(t, s, charged(t, "empty.ledger", 0, nil)); !strings.Contains(got,
		"Nothing was spent by") || !strings.Contains(got, "None yet.") ||
		strings.Count(got, "<svg ") != 1 {
		t.Errorf("the page of an empty ledger:\n%s", got)
	}
	if got := write(t, s, charged(t, "one.ledger", 1,
		func(int) string { return "r" })); !strings.Contains(got, "1 charge by") ||
		strings.Count(got, "<svg ") != 2 {
		t.Errorf("the page of one entry:\n%s", got)
	}
}

// What a client chose is text: it neither acts nor hides what is beside it.
func TestPageEscapes(t *testing.T) {
	ids := []string{"<script>alert(1)</script>", `" onload=x`, "</td><svg/onload=x>",
		"a request with a name that somebody chose to be long " + strings.Repeat("x", 150)}
	got := write(t, service(t, "gamma"), charged(t, "<i>x.ledger", len(ids),
		func(i int) string { return ids[i] }))
	for _, bad := range []string{"<script", `" onload`, "<svg/", "<i>"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the id is not on the page")
	}
}

// The curve ends where the report says: what is not drawn of many charges changes nothing.
func TestPictureOfManyCharges(t *testing.T) {
	r := charged(t, "many.ledger", 599, func(i int) string { return fmt.Sprint(i) })
	got := write(t, service(t, "gamma"), r)
	if want := fmt.Sprintf("%v %% of ε and %v %% of δ are spent", r.Share[0],
		r.Share[1]); !strings.Contains(got, want) {
		t.Errorf("the picture's label is not %q", want)
	}
	// ε is spent to 99.8 % and δ to 59.9 %: the curves end at heights of 5 to 3 above their start.
	heights := map[string]float64{}
	for _, p := range regexp.MustCompile(
		`<path d="([^"]*)" style="fill:none;stroke:#(0072B2|D55E00)`).FindAllStringSubmatch(got, -1) {
		points := regexp.MustCompile(`[ML][\d.]+,([\d.]+)`).FindAllStringSubmatch(p[1], -1)
		if _, ok := heights[p[2]]; !ok && len(points) > 100 {
			heights[p[2]] = decimal(t, points[len(points)-1][1]) - decimal(t, points[0][1])
			if len(points) > 1000 {
				t.Errorf("a curve has %d points: the page grows with the ledger", len(points))
			}
		}
	}
	if ratio := heights["0072B2"] / heights["D55E00"]; !(ratio > 1.66 && ratio < 1.673) {
		t.Errorf("the curves of ε and δ end at heights %v, want them as 5 to 3", heights)
	}
	// The axis says the same: 60 % lie between the marks 40 and 100.
	mark := func(text string) float64 {
		m := regexp.MustCompile(`y="-([\d.]+)" transform="scale\(1, -1\)"\s+style="[^"]*">` + text +
			`</text>`).FindStringSubmatch(got)
		if m == nil {
			t.Fatalf("the axis has no %s", text)
		}
		return decimal(t, m[1])
	}
	if percent := 60 * heights["0072B2"] / (mark("100") - mark("40")); !(percent > 99.5 &&
		percent < 100.2) {
		t.Errorf("the curve of ε ends at %.1f %%, want 99.8", percent)
	}
	if len(got) > 100_000 {
		t.Errorf("the page has %d bytes", len(got))
	}
}

func decimal(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A server that stops before its ledger is spent says so, with both amounts.
func TestUsableIsNamed(t *testing.T) {
	r := charged(t, "l.ledger", 10, func(i int) string { return "r" + strconv.Itoa(i) })
	s := service(t, "gamma")
	const all = "Usable by this server: (59, 9.9e-5); left of the ledger: (59, 9.9e-5).</p>"
	if html := write(t, s, r); !strings.Contains(html, all) {
		t.Errorf("no %s in %s", all, html[strings.Index(html, "Usable"):][:200])
	}
	s.Usable = func(now ledger.State) ledger.Cost { return now.Remaining.Minus(now.Spent.Times(50)) }
	const some = "Usable by this server: (9, 4.9e-5); left of the ledger: (59, 9.9e-5). This server"
	if html := write(t, s, r); !strings.Contains(html, some) {
		t.Errorf("no %s in %s", some, html[strings.Index(html, "Usable"):][:200])
	}
}
