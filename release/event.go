package release

import "fmt"

// Event is what the ledger remembers of a charge, as JSON. The fields' names, and when one is
// left out, are part of the entry: after a change, what was paid for before is a conflict.
type Event struct {
	Mechanism  string  `json:"mechanism"` // "training" for teachers, "votes" for a draw
	Queries    int     `json:"queries,omitempty"`
	K          int     `json:"k"`
	Affected   int     `json:"affected"`
	Teachers   string  `json:"teachers"`
	PerAnswer  *Cost   `json:"per_answer,omitempty"`
	PerTeacher *Cost   `json:"per_teacher,omitempty"`
	Slack      float64 `json:"slack,omitempty"`
	Key        string  `json:"key,omitempty"`
	Rule       string  `json:"rule"` // what the cost follows from
}

const (
	trainingMechanism = "training"
	drawMechanism     = "votes"
)

// coins is the JSON field of an Event that names where the coins come from.
const coins = "key"

// Cost is an accountant.Cost as JSON.
type Cost struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// String says in a few words what was paid for. What it quotes of an event that another
// program wrote is as that program wrote it.
func (e Event) String() string {
	switch {
	case e.PerAnswer == nil && e.Mechanism == drawMechanism:
		return fmt.Sprintf("%d rows of votes of %d teachers, answered again any number of times", e.Queries, e.K)
	case e.PerAnswer == nil:
		return fmt.Sprintf("training of %d teachers, one record reaches %d", e.K, e.Affected)
	}
	return fmt.Sprintf("%d answers of %s at (%v, %v)", e.Queries, e.Mechanism, e.PerAnswer.Epsilon, e.PerAnswer.Delta)
}
