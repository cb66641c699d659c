package release

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
)

// Event describes a charge for labels in its ledger entry, as JSON. The fields' names, and the
// rules for leaving one out, are part of the entry: after a change of them, a release that was paid
// for before is a conflict.
type Event struct {
	Mechanism  string           `json:"mechanism"`         // "training" for teachers, "votes" for a draw
	Queries    int              `json:"queries,omitempty"` // answers that are charged: of several labels N
	K          int              `json:"k"`                 // teachers
	Affected   int              `json:"affected"`
	Teachers   string           `json:"teachers"`
	PerAnswer  *accountant.Cost `json:"per_answer,omitempty"`
	PerTeacher *accountant.Cost `json:"per_teacher,omitempty"`
	Slack      float64          `json:"slack,omitempty"`
	Key        string           `json:"key,omitempty"` // names where the coins come from
	Rule       string           `json:"rule"`          // what the cost follows from
	Online     bool             `json:"online,omitempty"`
	// Answers is how many labels one charge pays for, which cost nothing more each; 0 where a release
	// pays for its own.
	Answers int `json:"answers,omitempty"`
	// Table is the SHA-256 of the mechanism's table, in hexadecimal, which is kept beside the ledger.
	Table string `json:"table,omitempty"`
	// Parameters are those of a mechanism without a table, exactly, and Classes the number of classes
	// that its answers are of. They stand where no number of the release would say so.
	Parameters string `json:"parameters,omitempty"`
	Classes    int    `json:"classes,omitempty"`
	// Stated is what decided on the mechanism.
	Stated *Statement `json:"statement,omitempty"`
	// Missing is true of a mechanism that was proved for votes that may be missing.
	Missing bool `json:"missing,omitempty"`
	// Labels are the names of several labels of a question, in the order that was stated: of a most of them
	// the first count, and a file has its columns so.
	Labels []string `json:"labels,omitempty"`
	// Same has the spellings that were stated for votes, sorted (votes.Options.Same).
	Same []string `json:"same,omitempty"`
	// Several has L, τ and YesFrom, where the answers are labels of questions that have several.
	Several *ensemble.Several `json:"several,omitempty"`
	// Votes is the keyed digest of an on-line query and its votes, where the entry has no draw.
	Votes string `json:"votes,omitempty"`
	// Budget is the most that all labels were to cost together, where that was stated.
	Budget *accountant.Cost `json:"budget,omitempty"`
	// AcceptWeak is [Charge.AcceptWeak].
	AcceptWeak bool `json:"accept_weak,omitempty"`
}

// several returns what is stated of several labels, zero where a label is a question of its own.
func (e Event) several() (of ensemble.Several) {
	if e.Several != nil {
		of = *e.Several
	}
	return of
}

// ModelEvent describes a charge for a model in its ledger entry, in the trainer's words: this
// package knows no trainer.
type ModelEvent struct {
	Mechanism string `json:"mechanism"`
	Release   string `json:"release"` // names the model's randomness; [Model] sets it
	Method    string `json:"method"`  // required: it tells a model's event from a vote's
	Task      string `json:"task"`
	Epochs    int    `json:"epochs"`         // in Unit
	Unit      string `json:"unit,omitempty"` // of Epochs, such as "rounds"; "" is epochs
	Mode      string `json:"mode"`           // of the accounting
	// Assumes states what the run's cost rests on beside that it was as stated, in whole sentences.
	Assumes string `json:"assumes,omitempty"`
	// ScoreEpsilon is the ε of a score on records that the model did not learn from, released beside
	// the model at no more than its cost; 0 for none.
	ScoreEpsilon float64 `json:"score_epsilon,omitempty"`
	// Part is which answer of a run this is; "" for a model, and for the run's own charge.
	Part string `json:"part,omitempty"`
	// AcceptWeak is the field of [Model], which sets it.
	AcceptWeak bool `json:"accept_weak,omitempty"`
	// Run is the digest of the run that an answer is part of, so that no other run passes for one that
	// was paid for.
	Run string `json:"run,omitempty"`
}

const (
	trainingMechanism = "training"
	drawMechanism     = "votes"
)

// modelEvent reads an entry's event; ok is false where it is not a model's.
func modelEvent(event json.RawMessage) (m ModelEvent, ok bool) {
	err := json.Unmarshal(event, &m)
	return m, err == nil && m.Mechanism != "" && m.Method != ""
}

// length returns how long the training was, such as "3 epochs".
func (m ModelEvent) length() string {
	return fmt.Sprintf("%d %s", m.Epochs, cmp.Or(m.Unit, "epochs"))
}

// Describe names in a few words the release that the event of an entry was charged for; "" where no
// release of this module made the entry. What it quotes of the event is as its maker wrote it.
func Describe(event json.RawMessage) string {
	if m, ok := modelEvent(event); ok {
		what := "model"
		if m.Part != "" {
			what = m.Part + " of a model"
		}
		if m.ScoreEpsilon > 0 {
			what += " and its score"
		}
		return fmt.Sprintf("%s of %s by %s, %s, accounting %s", what, m.Task, m.Method, m.length(),
			m.Mode)
	}
	var e Event
	if json.Unmarshal(event, &e) != nil || e.Mechanism == "" {
		return ""
	}
	from := "" // where the answer is yes
	if said := e.several().String(); said != "" {
		from = ", " + said
	}
	switch {
	case e.Mechanism == toldMechanism:
		return describeTold(e)
	case e.several().Labels > 0 && e.Answers > 0 && e.Queries == 0:
		return fmt.Sprintf("up to %d answers by %s, all together, for questions with %v", e.Answers, e.Mechanism, *e.Several)
	case e.several().Labels > 0:
		return fmt.Sprintf("%d answers by %s, for questions with %v", e.Queries, e.Mechanism, *e.Several)
	case e.Answers > 0 && e.Queries == 0:
		return fmt.Sprintf("up to %d labels by %s, all together%s", e.Answers, e.Mechanism, from)
	case e.Answers > 0 && e.Queries == 1:
		return fmt.Sprintf("1 label of up to %d by %s%s", e.Answers, e.Mechanism, from)
	case e.Answers > 0:
		return fmt.Sprintf("%d labels of up to %d by %s%s", e.Queries, e.Answers, e.Mechanism, from)
	case e.PerAnswer == nil && e.Mechanism == drawMechanism:
		return fmt.Sprintf("%d rows of votes of %d teachers, answered again any number of times",
			e.Queries, e.K)
	case e.PerAnswer == nil:
		return fmt.Sprintf("training of %d teachers, one record reaches %d", e.K, e.Affected)
	}
	if e.Queries == 1 {
		return fmt.Sprintf("1 label by %s, %v-DP%s", e.Mechanism, *e.PerAnswer, from)
	}
	return fmt.Sprintf("%d labels by %s, each %v-DP%s", e.Queries, e.Mechanism, *e.PerAnswer, from)
}
