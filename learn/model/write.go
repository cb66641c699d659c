package model

import (
	"encoding/json"
	"io"
)

// Document holds those fields of a model's file that predictions need. Files of darrm train also
// state the model's privacy cost and its derivation.
type Document struct {
	Task     string   `json:"task"` // Name of the loss, of records or of pairs
	Link     Link     `json:"link"` // what a score predicts
	Columns  []string `json:"columns,omitempty"`
	Response string   `json:"response,omitempty"`
	// the last weight, or that of a network's last feature, is of a feature 1
	Intercept bool      `json:"intercept"`
	Model     []float64 `json:"model,omitempty"`
	// instead of Model, where it was trained from a seed
	Simulated []float64 `json:"simulated_model,omitempty"`
}

// Document returns the document that Write writes. Its slices may be the model's.
func (m *Model) Document() Document {
	d := Document{Task: m.task, Link: m.Link, Columns: m.Columns, Response: m.Response,
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
