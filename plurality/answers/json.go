package answers

import (
	"context"
	"encoding/json"
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
	Law   fileLaw   `json:"law"`
	Price filePrice `json:"price"`
	fileFigures
	Masses  strictjson.List[fileMasses]  `json:"masses"`
	Proof   strictjson.List[fileTangent] `json:"proof,omitempty"`
	Solver  string                       `json:"solver"`
	Version string                       `json:"version"`
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
	// the value of abstaining where it is an answer
	Abstain *float64 `json:"abstain,omitempty"`
}

type fileLaw struct {
	Name    Name    `json:"name"`
	Sigma   float64 `json:"sigma,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
	Order   float64 `json:"order,omitempty"`
	Moment  float64 `json:"moment,omitempty"`
}

// filePrice sets the precision of the price.
type filePrice struct {
	Step   float64 `json:"step"`
	Exact  int     `json:"exact"`
	Groups int     `json:"groups"`
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
// masses over 2⁵³ of its distinct numbers of votes, then of abstaining.
type fileMasses struct {
	Votes  []int    `json:"votes,omitempty"`
	Lead   *int     `json:"lead,omitempty"`
	Groups []uint64 `json:"groups"`
}

// fileTangent is Tangent, each change as [votes, delta, classes].
type fileTangent struct {
	From    int       `json:"from"`
	Changes [][3]int  `json:"changes"`
	Ratios  []float64 `json:"ratios"`
	Value   float64   `json:"value"`
}

// MarshalJSON returns the documented JSON form.
func (t *Table) MarshalJSON() ([]byte, error) {
	if t = handle.Made(t); t.Problem().K < 1 {
		return nil, t.whole()
	}
	o := t.certificate.Price
	f := file{
		Format: FormatVersion, Kind: formatKind, fileProblem: t.fileProblem(), fileFigures: t.figures(),
		Law: fileLaw(t.Law), Price: filePrice(o), Solver: t.Solver, Version: t.Version,
	}
	s := t.system
	for h := range s.space.Histograms() {
		first, end := s.space.Range(h)
		m := s.label(h)
		m.Groups = t.masses[first:end]
		f.Masses = append(f.Masses, m)
	}
	for _, m := range t.Proof {
		p := fileTangent{From: m.From, Ratios: m.Ratios, Value: m.Value}
		for _, c := range m.Changes {
			p.Changes = append(p.Changes, [3]int{c.Votes, c.Delta, c.Classes})
		}
		f.Proof = append(f.Proof, p)
	}
	return json.Marshal(f)
}

// label returns what the file calls histogram h of the Space.
func (s *System) label(h int) fileMasses {
	if s.problem.Classes == 2 {
		lead := s.Lead(h)
		return fileMasses{Lead: &lead}
	}
	return fileMasses{Votes: s.space.Histogram(h)}
}

// is reports whether m is of histogram h, by what label returns of it.
func (m fileMasses) is(label fileMasses) bool {
	if m.Lead != nil && label.Lead != nil {
		return m.Votes == nil && *m.Lead == *label.Lead
	}
	return m.Lead == label.Lead && slices.Equal(m.Votes, label.Votes)
}

// Summary returns the JSON form without masses, proof, and who wrote it.
func (t *Table) Summary() ([]byte, error) {
	if t = handle.Made(t); t.Problem().K < 1 {
		return nil, t.whole()
	}
	return json.Marshal(struct {
		fileProblem
		Law   fileLaw   `json:"law"`
		Price filePrice `json:"price"`
		fileFigures
	}{t.fileProblem(), fileLaw(t.Law), filePrice(t.certificate.Price), t.figures()})
}

func (t *Table) fileProblem() fileProblem {
	p := t.Problem()
	f := fileProblem{
		K: p.K, Classes: p.Classes, Affected: p.Affected, Missing: p.Missing, Answers: p.Answers,
		TotalEpsilon: p.Epsilon, Delta: p.Delta,
		Accuracy: t.Prior.Accuracy, Concentration: t.Prior.Concentration, PriorCounts: t.Prior.Counts,
		Present: t.Prior.Present,
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
func (t *Table) Encode(w io.Writer) error {
	t = handle.Made(t)
	b, err := t.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

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
	if err != nil {
		return nil, err
	}
	return c.Certify(ctx)
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
		Epsilon: f.TotalEpsilon, Delta: f.Delta, Abstain: f.Abstain != nil,
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// Before the Space is listed: a small file must not ask for a large one.
	if n := p.histograms(); len(f.Masses) != n {
		return nil, fmt.Errorf("it has masses of %d histograms, but the problem has %d", len(f.Masses), n)
	}
	c := &Claim{
		Price: game.Options(f.Price), Law: Law(f.Law), Solver: f.Solver, Version: f.Version,
		stated: f.fileFigures,
		Prior: Prior{Objective: plurality.Objective{Accuracy: f.Accuracy, Concentration: f.Concentration,
			Counts: f.PriorCounts}, Present: f.Present},
	}
	if f.Abstain != nil {
		c.Prior.AbstainValue = *f.Abstain
	}
	for _, err := range []error{c.Prior.Validate(p), c.Law.Validate(), checkOptions(c.Price)} {
		if err != nil {
			return nil, err
		}
	}
	var err error
	if c.System, err = NewSystem(ctx, p); err != nil {
		return nil, err
	}
	for h, m := range f.Masses {
		first, end := c.System.space.Range(h)
		if label := c.System.label(h); !m.is(label) || len(m.Groups) != end-first {
			return nil, fmt.Errorf(
				"masses[%d] is of another histogram than the problem's, or has %d groups in the place of %d", h,
				len(m.Groups), end-first)
		}
		c.Masses = append(c.Masses, m.Groups...)
	}
	for _, m := range f.Proof {
		t := Tangent{From: m.From, Ratios: m.Ratios, Value: m.Value}
		for _, x := range m.Changes {
			t.Changes = append(t.Changes, plurality.Change{Votes: x[0], Delta: x[1], Classes: x[2]})
		}
		c.Proof = append(c.Proof, t)
	}
	return c, nil
}
