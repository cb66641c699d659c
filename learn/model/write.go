package model

import (
	"encoding/json"
	"fmt"
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
	// Classes are the names of several classes. The weights are then those of each class's score, against
	// the rest or of a softmax, one after the other.
	Classes []string `json:"classes,omitempty"`
	// which records were not learned from; nil for none
	HoldOut *prepare.HoldOut `json:"hold_out,omitempty"`
	// Radius is the norm ‖·‖_q that longer features were shortened to, 0 for none, and Norm its q,
	// "" for 2 and "inf" for the largest feature.
	Radius float64 `json:"radius,omitempty"`
	Norm   string  `json:"radius_norm,omitempty"`
	// the last weight, or that of a network's last feature, is of a feature 1
	Intercept bool    `json:"intercept"`
	Model     Weights `json:"model,omitempty"`
	// instead of Model, where it was trained from a seed
	Simulated Weights `json:"simulated_model,omitempty"`
}

// Weights are those of a Document.
type Weights []float64

// UnmarshalJSON refuses null, which a decoder takes for 0 and an encoder may write for a weight that is not finite.
func (w *Weights) UnmarshalJSON(text []byte) error {
	var all []*float64
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return err
	}
	*w = make(Weights, len(all))
	for i, x := range all {
		if x == nil {
			return check.Want(fmt.Sprintf("weight %d", i), "null", "a finite number")
		}
		(*w)[i] = *x
	}
	return nil
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
		return 0, check.Want("radius_norm", fmt.Sprintf("%q", name), "at least 1, or inf")
	}
	return q, nil
}
