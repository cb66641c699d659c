// Package model reads trained models, predicts by them and says how well they do.
//
// The models are linear: the score of features a is ⟨a,w⟩ + b. A model for classes says 1
// where the score is above 0 and 0 elsewhere, another says the score. Predictions by a
// private model are as private as the model where the records are others than it was trained
// on. Evaluations tell about the records that they are worked out on, and are not private.
//
// # Notation
//
//	w        Model.Weights
//	b        Model.Intercept
//	⟨a,w⟩+b  Model.Score
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// MaxBytes is the most that is read of a model's file, 1 GiB.
const MaxBytes = 1 << 30

// Model is a trained linear model.
type Model struct {
	Task      string   // name of the loss that it was trained by
	Columns   []string // names of the features, nil where they have none
	Response  string   // name of the response, "" where it has none
	Classes   bool     // the score's sign is the prediction
	Simulated bool     // trained from a seed: not private
	Weights   []float64
	Intercept float64
}

// document is the part of the file that darrm train writes which predictions need.
type document struct {
	Task      string    `json:"task"`
	Link      string    `json:"link"`
	Columns   []string  `json:"columns"`
	Response  string    `json:"response"`
	Intercept *bool     `json:"intercept"`
	Model     []float64 `json:"model"`
	Simulated []float64 `json:"simulated_model"`
}

// Read reads a model as darrm train writes it, of at most MaxBytes.
func Read(r io.Reader) (*Model, error) {
	var d document
	if err := json.NewDecoder(io.LimitReader(r, MaxBytes)).Decode(&d); err != nil {
		return nil, fmt.Errorf("no model as darrm train writes it: %w", err)
	}
	m := &Model{Task: d.Task, Columns: d.Columns, Response: d.Response, Weights: d.Model}
	if d.Model == nil && d.Simulated != nil {
		m.Weights, m.Simulated = d.Simulated, true
	}
	switch {
	case m.Weights == nil:
		return nil, errors.New("the file has no \"model\": is it of a dry run?")
	case d.Link == "":
		return nil, fmt.Errorf("the model of task %q has no \"link\", so it predicts nothing", d.Task)
	}
	switch d.Link {
	case LinkIdentity:
	case LinkSign, LinkLogit:
		m.Classes = true
	default:
		return nil, &check.Error{Name: "link", Value: d.Link, Rule: fmt.Sprintf("%q, %q or %q", LinkIdentity, LinkSign, LinkLogit)}
	}
	for i, w := range m.Weights {
		if math.IsNaN(w) || math.Abs(w) > math.MaxFloat64 {
			return nil, fmt.Errorf("weight %d = %v, but it must be finite", i+1, w)
		}
	}
	if d.Intercept != nil && *d.Intercept && len(m.Weights) > 0 {
		last := len(m.Weights) - 1
		m.Intercept, m.Weights = m.Weights[last], m.Weights[:last]
	}
	if len(m.Weights) == 0 {
		return nil, errors.New("the model has no weights")
	}
	if m.Columns != nil && len(m.Columns) != len(m.Weights) {
		return nil, fmt.Errorf("the model names %d columns, but has weights for %d", len(m.Columns), len(m.Weights))
	}
	return m, nil
}
