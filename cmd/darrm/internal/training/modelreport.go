package training

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/model"
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
	Chosen      *chosenCandidate `json:"chosen,omitempty"`      // of a choice among candidates
	Dim         int              `json:"dim"`
	model.Document
}
