package model

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/prepare"
)

// Document holds those fields of a model's file that predictions need. Files of darrm train also
// state the model's privacy cost and its derivation.
type Document struct {
	Task     string   `json:"task"` // Name of the loss, of records or of pairs
	Link     Link     `json:"link"` // what a score predicts
	Columns  []string `json:"columns,omitempty"`
	Response string   `json:"response,omitempty"`
	// how a row of a table becomes a record; nil where the columns are numbers taken as they are
	Preparation *prepare.Map `json:"preparation,omitempty"`
	// Classes are the names of several classes. The weights are then those of the model of each
	// class against the rest, one after the other.
	Classes []string `json:"classes,omitempty"`
	// which records were not learned from; nil for none
	HoldOut *prepare.HoldOut `json:"hold_out,omitempty"`
	// Radius is the norm ‖·‖_q that longer features were shortened to, 0 for none, and Norm its q,
	// "" for 2 and "inf" for the largest feature.
	Radius float64 `json:"radius,omitempty"`
	Norm   string  `json:"radius_norm,omitempty"`
	// the last weight, or that of a network's last feature, is of a feature 1
	Intercept bool      `json:"intercept"`
	Model     []float64 `json:"model,omitempty"`
	// instead of Model, where it was trained from a seed
	Simulated []float64 `json:"simulated_model,omitempty"`
}

// NormName returns the text of a norm's q in a document.
func NormName(q float64) string {
	switch {
	case q == 2 || q == 0:
		return ""
	case math.IsInf(q, 1):
		return "inf"
	}
	return strconv.FormatFloat(q, 'g', -1, 64)
}

// normOf returns the q of a text that NormName returns.
func normOf(name string) (float64, error) {
	switch name {
	case "":
		return 2, nil
	case "inf":
		return math.Inf(1), nil
	}
	q, err := strconv.ParseFloat(name, 64)
	if err != nil || !(q >= 1 && q <= math.MaxFloat64) {
		return 0, &check.Error{Name: "radius_norm", Value: fmt.Sprintf("%q", name),
			Rule: "at least 1, or inf"}
	}
	return q, nil
}

// Document returns the document that Write writes. Its slices may be the model's.
func (m *Model) Document() Document {
	d := Document{Task: m.task, Link: m.Link, Columns: m.Columns, Response: m.Response,
		Preparation: m.Preparation, HoldOut: m.HoldOut, Classes: m.Classes,
		Radius: m.Radius, Norm: NormName(m.Norm),
		Intercept: m.constant}
	switch {
	case m.Task != nil:
		d.Task = m.Task.Name()
	case m.Link == LinkRank:
		d.Task = m.Pair.Name()
	}
	weights := m.Weights
	if m.Intercept != 0 {
		d.Intercept = true
		weights = append(weights[:len(weights):len(weights)], m.Intercept)
	}
	if m.Simulated {
		d.Simulated = weights
	} else {
		d.Model = weights
	}
	return d
}

// Write writes a model as JSON, which Read reads: the same model, number by number. It writes
// nothing where Read would refuse it, or where a weight is not finite. It says nothing of privacy,
// of which a model does not know.
func (m *Model) Write(w io.Writer) error {
	d := m.Document()
	if _, err := New(d); err != nil {
		return err
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
