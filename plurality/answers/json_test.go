package answers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// slanted returns masses that favour classes with many votes, as far as strength says.
func slanted(s *System, strength float64) []uint64 {
	p := make([]float64, s.space.Variables())
	for h := range s.space.Histograms() {
		first, end := s.space.Range(h)
		sum := 0.0
		for i := first; i < end; i++ {
			p[i] = math.Exp(strength * float64(s.space.Votes(i)))
			sum += p[i] * float64(s.space.ClassesOf(i))
		}
		for i := first; i < end; i++ {
			p[i] /= sum
		}
	}
	return s.space.Masses(p)
}

func tableOf(t testing.TB, p Problem, prior Prior, law Law, proof Proof, events ...Event) *Table {
	t.Helper()
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, p))(t)
	c := must.Get(Certify(ctx, s, slanted(s, 0.2), game.Options{Step: 0.2}))(t)
	table := must.Get(NewTable(ctx, c, prior, law, proof, events...))(t)
	table.Solver, table.Version = "a test", "v1"
	return table
}

// composedTable returns a table that is certified by what each answer keeps, with nothing to spare.
func composedTable(t testing.TB) *Table {
	t.Helper()
	p := Problem{K: 7, Classes: 2, Affected: 2, Answers: 5, Epsilon: .75, Delta: .005}
	each := game.Each{Epsilon: .15, Delta: .001}
	factor := math.Exp(each.Epsilon)
	leads := p.Window([]float64{0, .3, 0, .2, 0, .2, 0, .3}, NewLink(func(a, b float64) float64 {
		return b - min(factor*a+each.Delta, 1-(1-a-each.Delta)/factor) + 4*Near
	}))
	s := must.Get(NewSystem(t.Context(), p))(t)
	masses := fromLeads(s, func(lead int) float64 { return leads[lead] + 1e-12*(.5-leads[lead]) })
	c := must.Get(CertifyEach(t.Context(), s, masses, each))(t)
	table := must.Get(NewTable(t.Context(), c, DefaultPrior(p), Law{Name: OneLaw, Epsilon: each.Epsilon, Delta: each.Delta}, nil))(t)
	table.Solver, table.Version = "a test", "v1"
	return table
}

func examples(t testing.TB) map[string]*Table {
	votes := plurality.HistogramCount{Votes: []int{1, 2, 0}, Count: 3}
	return map[string]*Table{
		"one":    composedTable(t),
		"labels": ofLabels(t),
		"normal": tableOf(t, Problem{K: 4, Classes: 3, Affected: 1, Answers: 5, Epsilon: 1, Delta: 0.05},
			Prior{Objective: plurality.Objective{Concentration: 1}}, Law{Name: NormalLaw, Sigma: 3.5}, nil),
		"chain": tableOf(t, Problem{K: 5, Classes: 2, Affected: 1, Missing: true, Answers: 7, Epsilon: 1,
			Delta: 0.25}, Prior{Objective: plurality.Objective{Accuracy: .75}, Present: .9},
			Law{Name: ChainLaw, Order: 8, Moment: 0.5}, nil),
		"program": tableOf(t, Problem{K: 3, Classes: 3, Affected: 2, Missing: true, Answers: 2,
			Epsilon: 1, Delta: 0.25, Abstain: true},
			Prior{Objective: plurality.Objective{Counts: []plurality.HistogramCount{votes},
				AbstainValue: .25}}, Law{Name: ProgramLaw, Order: 8, Moment: 9},
			Proof{{From: 1, Changes: []plurality.Change{{Votes: 1, Delta: 1, Classes: 1}},
				Ratios: []float64{0.9, 1, 1}, Value: 1e-3}},
			Event{From: 1, Changes: []plurality.Change{{Votes: 1, Delta: 1, Classes: 1}}, Columns: []int{0},
				Factor: 1.5, Value: 2e-3}),
	}
}

func encode(t testing.TB, table *Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte) *Claim {
	t.Helper()
	return must.Get(ReadClaim(context.Background(), bytes.NewReader(data)))(t)
}

func TestTablesComeBack(t *testing.T) {
	for name, table := range examples(t) {
		again := must.Get(read(t, encode(t, table)).Verify(context.Background()))(t)
		if !reflect.DeepEqual(again, table) {
			t.Errorf("%s: %+v, want %+v", name, again, table)
		}
		summary := must.Get(table.Summary())(t)
		if !json.Valid(summary) || bytes.Contains(summary, []byte(`"masses"`)) ||
			!bytes.Contains(summary, []byte(table.Hash())) {
			t.Errorf("%s: summary %s", name, summary)
		}
		if !Recognises(encode(t, table)) || Recognises([]byte(`{"kind":"plurality"}`)) {
			t.Errorf("%s is not recognised, or what is none is", name)
		}
	}
}

// Nothing that a file says is believed: what makes another promise of the same masses is priced
// again, and what is no table of its own problem is refused.
func TestAlteredTablesAreRefused(t *testing.T) {
	tables := examples(t)
	normal, chain, optimal := string(encode(t, tables["normal"])), string(encode(t, tables["chain"])),
		string(encode(t, tables["program"]))
	one := string(encode(t, tables["one"]))
	var format *FormatError
	var price *PriceError
	var mismatch *MismatchError
	for name, x := range map[string]struct {
		in, old, new string
		want         any
	}{
		"another format":    {normal, `"format_version":1`, `"format_version":2`, &format},
		"another kind":      {normal, `"kind":"answers"`, `"kind":"plurality"`, &format},
		"more answers":      {normal, `"answers":5`, `"answers":500`, &price},
		"one answer more":   {normal, `"answers":5`, `"answers":6`, &mismatch},
		"too many answers":  {normal, `"answers":5`, `"answers":100001`, &format},
		"no answers":        {normal, `"answers":5`, `"answers":0`, &format},
		"a smaller epsilon": {normal, `"total_epsilon":1`, `"total_epsilon":0.1`, &price},
		"a smaller delta":   {normal, `"delta":0.05`, `"delta":0.0001`, &price},
		"no delta":          {normal, `"delta":0.05`, `"delta":0`, &format},
		"more reach":        {normal, `"affected":1`, `"affected":4`, &price},
		"reach beyond K":    {normal, `"affected":1`, `"affected":5`, &format},
		"missing votes":     {normal, `"missing_votes":false`, `"missing_votes":true`, &format},
		"no missing votes":  {chain, `"missing_votes":true`, `"missing_votes":false`, &format},
		"another K":         {normal, `"k":4`, `"k":5`, &format},
		"a huge K":          {normal, `"k":4`, `"k":2001`, &format},
		"another C":         {normal, `"classes":3`, `"classes":4`, &format},
		"other votes":       {normal, `[3,1,0]`, `[2,2,0]`, &format},
		"another lead":      {chain, `"lead":1`, `"lead":2`, &format},
		"a lead and votes":  {chain, `"lead":1,`, `"lead":1,"votes":[1,0],`, &format},
		"votes for a lead":  {chain, `"lead":1,`, `"votes":[1,0],`, &format},
		"a field twice":     {normal, `"k":4`, `"k":4,"k":4`, &format},
		"a better value":    {normal, `"value":0.`, `"value":0.9`, &mismatch},
		"a better price": {normal, `"certificate":{"pairs":10,"delta":0.`,
			`"certificate":{"pairs":10,"delta":0.0000`, &mismatch},
		"fewer pairs":         {normal, `"pairs":10`, `"pairs":9`, &mismatch},
		"another hash":        {normal, `"hash":"`, `"hash":"0`, &mismatch},
		"a law without sigma": {normal, `"sigma":3.5`, `"sigma":0`, &format},
		"another law":         {normal, `"name":"normal"`, `"name":"laplace"`, &format},
		"a law of both":       {normal, `"sigma":3.5`, `"sigma":3.5,"order":8,"moment":1`, &format},
		"a broken order":      {chain, `"order":8`, `"order":8.5`, &format},
		"a huge order":        {chain, `"order":8`, `"order":129`, &format},
		"a chain of three": {normal, `{"name":"normal","sigma":3.5}`,
			`{"name":"chain","order":8,"moment":1}`, &format},
		"a fine price":       {normal, `"step":0.2`, `"step":0.0005`, &format},
		"a line below":       {optimal, `"factor":1.5`, `"factor":0.5`, &format},
		"a column of none":   {optimal, `"columns":[0]`, `"columns":[7]`, &format},
		"columns twice":      {optimal, `"columns":[0]`, `"columns":[0,0]`, &format},
		"a negative event":   {optimal, `"value":0.002`, `"value":-0.002`, &format},
		"two proofs":         {normal, `"step":0.2`, `"step":0.2,"each_epsilon":0.1`, &format},
		"no epsilon of each": {one, `"each_epsilon":0.15,`, ``, &format},
		"more of each":       {one, `"each_epsilon":0.15`, `"each_epsilon":0.3`, &price},
		"less of each":       {one, `"each_epsilon":0.15`, `"each_epsilon":0.14`, &price},
		"less delta of each": {one, `"each_delta":0.001`, `"each_delta":0.0009`, &price},
		"another each law":   {one, `"name":"one","epsilon":0.15`, `"name":"one","epsilon":0.01`, &format},
		"no finite each":     {one, `"each_epsilon":0.15`, `"each_epsilon":701`, &format},
		"answers of each":    {one, `"answers":5`, `"answers":6`, &price},
		"reach of each":      {one, `"affected":2`, `"affected":3`, &price},
		"a price of hours":   {normal, `"groups":64`, `"groups":100000000`, &format},
		"exact pairs":        {normal, `"exact":`, `"exact":1`, &format},
		"no presence":        {chain, `"present":0.9,`, ``, &format},
		"presence of all":    {normal, `"concentration":1`, `"concentration":1,"present":0.5`, &format},
		"other presence":     {chain, `"present":0.9`, `"present":0.8`, &mismatch},
		"two priors":         {normal, `"concentration":1`, `"accuracy":0.5,"concentration":1`, &format},
		"another prior":      {normal, `"concentration":1`, `"concentration":2`, &mismatch},
		"a negative proof":   {optimal, `"value":0.001`, `"value":-0.001`, &format},
		"a proof of nothing": {optimal, `"from":1`, `"from":99`, &format},
		"a proof of another": {normal, `"solver"`,
			`"proof":[{"from":0,"changes":[],"ratios":[],"value":1}],"solver"`, &format},
		"a better bound": {chain, `"upper_bound":0.`, `"upper_bound":0.0`, &mismatch},
		"abstaining":     {normal, `"law":`, `"abstain":0.1,"law":`, &format},
		"more after it":  {normal, "}\n", "}]", &format},
	} {
		changed := strings.Replace(x.in, x.old, x.new, 1)
		if changed == x.in {
			t.Fatalf("%s: %q is not in the table: %.600s", name, x.old, x.in)
		}
		claim, err := ReadClaim(context.Background(), strings.NewReader(changed))
		if err == nil {
			_, err = claim.Verify(context.Background())
		}
		if !errors.As(err, x.want) {
			t.Errorf("%s: %v, want %T", name, err, x.want)
		}
		if _, err := Decode(context.Background(), strings.NewReader(changed)); x.want != &mismatch &&
			!errors.As(err, x.want) {
			t.Errorf("%s is decoded: %v, want %T", name, err, x.want)
		}
	}
	for _, text := range []string{"", " ", "{}", "[]", "null", "{",
		`{"format_version":1,"kind":"answers"}`, strings.Repeat("[", 100000)} {
		if _, err := ReadClaim(context.Background(), strings.NewReader(text)); !errors.As(err, &format) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// A file that claims more than is proved is refused, by however little; one that claims less is
// not.
func TestClaimsNoMoreThanIsProved(t *testing.T) {
	table := examples(t)["chain"]
	verify := func(change func(*fileFigures)) error {
		claim := read(t, encode(t, table))
		change(&claim.stated)
		_, err := claim.Verify(context.Background())
		return err
	}
	for name, change := range map[string]func(*fileFigures, float64){
		"value":     func(f *fileFigures, x float64) { f.Value = math.Nextafter(f.Value, x) },
		"law bound": func(f *fileFigures, x float64) { f.LawBound = math.Nextafter(f.LawBound, -x) },
		"delta": func(f *fileFigures, x float64) {
			f.Certificate.Delta = math.Nextafter(f.Certificate.Delta, -x)
		},
		"upper bound": func(f *fileFigures, x float64) { f.UpperBound -= x * 1e-9 },
	} {
		var mismatch *MismatchError
		if err := verify(func(f *fileFigures) { change(f, 1) }); !errors.As(err, &mismatch) {
			t.Errorf("%s: more is claimed than proved: %v", name, err)
		}
		if err := verify(func(f *fileFigures) { change(f, -1) }); err != nil {
			t.Errorf("%s: less is claimed than proved: %v", name, err)
		}
	}
}

// The hash is of all that is promised and of every mass, and of nothing else.
func TestHash(t *testing.T) {
	ctx := context.Background()
	p := Problem{K: 4, Classes: 3, Affected: 1, Answers: 2, Epsilon: 3, Delta: 0.5}
	seen := map[string]string{}
	add := func(name string, p Problem, strength float64) {
		s := must.Get(NewSystem(ctx, p))(t)
		h := must.Get(Certify(ctx, s, slanted(s, strength), game.Options{Step: 0.5}))(t).Hash()
		if seen[h] != "" || len(h) != 64 {
			t.Errorf("%s has the hash of %s: %s", name, seen[h], h)
		}
		seen[h] = name
	}
	add("the table", p, 0.1)
	add("other masses", p, 0.1+1e-15)
	for name, change := range map[string]func(*Problem){
		"affected": func(p *Problem) { p.Affected = 2 },
		"answers":  func(p *Problem) { p.Answers = 3 },
		"epsilon":  func(p *Problem) { p.Epsilon = 4 },
		"delta":    func(p *Problem) { p.Delta = 0.6 },
		"missing":  func(p *Problem) { p.Missing = true },
		"abstain":  func(p *Problem) { p.Abstain = true },
	} {
		changed := p
		change(&changed)
		add(name, changed, 0.1)
	}
	one, other := examples(t)["normal"], tableOf(t, examples(t)["normal"].Problem(),
		Prior{Objective: plurality.Objective{Accuracy: .5}}, Law{Name: NormalLaw, Sigma: 4}, nil)
	if one.Hash() != other.Hash() {
		t.Error("prior or law are in the hash")
	}
}

// What is beyond a limit is refused before its histograms are listed; what takes long ends with
// ctx.
func TestProblemsAreRefused(t *testing.T) {
	good := Problem{K: 5, Classes: 3, Affected: 1, Answers: 10, Epsilon: 1, Delta: 1e-5}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Problem){
		"number of teachers K":        func(p *Problem) { p.K = 0 },
		"number of classes":           func(p *Problem) { p.Classes = 1 },
		"affected":                    func(p *Problem) { p.Affected = 6 },
		"answers":                     func(p *Problem) { p.Answers = MaxAnswers + 1 },
		"budget epsilon":              func(p *Problem) { p.Epsilon = math.NaN() },
		"budget delta":                func(p *Problem) { p.Delta = 0 },
		"number of teachers K = 1003": func(p *Problem) { p.Classes, p.K = 2, 1003 },
		"teachers and classes":        func(p *Problem) { p.K, p.Classes = 60, 10 },
		"teachers, classes and affected": func(p *Problem) {
			p.K, p.Classes, p.Affected = 40, 6,
				30
		},
	} {
		p := good
		change(&p)
		if _, err := NewSystem(context.Background(), p); err == nil ||
			!strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := Problem{K: 40, Classes: 6, Affected: 40, Answers: 10, Epsilon: 1, Delta: 1e-5}
	if _, err := NewSystem(must.EndAfter(0, context.Canceled), all); err == nil ||
		!strings.HasPrefix(err.Error(), "teachers, classes and affected = ") {
		t.Errorf("pairs of all histograms are counted one by one: %v", err)
	}
	// Where all votes are within reach, every two histograms are a pair, in either order.
	for _, missing := range []bool{false, true} {
		for classes := 2; classes < 5; classes++ {
			small := Problem{K: 4, Classes: classes, Affected: 4, Missing: missing, Answers: 10, Epsilon: 1,
				Delta: 1e-5}
			s := must.Get(NewSystem(t.Context(), small))(t)
			if n := s.Space().Histograms(); s.pairs < n*(n-1) {
				t.Errorf("%d classes, missing %t: %d pairs of %d histograms", classes, missing, s.pairs, n)
			}
		}
	}
	many := Problem{K: 100, Classes: 4, Affected: 2, Answers: 10, Epsilon: 1, Delta: 1e-5}
	if _, err := NewSystem(must.EndAfter(2, context.Canceled), many); !errors.Is(err,
		context.Canceled) {
		t.Errorf("counting pairs: %v", err)
	}
	data := encode(t, examples(t)["chain"])
	for n := range 1000 {
		claim, err := ReadClaim(must.EndAfter(n, context.Canceled), bytes.NewReader(data))
		if err == nil {
			_, err = claim.Certify(must.EndAfter(n, context.Canceled))
		}
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("ended after %d steps: %v", n, err)
		}
	}
	t.Error("it never ends")
}

// What is read and certified keeps its promise by the recursion over all transcripts, and comes
// back as itself.
func FuzzDecode(f *testing.F) {
	for _, p := range []Problem{
		{K: 2, Classes: 2, Affected: 1, Answers: 2, Epsilon: 1, Delta: 0.1},
		{K: 1, Classes: 2, Affected: 1, Missing: true, Answers: 1, Epsilon: 1, Delta: 0.1},
		{K: 1, Classes: 3, Affected: 1, Answers: 1, Epsilon: 1, Delta: 0.1, Abstain: true},
	} {
		f.Add(encode(f, tableOf(f, p, DefaultPrior(p), Law{Name: NormalLaw, Sigma: 1}, nil)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := context.Background()
		claim, err := ReadClaim(ctx, bytes.NewReader(data))
		if err != nil {
			return
		}
		p := claim.System.Problem()
		if claim.System.space.Histograms() > 50 || p.Answers > 20 || claim.Price.Step != 0 &&
			claim.Price.Step < 0.05 {
			return // it would take long
		}
		table, err := claim.Certify(ctx)
		if err != nil {
			return
		}
		if p.K <= 3 && p.Classes <= 3 && p.Answers <= 2 {
			if got := bruteDelta(brutePairs(t, table.Certified), p.Answers, math.Exp(p.Epsilon)); got >
				p.Delta*(1+1e-9) {
				t.Fatalf("certified, but the price is %v", got)
			}
		}
		again, err := Decode(ctx, bytes.NewReader(encode(t, table)))
		if err != nil || !slices.Equal(again.masses, table.masses) ||
			again.Problem() != table.Problem() || again.Hash() != table.Hash() {
			t.Fatalf("what was written does not come back: %v", err)
		}
	})
}
