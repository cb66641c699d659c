package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/charge"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// releaseReport is what a release says about itself.
type releaseReport struct {
	aggregator *ensemble.Aggregator
	problem    constraints.Problem
	table      *gamma.Table // nil for mechanisms over vote counts
	queries    int
	totals     charge.Totals // of all labels
	teachers   string        // "fresh", "frozen", or "" where it was not said
	simulated  bool
}

// release is what is accounted for and charged.
func (r *releaseReport) release() charge.Release {
	return charge.Release{Problem: r.problem, Answers: r.aggregator, Queries: r.queries}
}

// add accounts for the answers.
func (r *releaseReport) add(queries int, slack float64) (err error) {
	r.queries = queries
	r.totals, err = r.release().Totals(slack)
	return err
}

// tell says what was released and what it costs, on stderr.
func (r *releaseReport) tell(a *app) {
	p := r.problem
	if r.simulated {
		a.say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release these labels")
	}
	if r.table != nil {
		a.say("%d labels from K = %d teachers, %s", r.queries, p.K, teachers(p))
		a.say("one label:  %v-DP, certified against all %s constraints", r.aggregator.PerAnswer(), thousands(p.Count()))
	} else {
		a.say("%d labels from K = %d teachers by %s", r.queries, p.K, r.aggregator.Title())
		a.say("one label:  %v-DP, where one record reaches at most %d of the teachers", r.aggregator.PerAnswer(), p.Affected)
	}
	if r.totals.Frozen == nil {
		a.say("all labels: %v-DP", r.totals.Fresh.Cost)
		return
	}
	title := "all labels:"
	if r.teachers != accountant.FreshTeachers.String() {
		a.say("%s %v-DP if the teachers were trained once and only vote (however many queries),", title, r.totals.Frozen.Cost)
		title = "           "
	}
	if r.teachers != accountant.FrozenTeachers.String() {
		a.say("%s %v-DP if each vote is a fresh run of a private mechanism", title, r.totals.Fresh.Cost)
	}
}

// quote says what the release would cost, and whether the ledger would pay.
func quote(c *cobra.Command, a *app, acc *account, r *releaseReport) error {
	per := r.aggregator.PerAnswer()
	q := struct {
		Mechanism string       `json:"mechanism"`
		Queries   int          `json:"queries"`
		PerLabel  charge.Cost  `json:"per_label"`
		AllFrozen *charge.Cost `json:"all_labels_frozen_teachers"`
		AllFresh  charge.Cost  `json:"all_labels_fresh_teachers"`
		Charge    *amount      `json:"charge,omitempty"`
		Remaining *amount      `json:"remaining,omitempty"`
	}{Mechanism: r.aggregator.Name(), Queries: r.queries, PerLabel: charge.Cost(per), AllFresh: charge.Cost(r.totals.Fresh.Cost)}
	rows := [][]string{{"one label", fmt.Sprint(per.Epsilon), fmt.Sprint(per.Delta)}}
	add := func(title string, c accountant.Cost) {
		rows = append(rows, []string{title, fmt.Sprint(c.Epsilon), fmt.Sprint(c.Delta)})
	}
	if r.totals.Frozen == nil {
		add(fmt.Sprintf("all %d", r.queries), r.totals.Fresh.Cost)
	} else {
		q.AllFrozen = (*charge.Cost)(&r.totals.Frozen.Cost)
		add(fmt.Sprintf("all %d, fresh teachers", r.queries), r.totals.Fresh.Cost)
		add(fmt.Sprintf("all %d, frozen teachers", r.queries), r.totals.Frozen.Cost)
	}
	if acc != nil {
		pay, err := acc.bill.Check(c.Context(), acc.ledger)
		if err != nil {
			return err
		}
		remaining, err := acc.ledger.Remaining(c.Context())
		if err != nil {
			return err
		}
		paid, left := newAmount(pay), newAmount(remaining)
		q.Charge, q.Remaining = &paid, &left
		rows = append(rows, amountRow("the ledger would be charged", pay), amountRow("of which remains now", remaining))
	}
	if a.json {
		return a.deliverJSON("", q)
	}
	return a.deliver("", func(w io.Writer) error {
		return renderRows(w, []string{"dry run: nothing was released", "ε", "δ"}, rows, nil)
	})
}

// jsonAnswers collects the answers into one JSON document with their price.
type jsonAnswers struct {
	app     *app
	path    string
	classes []string
	report  *releaseReport
	answers []jsonAnswer
}

type jsonAnswer struct {
	Query string          `json:"query"`
	Label json.RawMessage `json:"label"`
}

func (w *jsonAnswers) write(b *votes.Batch, answers []int) error {
	for i, class := range answers {
		if class == ensemble.Abstained {
			class = len(w.classes) - 1
		}
		w.answers = append(w.answers, jsonAnswer{b.ID(i), jsonClass(w.classes[class])})
	}
	return nil
}

// jsonClass is a class as a JSON value: an integer where its name is one.
func jsonClass(name string) json.RawMessage {
	if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name {
		return json.RawMessage(name)
	}
	b, _ := json.Marshal(name) // a string always marshals
	return b
}

func (w *jsonAnswers) publish(note func(ledger.Digest) error) error {
	return publish(w.app, w.path, note, w.encode)
}

func (w *jsonAnswers) abort() {}

func (w *jsonAnswers) encode(to io.Writer) error {
	r := w.report
	out := struct {
		Private   bool         `json:"private"`
		Mechanism string       `json:"mechanism"`
		K         int          `json:"k"`
		Queries   int          `json:"queries"`
		PerLabel  charge.Cost  `json:"per_label"`
		AllFrozen *charge.Cost `json:"all_labels_frozen_teachers"`
		AllFresh  charge.Cost  `json:"all_labels_fresh_teachers"`
		Labels    []jsonAnswer `json:"labels,omitempty"`
		Simulated []jsonAnswer `json:"simulated_labels,omitempty"`
	}{
		Private: !r.simulated, Mechanism: r.aggregator.Name(), K: r.problem.K, Queries: r.queries,
		PerLabel: charge.Cost(r.aggregator.PerAnswer()), AllFresh: charge.Cost(r.totals.Fresh.Cost),
	}
	if r.totals.Frozen != nil {
		out.AllFrozen = (*charge.Cost)(&r.totals.Frozen.Cost)
	}
	if r.simulated {
		out.Simulated = w.answers
	} else {
		out.Labels = w.answers
	}
	return encodeJSON(to, out)
}
