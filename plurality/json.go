package plurality

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
)

// FormatVersion is the version of the JSON form of a Table. It changes when an old reader
// would misunderstand a new file.
const FormatVersion = 1

// FormatKind is the value of the field "kind" of a table.
const FormatKind = "plurality"

// MaxTableBytes bounds what Decode reads. A table of 50 teachers and 10 classes, with
// 378,666 variables, takes some 40 MB.
const MaxTableBytes = 256 << 20

// file is the JSON form of a Table. Fields may be added; none changes its meaning without a
// new FormatVersion.
type file struct {
	Format int    `json:"format_version"`
	Kind   string `json:"kind"`
	fileProblem
	fileFigures
	Masses  strictjson.List[fileMasses]     `json:"masses"`
	Proof   strictjson.List[RowMultiplier]  `json:"proof"`
	Pairs   strictjson.List[PairMultiplier] `json:"proof_pairs,omitempty"`
	Solver  string                          `json:"solver"`
	Version string                          `json:"version"`
}

type fileProblem struct {
	K             int                             `json:"k"`
	Classes       int                             `json:"classes"`
	TotalEpsilon  float64                         `json:"total_epsilon"`
	Delta         float64                         `json:"delta"`
	Affected      int                             `json:"affected"`
	Accuracy      float64                         `json:"accuracy,omitempty"`
	Concentration float64                         `json:"concentration,omitempty"`
	PriorCounts   strictjson.List[HistogramCount] `json:"prior_counts,omitempty"`
	// the value of abstaining where it is an answer
	Abstain *float64 `json:"abstain,omitempty"`
}

// fileFigures are the figures that the table states about itself.
type fileFigures struct {
	Value       float64     `json:"value"`
	UpperBound  float64     `json:"upper_bound"`
	Gap         float64     `json:"gap"`
	Certificate Certificate `json:"certificate"`
}

// fileMasses are a histogram's votes, descending, and the masses over 2⁵³ of its distinct
// numbers of votes, then of abstaining. They are in the order of the Space.
type fileMasses struct {
	Votes  []int    `json:"votes"`
	Groups []uint64 `json:"groups"`
}

// MarshalJSON writes [I, J, value]: there may be many.
func (m RowMultiplier) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]any{m.I, m.J, m.Value})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *RowMultiplier) UnmarshalJSON(b []byte) error {
	var x []json.Number
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	if len(x) != 3 {
		return fmt.Errorf("a multiplier has %d numbers, want 3", len(x))
	}
	for k, to := range []any{&m.I, &m.J, &m.Value} {
		if err := json.Unmarshal([]byte(x[k]), to); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes [votes, delta, classes].
func (c Change) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int{c.Votes, c.Delta, c.Classes})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Change) UnmarshalJSON(b []byte) error {
	var x [3]int
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*c = Change{x[0], x[1], x[2]}
	return nil
}

// MarshalJSON returns the documented JSON form.
func (t *Table) MarshalJSON() ([]byte, error) {
	if t == nil || t.Problem().K < 1 {
		return nil, errUncertified
	}
	f := file{
		Format: FormatVersion, Kind: FormatKind, fileProblem: t.fileProblem(), fileFigures: t.figures(),
		Proof: append([]RowMultiplier{}, t.Proof.Rows...), Pairs: t.Proof.Pairs, Solver: t.Solver,
		Version: t.Version,
	}
	for h := range t.system.Histograms() {
		first, end := t.system.Range(h)
		f.Masses = append(f.Masses, fileMasses{t.system.Histogram(h), t.masses[first:end]})
	}
	return json.Marshal(f)
}

// Summary returns the JSON form without masses, proof, and who wrote it.
func (t *Table) Summary() ([]byte, error) {
	if t == nil || t.Problem().K < 1 {
		return nil, errUncertified
	}
	return json.Marshal(struct {
		fileProblem
		fileFigures
	}{t.fileProblem(), t.figures()})
}

func (t *Table) fileProblem() fileProblem {
	p := t.Problem()
	f := fileProblem{
		K: p.K, Classes: p.Classes, TotalEpsilon: p.Epsilon, Delta: p.Delta, Affected: p.Affected,
		Accuracy: t.Objective.Accuracy, Concentration: t.Objective.Concentration,
		PriorCounts: t.Objective.Counts,
	}
	if p.Abstain {
		f.Abstain = &t.Objective.AbstainValue
	}
	return f
}

func (t *Table) figures() fileFigures {
	return fileFigures{Value: t.Value, UpperBound: t.UpperBound, Gap: t.Gap,
		Certificate: t.certificate}
}

// Encode writes the JSON form with a final newline.
func (t *Table) Encode(w io.Writer) error { return strictjson.Encode(w, handle.Made(t), "") }

// FormatError is the error for bytes that are not a table.
type FormatError = strictjson.FormatError

// formatName is the name of a table in the errors of files that are none.
const formatName = "a plurality table"

// MismatchError lists the figures that a table's file states wrongly about itself.
type MismatchError = check.MismatchError

// Decode reads a table and certifies it from scratch: nothing a file says about itself is
// believed. The error is a *FormatError where the bytes are no table, a *ViolationError
// where the masses do not keep their promise.
func Decode(ctx context.Context, r io.Reader) (*Table, error) {
	c, err := ReadClaim(r)
	return strictjson.Certify(ctx, c, err)
}

// Recognises reports whether data begin as an object that says in its field "kind" that it is a
// table of many classes. It may still be none: see strictjson.IsKind.
func Recognises(data []byte) bool {
	return strictjson.IsKind(data, FormatKind)
}

// ReadClaim reads a table without certifying it. The error is a *FormatError, or r's.
func ReadClaim(r io.Reader) (*Claim, error) {
	return strictjson.Read(context.Background(), r, formatName, MaxTableBytes, parseClaim)
}

func parseClaim(data []byte) (*Claim, error) {
	var f file
	if err := strictjson.Decode(data, MaxTableBytes, &f); err != nil {
		return nil, err
	}
	if f.Format != FormatVersion || f.Kind != FormatKind {
		return nil, fmt.Errorf("format_version = %d and kind = %.40q, but this program reads %d and %q",
			f.Format, f.Kind, FormatVersion, FormatKind)
	}
	p := Problem{K: f.K, Classes: f.Classes, Epsilon: f.TotalEpsilon, Delta: f.Delta,
		Affected: f.Affected, Abstain: f.Abstain != nil}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// Before the Space is listed: a small file must not ask for a large one.
	if n := Histograms(p.K, p.Classes); len(f.Masses) != n {
		return nil, fmt.Errorf("it has masses of %d histograms, but %d votes for %d classes have %d",
			len(f.Masses), p.K, p.Classes, n)
	}
	c := &Claim{Objective: Objective{Accuracy: f.Accuracy, Concentration: f.Concentration,
		Counts: f.PriorCounts}, Proof: Proof{f.Proof, f.Pairs}, Solver: f.Solver, Version: f.Version,
		stated: f.fileFigures}
	if f.Abstain != nil {
		c.Objective.AbstainValue = *f.Abstain
	}
	if err := c.Objective.Validate(p); err != nil {
		return nil, err
	}
	var err error
	if c.System, err = NewSystem(p); err != nil {
		return nil, err
	}
	for h, m := range f.Masses {
		first, end := c.System.Range(h)
		if !slices.Equal(m.Votes, c.System.Histogram(h)) || len(m.Groups) != end-first {
			return nil, fmt.Errorf("masses[%d] is of %v with %d groups, but it must be of %v with %d", h,
				m.Votes, len(m.Groups), c.System.Histogram(h), end-first)
		}
		c.Masses = append(c.Masses, m.Groups...)
	}
	return c, nil
}
