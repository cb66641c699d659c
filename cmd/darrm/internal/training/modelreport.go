package training

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// objective returns a measure for simulations. It prints the value that training minimises.
func objective(value func(x []float64) float64) func(x []float64) string {
	return func(x []float64) string { return fmt.Sprintf("objective %.9g", value(x)) }
}

// modelReport is a model with its cost, in JSON.
type modelReport struct {
	// there is no model: this is what it would be
	DryRun      bool             `json:"dry_run,omitempty"`
	Private     bool             `json:"private"`
	Standin     bool             `json:"stand_in_data"`
	DataSet     string           `json:"data_set"`
	Regularizer string           `json:"regularizer,omitempty"`
	Set         string           `json:"set,omitempty"` // that the model is kept in
	Method      string           `json:"method"`
	Reason      string           `json:"reason,omitempty"` // for the method, where it was chosen
	Epochs      int              `json:"epochs,omitempty"`
	Rounds      int              `json:"rounds,omitempty"`
	Cost        *accountant.Cost `json:"cost"` // null without noise
	Rows        int              `json:"rows_per_person,omitempty"`
	Person      *accountant.Cost `json:"person_cost,omitempty"` // Cost is of a row
	Account     *costBasis       `json:"account,omitempty"`     // of shuffled gradients
	Price       *priceReport     `json:"price,omitempty"`       // of the other methods
	Theory      *theory          `json:"theory,omitempty"`      // what is proved of the models
	Chosen      *chosenCandidate `json:"chosen,omitempty"`      // of a choice among candidates
	Score       *scoreReport     `json:"score,omitempty"`       // on the records held out
	Dim         int              `json:"dim"`
	model.Document
}

// scoreReport is the score on the records held out, in JSON.
type scoreReport struct {
	Private   bool    `json:"private"` // it has noise, and the model's cost covers it
	Kind      string  `json:"kind"`
	Value     float64 `json:"value"`
	Deviation float64 `json:"deviation"` // of its noise
	Epsilon   float64 `json:"epsilon"`   // of its noise, for a row
	Records   int     `json:"records,omitempty"`
}

func newScore(t *train.Test, private bool) *scoreReport {
	if t == nil {
		return nil
	}
	return &scoreReport{private, t.Kind, t.Value, t.Deviation, t.Epsilon, t.Records}
}
