package budgetpage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/budgetpage"
)

var update = flag.Bool("update", false, "write the golden file anew")

// copied returns a ledger of package ledger's testdata, with its anchor, in a folder of its own.
func copied(t *testing.T, name string) *ledger.Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	for _, suffix := range []string{"", ".anchor"} {
		data, err := os.ReadFile("../../ledger/testdata/" + name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return must.Get(ledger.Open(context.Background(), path))(t)
}

func pageOf(t *testing.T, l *ledger.Ledger) (string, *release.BudgetReport) {
	t.Helper()
	r, err := release.NewBudgetReport(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := budgetpage.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String(), r
}

// The page of a ledger that an earlier build charged, byte for byte.
func TestGolden(t *testing.T) {
	got, _ := pageOf(t, copied(t, "format4.ledger"))
	const golden = "testdata/format4.html"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page differs from %s:\n%s", golden, got)
	}
}

// Every charge is on the page, with its cost and what paid for it, escaped; no digest of votes
// is; and the page loads and runs nothing.
func TestPageTellsEveryChargeAndNoVotes(t *testing.T) {
	l := copied(t, "format4.ledger")
	got, r := pageOf(t, l)
	entries, err := l.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	charges, draws := 0, 0
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == ledger.KindResult {
			if !strings.Contains(got, e.Result.String()) {
				t.Errorf("no digest of the result of %q", e.ID)
			}
			continue
		}
		charges++
		epsilon, delta := e.Total().Decimals()
		row := regexp.MustCompile(`(?s)<td class="id">` + regexp.QuoteMeta(template(e.ID)) +
			`</td>.*?</tr>`).FindString(got)
		for _, want := range []string{">" + epsilon + "<", ">" + delta + "<", template(e.PaidBy),
			e.Time.Format("2006-01-02 15:04:05")} {
			if !strings.Contains(row, want) {
				t.Errorf("the row of %q has no %q", e.ID, want)
			}
		}
		if e.Draw == nil {
			continue
		}
		draws++
		for _, text := range []string{got, string(data)} {
			if strings.Contains(text, e.Draw.Votes.String()) {
				t.Errorf("the digest of the votes of %q is shown", e.ID)
			}
		}
	}
	// δ is what is added to e^ε times a probability. It is not the probability that the rest of
	// the promise fails: an (ε, δ)-differentially private release may fail it always.
	if !strings.Contains(got, "δ, the chance that is added<") ||
		regexp.MustCompile(`(?i)promise[^.]*fail|fail[^.]*promise`).MatchString(got) {
		t.Errorf("the page does not say what δ is")
	}
	if !strings.Contains(got, "was decided without the private data") {
		t.Errorf("the page does not say that choices by private data are not covered")
	}
	if charges == 0 || charges != len(r.Releases) || draws == 0 {
		t.Errorf("%d charges with %d draws, %d reported", charges, draws, len(r.Releases))
	}
	if found := regexp.MustCompile(
		`(?i)<script|https?://|\son\w+=|<(link|iframe|img|object|embed|base)\b|@import|url\(`).FindString(
		got); found != "" {
		t.Errorf("the page has %q", found)
	}
}

// template returns a text as the page's template writes it.
func template(s string) string { return strings.ReplaceAll(html.EscapeString(s), "+", "&#43;") }

// What a ledger's names and events say is text, whoever wrote them, and nothing of it acts on
// the reader: not as HTML, not as direction of text.
func TestPageEscapes(t *testing.T) {
	budget, err := ledger.NewBudget(2, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(context.Background(), filepath.Join(t.TempDir(), "<i>x.ledger"), budget,
		ledger.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(0.5, 1e-7)
	if err != nil {
		t.Fatal(err)
	}
	for id, event := range map[string]string{
		"<script>alert(1)</script>": `{"mechanism":"<b>\u202e\u001b[31m","queries":3,"k":5,"affected":1,"teachers":"fresh","per_answer":{"epsilon":0.1,"delta":0},"per_teacher":{"epsilon":0.1,"delta":0},"rule":"<img src=x>"}`,
		"\"' onload=x":              `"not an object"`,
		"model </td>":               `{"mechanism":"shuffled-gradients","release":"r","method":"<u>","task":"<s>","epochs":3,"mode":"<q>"}`,
	} {
		if _, err := l.Charge(context.Background(),
			ledger.Request{ID: id, Count: 1, Unit: unit, Event: json.RawMessage(event),
				Relation: ledger.AddOrRemoveOne, Ensemble: "<em>"}); err != nil {
			t.Fatal(err)
		}
	}
	got, r := pageOf(t, l)
	for _, bad := range []string{"<script", "<b>", "<img", "<u>", "<s>", "<q>", "<em>", "<i>",
		"\u202e", "\x1b", `"' onload`} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", `\u202e\x1b[31m`,
		"&lt;img src=x&gt;", "The cost was stated by whoever charged it",
		"One person&#39;s record reaches at most 1 of the 5 teachers",
		"has one person&#39;s record more"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		"charges without a recorded result: 3 (") {
		t.Errorf("warnings %q, want one of three charges without a result", r.Warnings)
	}
}
