package answers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/plurality"
)

// FormatVersion is the version of the JSON form of a Table. It changes when an old reader
// would misunderstand a new file.
const FormatVersion = 1

// formatKind is the value of the field "kind" of a table.
const formatKind = "answers"

// MaxTableBytes bounds what Decode reads.
const MaxTableBytes = 64 << 20

// file is the JSON form of a Table. Fields may be added; none changes its meaning without a
// new FormatVersion.
type file struct {
	Format int    `json:"format_version"`
	Kind   string `json:"kind"`
	fileProblem
	Law   Law       `json:"law"`
	Price filePrice `json:"price"`
	fileFigures
	Masses  strictjson.List[fileMasses] `json:"masses"`
	Proof   strictjson.List[Tangent]    `json:"proof,omitempty"`
	Events  strictjson.List[Event]      `json:"events,omitempty"`
	Solver  string                      `json:"solver"`
	Version string                      `json:"version"`
}

type fileProblem struct {
	K             int                                       `json:"k"`
	Classes       int                                       `json:"classes"`
	Affected      int                                       `json:"affected"`
	Missing       bool                                      `json:"missing_votes"`
	Answers       int                                       `json:"answers"`
	TotalEpsilon  float64                                   `json:"total_epsilon"`
	Delta         float64                                   `json:"delta"`
	Accuracy      float64                                   `json:"accuracy,omitempty"`
	Concentration float64                                   `json:"concentration,omitempty"`
	PriorCounts   strictjson.List[plurality.HistogramCount] `json:"prior_counts,omitempty"`
	Present       float64                                   `json:"present,omitempty"`
	// of classes that are told apart
	Named  bool                                      `json:"named,omitempty"`
	Shares strictjson.List[float64]                  `json:"shares,omitempty"`
	Costs  strictjson.List[strictjson.List[float64]] `json:"costs,omitempty"`
	// of labels that have masses each
	Labels    int                      `json:"labels,omitempty"`
	YesShares strictjson.List[float64] `json:"yes_shares,omitempty"`
	// the value of abstaining where it is an answer
	Abstain *float64 `json:"abstain,omitempty"`
}

// filePrice is the precision of the price, or what each answer keeps, where answers were composed.
type filePrice struct {
	Step        float64 `json:"step,omitempty"`
	Exact       int     `json:"exact,omitempty"`
	Groups      int     `json:"groups,omitempty"`
	EachEpsilon float64 `json:"each_epsilon,omitempty"`
	EachDelta   float64 `json:"each_delta,omitempty"`
}

func priceOf(c Certificate) filePrice {
	return filePrice{Step: c.Price.Step, Exact: c.Price.Exact, Groups: c.Price.Groups,
		EachEpsilon: c.Each.Epsilon, EachDelta: c.Each.Delta}
}

// split returns the two proofs' inputs, of which one is zero.
func (f filePrice) split() (game.Options, game.Each, error) {
	o := game.Options{Step: f.Step, Exact: f.Exact, Groups: f.Groups}
	each := game.Each{Epsilon: f.EachEpsilon, Delta: f.EachDelta}
	if each == (game.Each{}) {
		return o, each, nil
	}
	if o != (game.Options{}) {
		return o, each, errors.New("price has both a step and each_epsilon")
	}
	return o, each, each.Validate()
}

// fileFigures are the figures that the table states about itself.
type fileFigures struct {
	Value       float64         `json:"value"`
	UpperBound  float64         `json:"upper_bound"`
	LawBound    float64         `json:"law_bound"`
	Certificate fileCertificate `json:"certificate"`
	Hash        string          `json:"hash"`
}

type fileCertificate struct {
	Pairs int     `json:"pairs"`
	Delta float64 `json:"delta"`
}

// fileMasses are a histogram's votes, descending, or the lead where there are two classes, and the
// masses over 2⁵³ of its distinct numbers of votes, then of abstaining. Where the classes are told apart they
// are the votes in the order of the classes, or by how many the first of two leads where votes may be missing, below 0
// where it is behind; and a mass for each class; and the label, from 0, where each has its own.
type fileMasses struct {
	Label  *int     `json:"label,omitempty"`
	Votes  []int    `json:"votes,omitempty"`
	Lead   *int     `json:"lead,omitempty"`
	Groups []uint64 `json:"groups"`
}

// MarshalJSON returns the documented JSON form.
func (t *Table) MarshalJSON() ([]byte, error) {
	if t = handle.Made(t); t.Problem().K < 1 {
		return nil, t.whole()
	}
	f := file{
		Format: FormatVersion, Kind: formatKind, fileProblem: t.fileProblem(), fileFigures: t.figures(),
		Law: t.Law, Price: priceOf(t.certificate), Proof: strictjson.List[Tangent](t.Proof), Events: t.Events,
		Solver: t.Solver, Version: t.Version,
	}
	s := t.system
	for i := range s.problem.parts() * s.space.Histograms() {
		m, first, end := s.entry(i)
		m.Groups = t.masses[first:end]
		f.Masses = append(f.Masses, m)
	}
	return json.Marshal(f)
}

// entry returns how the file begins its masses number i, and which of all masses they are.
func (s *System) entry(i int) (m fileMasses, first, end int) {
	n := s.space.Histograms()
	label, h := i/n, i%n
	m = s.votes(h)
	if s.problem.Labels > 0 {
		m.Label = &label
	}
	first, end = s.space.Range(h)
	return m, label*s.space.Variables() + first, label*s.space.Variables() + end
}

// votes returns what the file calls histogram h of the Space.
func (s *System) votes(h int) fileMasses {
	switch {
	case s.problem.Named && s.problem.halves(): // the lead of the first class
		lead := s.space.Histogram(h)[0] - s.problem.K
		return fileMasses{Lead: &lead}
	case s.problem.Classes == 2 && !s.problem.Named:
		lead := s.Lead(h)
		return fileMasses{Lead: &lead}
	}
	return fileMasses{Votes: s.space.Histogram(h)}
}

// is reports whether m begins as entry does.
func (m fileMasses) is(entry fileMasses) bool {
	alike := func(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
	return alike(m.Label, entry.Label) && alike(m.Lead, entry.Lead) && slices.Equal(m.Votes, entry.Votes)
}

// Summary returns the JSON form without masses, proof, and who wrote it.
func (t *Table) Summary() ([]byte, error) {
	if t = handle.Made(t); t.Problem().K < 1 {
		return nil, t.whole()
	}
	return json.Marshal(struct {
		fileProblem
		Law   Law       `json:"law"`
		Price filePrice `json:"price"`
		fileFigures
	}{t.fileProblem(), t.Law, priceOf(t.certificate), t.figures()})
}

func (t *Table) fileProblem() fileProblem {
	p := t.Problem()
	f := fileProblem{
		K: p.K, Classes: p.Classes, Affected: p.Affected, Missing: p.Missing, Answers: p.Answers,
		TotalEpsilon: p.Epsilon, Delta: p.Delta,
		Accuracy: t.Prior.Accuracy, Concentration: t.Prior.Concentration, PriorCounts: t.Prior.Counts,
		Present: t.Prior.Present, Named: p.Named, Shares: strictjson.List[float64](t.Prior.Shares),
		Labels: p.Labels, YesShares: strictjson.List[float64](t.Prior.Yes),
	}
	for _, row := range t.Prior.Costs {
		f.Costs = append(f.Costs, row)
	}
	if p.Abstain {
		f.Abstain = &t.Prior.AbstainValue
	}
	return f
}

func (t *Table) figures() fileFigures {
	return fileFigures{
		Value: t.Value, UpperBound: t.UpperBound, LawBound: t.LawBound, Hash: t.Hash(),
		Certificate: fileCertificate{Pairs: t.certificate.Pairs, Delta: t.certificate.Delta},
	}
}

// Encode writes the JSON form with a final newline.
func (t *Table) Encode(w io.Writer) error { return strictjson.Encode(w, handle.Made(t), "") }

// FormatError is the error for bytes that are not a table.
type FormatError = strictjson.FormatError

// formatName is the name of a table in the errors of files that are none.
const formatName = "a table for many answers"

// MismatchError lists the figures that a table's file states wrongly about itself.
type MismatchError = check.MismatchError

// Recognises reports whether data begin as an object that says in its field "kind" that it is a
// table for many answers. It may still be none: see strictjson.IsKind.
func Recognises(data []byte) bool { return strictjson.IsKind(data, formatKind) }

// Decode reads a table and certifies it from scratch: nothing a file says about itself is
// believed. The error is a *FormatError where the bytes are no table, a *PriceError where the
// answers cost more than they promise.
func Decode(ctx context.Context, r io.Reader) (*Table, error) {
	c, err := ReadClaim(ctx, r)
	return strictjson.Certify(ctx, c, err)
}

// ReadClaim reads a table without certifying it. The error is a *FormatError, r's, or ctx.Err().
func ReadClaim(ctx context.Context, r io.Reader) (*Claim, error) {
	return strictjson.Read(ctx, r, formatName, MaxTableBytes, func(data []byte) (*Claim, error) {
		return parseClaim(ctx, data)
	})
}

func parseClaim(ctx context.Context, data []byte) (*Claim, error) {
	var f file
	if err := strictjson.Decode(data, MaxTableBytes, &f); err != nil {
		return nil, err
	}
	if f.Format != FormatVersion || f.Kind != formatKind {
		return nil, fmt.Errorf("format_version = %d and kind = %.40q, but this program reads %d and %q",
			f.Format, f.Kind, FormatVersion, formatKind)
	}
	p := Problem{
		K: f.K, Classes: f.Classes, Affected: f.Affected, Missing: f.Missing, Answers: f.Answers,
		Epsilon: f.TotalEpsilon, Delta: f.Delta, Abstain: f.Abstain != nil, Named: f.Named, Labels: f.Labels,
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// Before the Space is listed: a small file must not ask for a large one.
	if n := p.parts() * p.histograms(); len(f.Masses) != n {
		return nil, fmt.Errorf("it has masses of %d histograms, but the problem has %d", len(f.Masses), n)
	}
	c := &Claim{
		Law: f.Law, Proof: Proof(f.Proof), Events: f.Events, Solver: f.Solver, Version: f.Version,
		stated: f.fileFigures,
		Prior: Prior{Objective: plurality.Objective{Accuracy: f.Accuracy, Concentration: f.Concentration,
			Counts: f.PriorCounts}, Present: f.Present, Shares: plurality.Shares(f.Shares), Yes: f.YesShares},
	}
	for _, row := range f.Costs {
		c.Prior.Costs = append(c.Prior.Costs, row)
	}
	if f.Abstain != nil {
		c.Prior.AbstainValue = *f.Abstain
	}
	var err error
	c.Price, c.Each, err = f.Price.split()
	if err := cmp.Or(c.Prior.Validate(p), c.Law.Validate(), err); err != nil {
		return nil, err
	}
	if c.System, err = NewSystem(ctx, p); err != nil {
		return nil, err
	}
	for i, m := range f.Masses {
		entry, first, end := c.System.entry(i)
		if !m.is(entry) || len(m.Groups) != end-first {
			return nil, fmt.Errorf(
				"masses[%d] is of another histogram than the problem's, or has %d groups in the place of %d", i,
				len(m.Groups), end-first)
		}
		c.Masses = append(c.Masses, m.Groups...)
	}
	return c, nil
}
