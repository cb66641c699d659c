package noisymax

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
)

// Certified is noise with the proof of what it promises: so many answers have been priced. It can only
// be made by pricing, so whoever holds one may release with it. It is immutable.
type Certified struct {
	problem     Problem
	sigma       float64
	certificate Certificate
}

// Certificate is the price that was proved, and how finely the game was worked out.
type Certificate struct {
	Delta float64 // of all answers at the promised ε, rounded up: at most δ
	Step  float64 // that of game.Options
}

// PriceError is the error for noise whose answers together are not certified to keep the promise.
type PriceError struct {
	Problem Problem
	Sigma   float64
	Delta   float64 // the price at the promised ε
}

func (e *PriceError) Error() string {
	p := e.Problem
	return fmt.Sprintf("noise of sigma = %v is not certified to answer %d queries (%g, %g)-differentially "+
		"privately: at that epsilon the price is delta = %.17g", e.Sigma, p.Answers, p.Epsilon, p.Delta, e.Delta)
}

// Certify prices noise of parameter sigma, which stands for its shortest decimal. The error is
// Validate's, a *PriceError where the price is above δ, or ctx.Err(). Cost: that of Price.
func Certify(ctx context.Context, p Problem, sigma, step float64) (*Certified, error) {
	delta, err := Price(ctx, p, sigma, step)
	if err != nil {
		return nil, err
	}
	if !(delta <= p.delta()) { // NaN too
		return nil, &PriceError{p, sigma, delta}
	}
	return &Certified{p, sigma, Certificate{delta, step}}, nil
}

// Best returns about the least noise that keeps the promise, with its price: see Sigma.
func Best(ctx context.Context, p Problem) (*Certified, error) {
	n, err := Sigma(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Certified{p, n.Sigma, Certificate{n.Delta, n.Step}}, nil
}

// Problem returns what is promised. The zero Certified promises nothing: Teachers = 0.
func (c *Certified) Problem() Problem { return handle.Made(c).problem }

// Sigma returns the noise's parameter σ, which stands for its shortest decimal: what is drawn.
func (c *Certified) Sigma() float64 { return handle.Made(c).sigma }

// Certificate returns what was proved.
func (c *Certified) Certificate() Certificate { return handle.Made(c).certificate }

// Same reports whether both are one mechanism: the same noise, for the same problem.
func (c *Certified) Same(d *Certified) bool {
	return c != nil && d != nil && c.problem == d.problem && c.sigma == d.sigma
}

// Hash names the mechanism and its promise: a charge for up to Q answers is one of this noise. It is
// the SHA-256, in hexadecimal, of the problem and σ.
func (c *Certified) Hash() string {
	c = handle.Made(c)
	p := c.problem
	sum := sha256.Sum256(fmt.Appendf(nil, "darrm %s %d: k=%d classes=%d affected=%d missing=%t answers=%d "+
		"epsilon=%v delta=%v noise=%s sigma=%v\n", formatKind, FormatVersion, p.Teachers, p.Classes, p.Affected,
		p.Missing, p.Answers, p.Epsilon, p.Delta, lawName, c.sigma))
	return hex.EncodeToString(sum[:])
}

// Table is certified noise as a document.
type Table struct {
	*Certified
	Version string // the program that wrote it
}

// FormatVersion is the version of the JSON form of a Table. It changes when an old reader
// would misunderstand a new file.
const FormatVersion = 1

const (
	formatKind = "noise"             // the value of the field "kind"
	lawName    = "discrete-gaussian" // the value of the field "noise"
	formatName = "noise that is priced by its label"
)

// MaxTableBytes bounds what ReadClaim reads.
const MaxTableBytes = 1 << 20

// file is the JSON form of a Table. Fields may be added; none changes its meaning without a
// new FormatVersion.
type file struct {
	Format      int             `json:"format_version"`
	Kind        string          `json:"kind"`
	K           int             `json:"k"`
	Classes     int             `json:"classes"`
	Affected    int             `json:"affected"`
	Missing     bool            `json:"missing_votes"`
	Answers     int             `json:"answers"`
	Epsilon     float64         `json:"total_epsilon"`
	Delta       float64         `json:"delta"`
	Noise       string          `json:"noise"`
	Sigma       float64         `json:"sigma"`
	Price       filePrice       `json:"price"`
	Certificate fileCertificate `json:"certificate"`
	Hash        string          `json:"hash"`
	Version     string          `json:"version"`
}

type filePrice struct {
	Step float64 `json:"step"`
}

type fileCertificate struct {
	Delta float64 `json:"delta"`
}

// MarshalJSON returns the documented JSON form.
func (t *Table) MarshalJSON() ([]byte, error) {
	t = handle.Made(t)
	p := t.Problem()
	if p.Teachers < 1 {
		return nil, errors.New("the noise was not certified")
	}
	c := t.Certificate()
	return json.Marshal(file{Format: FormatVersion, Kind: formatKind, K: p.Teachers, Classes: p.Classes,
		Affected: p.Affected, Missing: p.Missing, Answers: p.Answers, Epsilon: p.Epsilon, Delta: p.Delta,
		Noise: lawName, Sigma: t.Sigma(), Price: filePrice{c.Step}, Certificate: fileCertificate{c.Delta},
		Hash: t.Hash(), Version: t.Version})
}

// Encode writes the JSON form with a final newline.
func (t *Table) Encode(w io.Writer) error { return strictjson.Encode(w, handle.Made(t), "") }

// Recognises reports whether data begin as an object that says in its field "kind" that it is noise
// that is priced by its label. It may still be none: see strictjson.IsKind.
func Recognises(data []byte) bool { return strictjson.IsKind(data, formatKind) }

// Claim is the content of a file, checked for form and not yet for truth. It cannot release
// anything; Certify turns it into a Table.
type Claim struct {
	Problem Problem
	Sigma   float64
	Step    float64 // of the price
	Version string

	stated file
}

// FormatError is the error for bytes that are no such document.
type FormatError = strictjson.FormatError

// MismatchError lists the figures that a document states wrongly about itself.
type MismatchError = check.MismatchError

// ReadClaim reads a document without pricing it. The error is a *FormatError, r's, or ctx.Err().
func ReadClaim(ctx context.Context, r io.Reader) (*Claim, error) {
	return strictjson.Read(ctx, r, formatName, MaxTableBytes, parseClaim)
}

func parseClaim(data []byte) (*Claim, error) {
	var f file
	if err := strictjson.Decode(data, MaxTableBytes, &f); err != nil {
		return nil, err
	}
	if f.Format != FormatVersion || f.Kind != formatKind || f.Noise != lawName {
		return nil, fmt.Errorf("format_version = %d, kind = %.40q and noise = %.40q, but this program reads %d, %q and %q",
			f.Format, f.Kind, f.Noise, FormatVersion, formatKind, lawName)
	}
	c := &Claim{Sigma: f.Sigma, Step: f.Price.Step, Version: f.Version, stated: f,
		Problem: Problem{Teachers: f.K, Classes: f.Classes, Missing: f.Missing, Affected: f.Affected,
			Answers: f.Answers, Epsilon: f.Epsilon, Delta: f.Delta}}
	if err := c.Problem.Validate(); err != nil {
		return nil, err
	}
	if !(c.Step >= minStep && c.Step <= maxStep) {
		return nil, check.Wantf("step of the price", c.Step, "between %v and %v", minStep, maxStep)
	}
	return c, checkSigma(c.Sigma)
}

// A file's step is one with which a price takes no hours.
const minStep, maxStep = 1. / 100, 1

// Certify prices the noise: nothing that a file says about itself is believed. The error is a
// *PriceError, or ctx.Err().
func (c *Claim) Certify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	certified, err := Certify(ctx, c.Problem, c.Sigma, c.Step)
	if err != nil {
		return nil, err
	}
	return &Table{certified, c.Version}, nil
}

// Verify certifies the claim and compares what it says about itself with what is found. The errors
// are those of Certify, or a *MismatchError.
func (c *Claim) Verify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	return strictjson.Verify(ctx, c, func(s *check.Stated, t *Table) {
		s.Upper("certificate.delta", c.stated.Certificate.Delta, t.Certificate().Delta)
		s.Exact("hash", c.stated.Hash, t.Hash())
	})
}
