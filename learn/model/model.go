// Package model reads and writes trained models, predicts by them and evaluates them.
//
// The models are linear, with the score z = ⟨a,w⟩ + b of features a, or networks of one hidden
// layer (loss.Network), whose output is z. The link turns a score into a prediction. Predictions on
// records that the model was not trained on are as private as the model: they are post-processing.
// An Evaluation tells about the records that it was worked out on, and has no noise: it may be
// published where those are public.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	w     Model.Weights
//	b     Model.Intercept
//	z     Model.Score
//	AUC   Evaluation.AUC    area under the curve of true against false positives
package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/prepare"
)

// MaxBytes is the most that a reader should take of a model's file, 1 GiB.
const MaxBytes = 1 << 30

// Model is a trained model.
type Model struct {
	Task     loss.Loss // nil where the link is LinkRank or LinkMetric
	Pair     loss.Pair // where the link is LinkRank
	Link     Link
	Columns  []string // names of the features, nil where they have none
	Response string   // name of the response's column, "" where it has none
	// how rows become records; nil where the columns are numbers taken as they are
	Preparation *prepare.Map
	// Radius is the ‖·‖_q, q = Norm or 2, to which longer features were shortened before they were
	// learned from; scores shorten likewise. 0 is none.
	Radius, Norm float64
	HoldOut      *prepare.HoldOut // which records were not learned from; nil for none
	Simulated    bool             // trained from a seed, so not private
	Weights      []float64        // of a network all its numbers
	Intercept    float64          // of a linear model
	// Classes are the names of several classes, nil for a model of one score. Parts are then the
	// models of each class against the rest, and Weights those of all, with their intercepts.
	Classes []string
	Parts   []*Model

	network  *loss.Network // nil of a linear model
	features int           // of its records
	constant bool          // they have a feature 1 behind the others

	task string // of a distance, as its file says: nothing is predicted by it
}

// Read reads a model as darrm train and Write write it. It refuses a file without weights, or whose
// task or link is unknown.
func Read(r io.Reader) (*Model, error) {
	if r == nil {
		return nil, errors.New("reader of a model must be given")
	}
	var d Document
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return nil, fmt.Errorf("not a model as darrm train writes it: %w", err)
	}
	return New(d)
}

// New returns the model of a document, whose slices are kept. It refuses what Read refuses.
func New(d Document) (*Model, error) {
	m := &Model{Columns: d.Columns, Response: d.Response, Weights: d.Model,
		Preparation: d.Preparation, HoldOut: d.HoldOut}
	if d.Model == nil {
		m.Weights, m.Simulated = d.Simulated, true
	}
	if len(m.Weights) == 0 {
		return nil, errors.New(
			"not a model as darrm train writes it: there is no \"model\" in it; a dry run has none")
	}
	if err := m.loss(d); err != nil {
		return nil, err
	}
	if d.Classes != nil || m.Link == LinkSoftmax {
		return m.several(d)
	}
	if m.network != nil {
		p, ok := m.network.Features(len(m.Weights))
		if m.constant = d.Intercept; d.Intercept {
			p--
		}
		if m.features = p; !ok || p < 1 {
			return nil, check.Want("number of weights", len(m.Weights), "that of a "+d.Task+
				" of one or more features")
		}
	} else if d.Intercept {
		last := len(m.Weights) - 1
		m.Intercept, m.Weights = m.Weights[last], m.Weights[:last]
	}
	if m.Columns != nil && len(m.Columns) != m.Dim() {
		return nil, fmt.Errorf("the model names %d columns and has weights for %d", len(m.Columns),
			m.Dim())
	}
	if p := m.Preparation; p != nil {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("preparation: %w", err)
		}
		if names := p.Names(); !slices.Equal(names, m.Columns) {
			return nil, errors.New("preparation: its features are not the model's columns")
		}
	}
	var err error
	if m.Radius = d.Radius; !(m.Radius >= 0) || math.IsInf(m.Radius, 1) {
		return nil, check.Want("radius", m.Radius, "finite and at least 0")
	}
	if m.Norm, err = normOf(d.Norm); err != nil {
		return nil, err
	}
	if m.HoldOut != nil {
		if err := m.HoldOut.Check(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// loss sets what the model minimises and its link. A loss of pairs can have the name of a loss of
// records: the link tells them apart.
func (m *Model) loss(d Document) (err error) {
	if m.Link = d.Link; d.Link == LinkRank {
		m.Pair, err = loss.ParsePair(d.Task)
		return err
	}
	if d.Link == LinkMetric {
		if d.Intercept {
			return errors.New("a distance has no intercept")
		}
		m.task = d.Task
		return m.checkMetric()
	}
	if m.Task, err = loss.ParseSized(d.Task); err != nil {
		return err
	}
	if n, ok := m.Task.(loss.Network); ok {
		m.network = &n
	}
	if m.Link = LinkOf(m.Task); m.Link != d.Link && d.Link != "" {
		return check.Wantf("link", fmt.Sprintf("%q", d.Link), "%q for the task %s", m.Link, d.Task)
	}
	return nil
}

// Score returns z = ⟨a,w⟩ + b, or a network's output, of the features as training shortens them.
// The error is for features of another number than Dim, for a metric, which scores pairs, and for
// several classes, each of which has a score (Scores).
func (m *Model) Score(a []float64) (float64, error) {
	m = handle.Made(m)
	if m.Link == LinkMetric {
		return 0, errors.New("a metric has no score of one record")
	}
	if m.Parts != nil {
		return 0, errors.New("a model of several classes has a score for each")
	}
	if len(a) != m.Dim() {
		return 0, check.Want("number of features", len(a), fmt.Sprint(m.Dim()))
	}
	return m.score(a), nil
}

func (m *Model) score(a []float64) float64 {
	if m.network != nil {
		return m.network.Predict(m.Weights, m.inputs(m.shortened(a)))
	}
	return m.linear(a)
}

// shortened returns features as training shortens them.
func (m *Model) shortened(a []float64) []float64 {
	if m.Radius == 0 {
		return a
	}
	f := geometry.Shortening(a, m.Radius, cmp.Or(m.Norm, 2))
	if f == 1 {
		return a
	}
	a = slices.Clone(a)
	floats.Scale(f, a)
	return a
}

// Predict returns the prediction of a score, in the units of the response's column.
func (m *Model) Predict(z float64) float64 {
	m = handle.Made(m)
	return m.response().Value(m.Link.Predict(z))
}

// response returns the rules of the response, nil for none.
func (m *Model) response() *prepare.Response {
	if m.Preparation == nil {
		return nil
	}
	return m.Preparation.Response
}

// inputs returns a with the constant feature of a network that has one.
func (m *Model) inputs(a []float64) []float64 {
	if m.constant {
		a = append(slices.Clip(a), 1)
	}
	return a
}

// recordLoss returns the task's loss as a function of a record.
func (m *Model) recordLoss() func(a []float64, y float64) float64 {
	x, width := m.Weights, m.features
	if m.network == nil {
		x, width = append(slices.Clone(m.Weights), m.Intercept), len(m.Weights)
	}
	in := make([]float64, width+1)
	in[width] = 1
	if m.network != nil && !m.constant {
		in = in[:width]
	}
	return func(a []float64, y float64) float64 {
		copy(in[:width], m.shortened(a))
		return m.Task.Loss(x, in, y)
	}
}

// Fits refuses a model that predicts nothing, and records of another dimension.
func (m *Model) Fits(r *data.Records) error {
	m = handle.Made(m)
	if m.Link == LinkNone {
		return fmt.Errorf("a model of the task %s predicts nothing", m.Task.Name())
	}
	if r.Dim() != m.Dim() {
		return check.Wantf("number of features", r.Dim(), "the model's %d", m.Dim())
	}
	return nil
}

// A Link names the kind of prediction that a score gives.
type Link string

const (
	LinkNone     Link = "none"     // nothing: the model is a point, not a predictor
	LinkIdentity Link = "identity" // the response z
	LinkSquare   Link = "square"   // the response z²
	LinkSign     Link = "sign"     // the class: 1 where z > 0, else 0
	LinkLogit    Link = "logit"    // the class as LinkSign, with probability 1/(1+e^-z) of 1
	// of several classes that of the highest score, with probabilities e^z_k over their sum
	LinkSoftmax Link = "softmax"
	// z itself, of which only the order counts: class 1 is likelier where it is larger
	LinkRank Link = "rank"
)

// LinkMetric is of a distance: the weights are M, d×d and row by row, of (x-x′)ᵀM(x-x′). A record
// has no prediction, but Coordinates.
const LinkMetric Link = "metric"

// LinkOf returns the link of a model trained by the loss. Of losses of pairs it is LinkRank.
func LinkOf(l loss.Loss) Link {
	switch l.(type) {
	case loss.MeanEstimation:
		return LinkNone
	case loss.Softmax:
		return LinkSoftmax
	case loss.Logistic, loss.GLM[loss.SquaredSigmoid]:
		return LinkLogit
	case loss.GLM[loss.Hinge]:
		return LinkSign
	case loss.GLM[loss.PhaseRetrieval]:
		return LinkSquare
	}
	return LinkIdentity
}

// Classes reports whether predictions are classes.
func (l Link) Classes() bool { return l == LinkSign || l == LinkLogit || l == LinkSoftmax }

// Ranks reports whether scores or predictions order the records of two classes.
func (l Link) Ranks() bool { return l.Classes() || l == LinkRank }

// Predict returns the prediction of a score: the response, or the class 0 or 1.
func (l Link) Predict(z float64) float64 {
	switch {
	case l == LinkSquare:
		return z * z
	case !l.Classes():
		return z
	case z > 0:
		return 1
	}
	return 0
}
