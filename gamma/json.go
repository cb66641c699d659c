package gamma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
)

// FormatVersion is the version of the JSON form of a Table. It changes when an old
// reader would misunderstand a new file.
const FormatVersion = 1

// MaxTableBytes bounds what Decode reads; a table of MaxTeachers takes less than 1 MiB.
const MaxTableBytes = 4 << 20

// file is the JSON form of a Table. Fields may be added; none changes its meaning
// without a new FormatVersion.
type file struct {
	Format int `json:"format_version"`
	fileProblem
	Gamma []float64 `json:"gamma"`
	fileFigures
	Proof        []fileMultiplier `json:"proof"`
	ProofWeights []float64        `json:"proof_weights,omitempty"`
	Solver       string           `json:"solver"`
	Version      string           `json:"version"`
}

// fileProblem holds the problem and the objective that the table was solved for.
type fileProblem struct {
	K            int         `json:"k"`
	M            float64     `json:"m"`
	TotalEpsilon float64     `json:"total_epsilon,omitempty"`
	Epsilon      fileEpsilon `json:"epsilon"`
	TeacherDelta float64     `json:"teacher_delta"`
	Delta        float64     `json:"delta"`
	Affected     int         `json:"affected"`
	Shape        Shape       `json:"shape"`
	PriorMean    float64     `json:"prior_mean"`
	PriorCounts  []float64   `json:"prior_counts,omitempty"`
	WorstCase    bool        `json:"worst_case,omitempty"`
	Costs        []float64   `json:"costs,omitempty"`
}

// fileFigures are the figures that the table states about itself.
type fileFigures struct {
	ExpectedError float64            `json:"expected_error"`
	Disagreement  Disagreements      `json:"disagreement"`
	Baselines     map[string]float64 `json:"baselines"`
	Certificate   fileCertificate    `json:"certificate"`
}

// fileEpsilon is an ε; JSON has no infinity, so that of teachers that promise
// nothing is the string "inf".
type fileEpsilon float64

func (e fileEpsilon) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(e))
}

func (e *fileEpsilon) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*e = fileEpsilon(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(e))
}

// fileCount is a large whole number. Its digits are bounded before they are
// converted, which takes quadratic time.
type fileCount struct{ n *big.Int }

const maxCountDigits = 64

func (c fileCount) MarshalJSON() ([]byte, error) { return c.n.MarshalJSON() }

func (c *fileCount) UnmarshalJSON(b []byte) error {
	if len(b) > maxCountDigits {
		return fmt.Errorf("a count has %d digits, but it must have at most %d", len(b), maxCountDigits)
	}
	c.n = new(big.Int)
	return c.n.UnmarshalJSON(b)
}

type fileCertificate struct {
	Method        string    `json:"method"`
	Constraints   fileCount `json:"constraints"`
	Bound         float64   `json:"bound"`
	RightHandSide float64   `json:"right_hand_side"`
	Slack         float64   `json:"slack"`
	LowerBound    float64   `json:"objective_lower_bound"`
	Gap           float64   `json:"gap"`
}

type fileMultiplier struct {
	Corners    []int   `json:"corners"`        // teachers at each constraints.Corner
	Zero       bool    `json:"zero,omitempty"` // of label 0
	Multiplier float64 `json:"multiplier"`
}

// MarshalJSON returns the documented JSON form.
func (t *Table) MarshalJSON() ([]byte, error) {
	if t = handle.Made(t); t.Problem().K < 1 {
		return nil, errors.New("certified noise function must be given: use Certify")
	}
	f := file{
		Format: FormatVersion, fileProblem: t.fileProblem(), Gamma: t.Func().Values(),
		fileFigures: t.fileFigures(),
		Proof:       []fileMultiplier{}, ProofWeights: t.Proof.Weights, Solver: t.Solver,
		Version: t.Version,
	}
	for _, m := range t.Proof.Multipliers {
		f.Proof = append(f.Proof, fileMultiplier{m.Multiset[:], m.Zero, m.Value})
	}
	return json.Marshal(f)
}

// Summary returns the JSON form without the noise function, its proof, and who wrote it. Its
// fields have the names and the order of MarshalJSON's.
func (t *Table) Summary() ([]byte, error) {
	t = handle.Made(t)
	return json.Marshal(struct {
		fileProblem
		fileFigures
	}{t.fileProblem(), t.fileFigures()})
}

func (t *Table) fileProblem() fileProblem {
	p := t.Problem()
	var costs []float64
	if t.Costs != [2]float64{} {
		costs = t.Costs[:]
	}
	return fileProblem{
		K: p.K, M: p.M, TotalEpsilon: p.TotalEpsilon, Epsilon: fileEpsilon(p.Epsilon),
		TeacherDelta: p.TeacherDelta, Delta: p.Delta,
		Affected: p.Affected, Shape: t.Shape, PriorMean: t.PriorMean, PriorCounts: t.Counts,
		WorstCase: t.WorstCase, Costs: costs,
	}
}

func (t *Table) fileFigures() fileFigures {
	c := t.Certificate()
	f := fileFigures{
		ExpectedError: t.ExpectedError, Disagreement: t.Disagreements(t.Func()),
		Baselines: map[string]float64{},
		Certificate: fileCertificate{
			Method: c.Method, Constraints: fileCount{c.Constraints}, Bound: c.Bound,
			RightHandSide: c.RightHandSide, Slack: c.Slack,
			LowerBound: t.LowerBound, Gap: t.Gap,
		},
	}
	for _, b := range t.Baselines {
		f.Baselines[b.Key()] = t.BaselineError(b)
	}
	return f
}

// Encode writes the JSON form, indented, with a final newline.
func (t *Table) Encode(w io.Writer) error { return strictjson.Encode(w, handle.Made(t), "  ") }

// FormatError is the error for bytes that are not a table.
type FormatError = strictjson.FormatError

// formatName is the name of a table in the errors of files that are none.
const formatName = "a noise-function table"

// Claim is the content of a file, checked for form and not yet for truth. It cannot release
// anything; Certify turns it into a Table.
type Claim struct {
	Problem   constraints.Problem
	Objective Objective
	Func      Func
	Proof     Proof
	Solver    string
	Version   string

	stated file
}

// Decode reads a table and certifies it from scratch: nothing a file says about
// itself is believed, its certificate least of all. The error is a *FormatError where the
// bytes are no table, a *ViolationError where γ does not keep its promise.
func Decode(ctx context.Context, r io.Reader) (*Table, error) {
	c, err := ReadClaim(r)
	return strictjson.Certify(ctx, c, err)
}

// MismatchError lists the figures that a table's file states wrongly about itself.
type MismatchError = check.MismatchError

// Verify certifies the claim and compares what it says about itself with what is found: bounds may
// be weaker than those found, counts are the same, expectations agree to within
// 1e-9. The errors are those of Certify, or a *MismatchError.
//
// Proved by machine for exact numbers: private_ok in proofs/TwoClasses.v, optimal_ok and worst_ok
// in proofs/Bound.v, and named_optimal_ok in proofs/ByName.v.
func (c *Claim) Verify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	return strictjson.Verify(ctx, c, c.compare)
}

// ReadClaim reads a table without certifying it. The error is a *FormatError.
func ReadClaim(r io.Reader) (*Claim, error) {
	return strictjson.Read(context.Background(), r, formatName, MaxTableBytes, parseClaim)
}

func parseClaim(data []byte) (*Claim, error) {
	var f file
	if err := strictjson.Decode(data, MaxTableBytes, &f); err != nil {
		return nil, err
	}
	if f.Format != FormatVersion {
		return nil, fmt.Errorf("format_version = %d, but this program reads %d", f.Format, FormatVersion)
	}
	p := constraints.Problem{K: f.K, M: f.M, TotalEpsilon: f.TotalEpsilon, Epsilon: float64(f.Epsilon),
		TeacherDelta: f.TeacherDelta, Delta: f.Delta, Affected: f.Affected}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	o := Objective{PriorMean: f.PriorMean, Counts: f.PriorCounts, WorstCase: f.WorstCase,
		Shape: f.Shape}
	if f.Costs != nil && len(f.Costs) != len(o.Costs) {
		return nil, check.Wantf("number of costs", len(f.Costs), "%d", len(o.Costs))
	}
	copy(o.Costs[:], f.Costs)
	if f.Costs != nil && o.Costs == [2]float64{} { // which is the default's
		return nil, check.Want("costs", o.Costs, "≥ 0 and not all 0")
	}
	if err := o.Validate(f.K); err != nil {
		return nil, err
	}
	if len(f.Gamma) != f.K+1 {
		return nil, fmt.Errorf("gamma has %d values, but K = %d needs %d", len(f.Gamma), f.K, f.K+1)
	}
	fn, err := fromMultiples(f.Gamma, f.Shape)
	if err != nil {
		return nil, err
	}
	c := &Claim{Problem: p, Objective: o, Func: fn, Solver: f.Solver, Version: f.Version, stated: f}
	c.Proof.Weights = f.ProofWeights
	// An optimal basis has at most one multiplier per variable; a longer proof
	// costs time and proves no more.
	if most := f.K + 16; len(f.Proof) > most {
		return nil, fmt.Errorf("proof has %d multipliers, but K = %d needs at most %d", len(f.Proof), f.K,
			most)
	}
	for i, m := range f.Proof {
		at := constraints.Multiset{}
		if len(m.Corners) != len(at) {
			return nil, fmt.Errorf("proof[%d] has %d corners, but there are %d", i, len(m.Corners), len(at))
		}
		copy(at[:], m.Corners)
		c.Proof.Multipliers = append(c.Proof.Multipliers, Multiplier{at, m.Zero, m.Multiplier})
	}
	return c, nil
}

// Certify checks the claim and returns the table it makes.
func (c *Claim) Certify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	certified, err := Certify(ctx, c.Problem, c.Func)
	if err != nil {
		return nil, err
	}
	t, err := NewTable(ctx, certified, c.Objective, c.Proof)
	var violation *ViolationError
	if ctx.Err() == nil && errors.As(err, &violation) { // a baseline's
		return nil, err
	}
	if t, err = strictjson.Result(ctx, formatName, t, err); err != nil {
		return nil, err
	}
	t.Solver, t.Version = c.Solver, c.Version
	return t, nil
}

// compare compares what the file says about itself with t, the table that the claim turned out to
// be.
func (c *Claim) compare(s *check.Stated, t *Table) {
	stated, found := c.stated.Certificate, t.certificate
	s.Expectation("expected_error", c.stated.ExpectedError, t.ExpectedError)
	s.Exact("certificate.method", fmt.Sprintf("%.40q", stated.Method), strconv.Quote(found.Method))
	s.Exact("certificate.constraints", fmt.Sprint(stated.Constraints.n), found.Constraints.String())
	s.Exact("certificate.right_hand_side", stated.RightHandSide, found.RightHandSide)
	s.Upper("certificate.bound", stated.Bound, found.Bound)
	s.Lower("certificate.slack", stated.Slack, found.Slack)
	s.Lower("certificate.objective_lower_bound", stated.LowerBound, t.LowerBound)
	s.Upper("certificate.gap", stated.Gap, t.Gap)
	d := t.Disagreements(t.fn)
	s.Expectation("disagreement.binomial", c.stated.Disagreement.Binomial, d.Binomial)
	s.Expectation("disagreement.uniform", c.stated.Disagreement.Uniform, d.Uniform)
	known := map[string]bool{}
	for _, b := range t.Baselines {
		known[b.Key()] = true
		stated, ok := c.stated.Baselines[b.Key()]
		if !ok {
			stated = math.NaN()
		}
		s.Expectation("baselines."+b.Key(), stated, t.BaselineError(b))
	}
	for _, name := range slices.Sorted(maps.Keys(c.stated.Baselines)) {
		if !known[name] {
			s.Exact(fmt.Sprintf("baselines.%.40q", name), c.stated.Baselines[name], "none of this table's")
		}
	}
}
