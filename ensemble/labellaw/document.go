package labellaw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
)

// FormatVersion is the version of the JSON form of a Law. It changes when an old reader would
// misunderstand a new file.
const FormatVersion = 1

// formatKind is the value of the field "kind" of a Law, and formatName what errors call one.
const (
	formatKind = "label-law"
	formatName = "a label law"
)

// maxBytes bounds what Decode reads: T of a thousand classes, twice.
const maxBytes = 64 << 20

// file is the JSON form. docs/formats.md describes the fields.
type file struct {
	Format      int                                       `json:"format_version"`
	Kind        string                                    `json:"kind"`
	Mechanism   string                                    `json:"mechanism"`
	K           int                                       `json:"k"`
	Classes     int                                       `json:"classes"`
	Names       strictjson.List[string]                   `json:"class_names"`
	Answers     int                                       `json:"answers"`
	Prior       Stated                                    `json:"prior"`
	Apart       bool                                      `json:"told_apart,omitempty"` // the transition is stated, and agrees follows
	Shares      strictjson.List[float64]                  `json:"shares"`
	Agrees      float64                                   `json:"agrees"`
	Abstains    float64                                   `json:"abstains"`
	Beta        *float64                                  `json:"beta"` // null where labels have no noise
	Offsets     strictjson.List[float64]                  `json:"offsets,omitempty"`
	Transition  strictjson.List[strictjson.List[float64]] `json:"transition"`
	Labels      strictjson.List[float64]                  `json:"labels"`
	Posterior   strictjson.List[strictjson.List[float64]] `json:"posterior"`
	Information float64                                   `json:"information"`
	ChiSquare   float64                                   `json:"chi_square"`
	Worth       float64                                   `json:"worth"`
	Limit       float64                                   `json:"worth_limit,omitempty"`
}

// MarshalJSON returns the documented JSON form. The error is that of Validate.
func (l *Law) MarshalJSON() ([]byte, error) {
	l = handle.Made(l)
	if err := l.Validate(); err != nil {
		return nil, err
	}
	f := file{Format: FormatVersion, Kind: formatKind, Mechanism: l.Mechanism, K: l.K,
		Classes: l.Classes, Names: l.Names, Answers: l.Answers, Prior: l.Prior, Shares: l.Shares,
		Agrees: l.Agrees, Abstains: l.Abstains, Apart: l.Apart != nil, Offsets: l.Offsets, Transition: rows(l.Transition()),
		Labels: l.Labels(l.Shares), Posterior: rows(l.Posterior(l.Shares)),
		Information: l.Information(l.Shares), ChiSquare: l.ChiSquare(l.Shares), Worth: l.Worth(),
		Limit: l.Limit}
	if !math.IsInf(l.Beta, 1) {
		f.Beta = &l.Beta
	}
	return json.Marshal(f)
}

func rows(m [][]float64) (out strictjson.List[strictjson.List[float64]]) {
	for _, row := range m {
		out = append(out, row)
	}
	return out
}

// Encode returns the document as a file has it: indented, and ended by a line break.
func (l *Law) Encode() ([]byte, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

// Decode reads a Law and works out anew all that follows from a, n, shares and answers, or from T where the classes are
// told apart: a file that states anything else is refused. The error is a *strictjson.FormatError, r's, or ctx.Err().
func Decode(ctx context.Context, r io.Reader) (*Law, error) {
	return strictjson.Read(ctx, r, formatName, maxBytes, parse)
}

func parse(data []byte) (*Law, error) {
	var f file
	if err := strictjson.Decode(data, maxBytes, &f); err != nil {
		return nil, err
	}
	if f.Kind != formatKind || f.Format != FormatVersion {
		return nil, fmt.Errorf("kind = %.40q and format_version = %d, but they must be %q and %d", f.Kind,
			f.Format, formatKind, FormatVersion)
	}
	l := &Law{Channel: Channel{Classes: f.Classes, Agrees: f.Agrees, Abstains: f.Abstains}, K: f.K,
		Mechanism: f.Mechanism, Answers: f.Answers, Names: f.Names, Shares: f.Shares, Prior: f.Prior,
		Beta: math.Inf(1), Limit: f.Limit}
	if f.Beta != nil {
		l.Beta = *f.Beta
	}
	l.Offsets = f.Offsets
	if f.Apart {
		l.Apart = plain(f.Transition)
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if l.Mechanism == "" {
		return nil, errors.New("mechanism must be named")
	}
	for _, x := range []struct {
		name          string
		stated, found [][]float64
	}{
		{"transition", plain(f.Transition), l.Transition()},
		{"labels", [][]float64{f.Labels}, [][]float64{l.Labels(l.Shares)}},
		{"posterior", plain(f.Posterior), l.Posterior(l.Shares)},
		{"information", [][]float64{{f.Information}}, [][]float64{{l.Information(l.Shares)}}},
		{"chi_square", [][]float64{{f.ChiSquare}}, [][]float64{{l.ChiSquare(l.Shares)}}},
		{"worth", [][]float64{{f.Worth}}, [][]float64{{l.Worth()}}},
	} {
		if !near(x.stated, x.found) {
			return nil, fmt.Errorf("%s is not what follows from agrees, abstains, shares and answers", x.name)
		}
	}
	return l, nil
}

func plain(m strictjson.List[strictjson.List[float64]]) (out [][]float64) {
	for _, row := range m {
		out = append(out, row)
	}
	return out
}

// near reports whether both have the same shape and numbers, up to the rounding of another machine's
// arithmetic.
func near(a, b [][]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if !(math.Abs(a[i][j]-b[i][j]) <= rounding*(1+math.Abs(b[i][j]))) {
				return false
			}
		}
	}
	return true
}
