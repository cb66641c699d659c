package plan

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// At half of an odd number of teachers the law is that of more than half, and elsewhere it is that of teachers who vote
// by themselves, beside public votes that make the threshold the majority.
func TestYesLaw(t *testing.T) {
	of := func(from string, k int) ensemble.Several {
		return must.Get(ensemble.Several{Labels: 3, YesFrom: from}.Of(k))(t)
	}
	l, want := must.Get(YesLaw(of("6", 11), 0, Losses{}))(t), must.Get(DefaultLaw(11, 2))(t)
	shares := map[int]float64{}
	for votes, share := range want.Histograms() {
		shares[votes[0]] = share
	}
	for votes, share := range l.Histograms() {
		if math.Abs(share-shares[votes[0]]) > 1e-11 {
			t.Errorf("%v: %v, want %v", votes, share, shares[votes[0]])
		}
	}
	const k, from, rare = 10, 3, .1
	l = must.Get(YesLaw(of("3", k), .8, Losses{Shares: plurality.Shares{1 - rare, rare}}))(t)
	says, ok := l.Says()
	if !ok || says.From != from || says.Teachers != k || !(says.WhereNo < .25 && says.WhereYes > .25) {
		t.Fatalf("%+v", says)
	}
	odds := func(p float64) float64 { return p / (1 - p) }
	if theta := 2.5 / 7.5; math.Abs(odds(says.WhereYes)-4*theta) > 1e-12 || math.Abs(odds(says.WhereNo)-theta/4) > 1e-12 {
		t.Errorf("%+v", says)
	}
	const public = k + 1 - 2*from
	sum := 0.0
	for votes, share := range l.Histograms() { // named: no before yes
		n := votes[1] - public
		want := 0.0
		for _, of := range []struct{ p, share float64 }{{says.WhereNo, 1 - rare}, {says.WhereYes, rare}} {
			want += of.share * math.Exp(lchoose(k, n)) * math.Pow(of.p, float64(n)) * math.Pow(1-of.p, float64(k-n))
		}
		if votes[0]+votes[1] != k+public || math.Abs(share-want) > 1e-10 {
			t.Errorf("%v: %v, want %v", votes, share, want)
		}
		sum += share
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares are %v together", sum)
	}
	if _, err := YesLaw(of("3", k), 0, LabelShares([]float64{.1, .2, .3})); err == nil {
		t.Error("shares of each label have a law beside a threshold")
	}
	if _, err := YesLaw(ensemble.Several{Labels: 3, YesFrom: "3"}, 0, Losses{}); err == nil {
		t.Error("teachers of an unknown number have a law")
	}
}

func lchoose(n, k int) float64 {
	of := func(x int) float64 { y, _ := math.Lgamma(float64(x + 1)); return y }
	return of(n) - of(k) - of(n-k)
}

// A plan for a threshold is for all votes, public ones among them, keeps the reach of the teachers, and expects what its
// table agrees in by the threshold.
func TestPlanOfAThreshold(t *testing.T) {
	several := must.Get(ensemble.Several{Labels: 4, MostYes: 1, YesFrom: "1/3"}.Of(10))(t) // 4 of 10, and 3 public votes
	r := Request{Stated: ensemble.Stated{K: 10, Classes: 2, Several: several, Affected: new(1),
		Neighbours: accountant.ReplaceOne}}
	r.Budget, r.Queries, r.For = accountant.Cost{Epsilon: 4, Delta: 1e-5}, 4, ForLabels
	p := must.Get(New(t.Context(), r))(t)
	best := p.Choices[0]
	if s := best.Mechanism.Setting(); s.K != 13 || s.Affected != 1 {
		t.Errorf("%+v", s)
	}
	law := must.Get(YesLaw(several, 0, Losses{}))(t)
	want := 0.0
	for votes, share := range law.Histograms() { // sorted, as the mechanism is symmetric
		of := must.Get(best.Mechanism.Probabilities(votes))(t)
		want += share * of[1]
	}
	if got := best.Agreement.Expected; math.Abs(got-want) > 1e-9 || got < .7 || best.Bound != 0 && got > best.Bound {
		t.Errorf("%v, want %v; at most %v", got, want, best.Bound)
	}
	report := NewReport(r, p, ReportOptions{})
	if report.K != 10 || report.Several.From() != 4 {
		t.Errorf("%+v", report)
	}
	for _, bad := range []func(*Request){
		func(r *Request) { r.K = 13 }, func(r *Request) { r.Affected = new(11) }, func(r *Request) { r.Missing = true },
		func(r *Request) { r.Several.YesFrom = "11" }, func(r *Request) { r.Several.Teachers = 0 },
	} {
		r := Request{Stated: ensemble.Stated{K: 10, Classes: 2, Several: several, Affected: new(1),
			Neighbours: accountant.ReplaceOne}}
		r.Budget, r.Queries, r.For = accountant.Cost{Epsilon: 4, Delta: 1e-5}, 4, ForLabels
		if bad(&r); r.validate() == nil {
			t.Errorf("%+v is planned for", r)
		}
	}
}
