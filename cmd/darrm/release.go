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
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// releaseReport is what a release says about itself.
type releaseReport struct {
	aggregator *ensemble.Mechanism
	problem    constraints.Problem
	certified  *gamma.Certified // nil for mechanisms over vote counts
	table      *gamma.Table     // of the optimal noise function; else nil
	queries    int
	totals     release.Totals // of all labels
	slack      float64        // that the totals spend
	teachers   string         // "fresh", "frozen", or "" where it was not said
	records    int            // that the teachers were trained on; 0 if unknown
	simulated  bool
	// source says where what the teachers promise comes from.
	source  release.Source
	columns string // which columns are votes, ids and true labels
	again   bool   // the votes were answered before
	paidBy  string // the earlier charge that pays for the release; "" for none
}

func (f *aggregateFlags) newReport(c *cobra.Command, g chosen, r *votes.Reader) *releaseReport {
	report := &releaseReport{
		aggregator: g.aggregator, problem: g.problem, certified: g.certified, table: g.table, teachers: f.charge.teachers, records: f.charge.records,
		slack: f.charge.slack, simulated: c.Flags().Changed("insecure-seed"), source: release.SourceFlags, columns: r.Columns().String(),
	}
	if !c.Flags().Changed("slack") {
		report.slack = report.release().Slack()
	}
	if f.teachersOfTable {
		report.source = release.SourceTable
	}
	return report
}

// release is what is accounted for and charged.
func (r *releaseReport) release() release.Release {
	return release.Release{Problem: r.problem, Answers: r.aggregator, Queries: r.queries}
}

// add accounts for the answers.
func (r *releaseReport) add(queries int) (err error) {
	r.queries = queries
	r.totals, err = r.release().Totals(r.slack)
	return err
}

// summary is what the release promises.
func (r *releaseReport) summary() release.Summary {
	return release.Summary{
		Columns: r.columns, Problem: r.problem, Presumed: r.certified != nil, PerAnswer: r.aggregator.PerAnswer(), Totals: r.totals,
		Teachers: r.teachers, Source: r.source, Records: r.records, Again: r.again,
	}
}

// tell says what was released and what it costs, on stderr.
func (r *releaseReport) tell(a *app) {
	if r.simulated {
		a.say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release these labels")
	}
	by := ""
	if r.table == nil {
		by = " by " + r.aggregator.Title()
	}
	a.say("%d labels from K = %d teachers%s", r.queries, r.problem.K, by)
	r.tellPromise(a)
}

// tellPromise says what was read, what is presumed and what is promised.
func (r *releaseReport) tellPromise(a *app) {
	for _, line := range r.summary().Lines() {
		a.say("%s", line)
	}
}

// releaseFields are the JSON fields that a dry run and a release share.
type releaseFields struct {
	Mechanism    string         `json:"mechanism"`
	K            int            `json:"k"`
	Affected     int            `json:"affected"`
	TeachersFrom release.Source `json:"teachers_from"`
	Columns      string         `json:"columns"`
	Queries      int            `json:"queries"`
	Slack        float64        `json:"slack"`
	PerLabel     release.Cost   `json:"per_label"`
	AllFrozen    *release.Cost  `json:"all_labels_frozen_teachers"`
	AllFresh     release.Cost   `json:"all_labels_fresh_teachers"`
	Again        *release.Cost  `json:"same_votes_again"`
	PaidBy       string         `json:"paid_by,omitempty"`
	Warnings     []string       `json:"warnings,omitempty"`
}

func (r *releaseReport) fields() releaseFields {
	f := releaseFields{
		Mechanism: r.aggregator.Name(), K: r.problem.K, Affected: r.problem.Affected, TeachersFrom: r.source, Columns: r.columns,
		Queries: r.queries, Slack: r.slack, PerLabel: release.Cost(r.aggregator.PerAnswer()), AllFresh: release.Cost(r.totals.Fresh.Cost),
		PaidBy: r.paidBy, Warnings: r.summary().Warnings(),
	}
	if r.totals.Frozen != nil {
		f.AllFrozen, f.Again = (*release.Cost)(&r.totals.Frozen.Cost), (*release.Cost)(&r.totals.Again.Cost)
	}
	return f
}

// quote says what the release would cost, and whether the ledger would pay.
func quote(c *cobra.Command, a *app, pay *payment, r *releaseReport) error {
	q := struct {
		DryRun bool `json:"dry_run"`
		releaseFields
		Charge    *amount `json:"charge,omitempty"`
		Remaining *amount `json:"remaining,omitempty"`
	}{DryRun: true}
	per := r.aggregator.PerAnswer()
	rows := [][]string{{"one label", fmt.Sprint(per.Epsilon), fmt.Sprint(per.Delta)}}
	add := func(title string, c accountant.Cost) {
		rows = append(rows, []string{title, fmt.Sprint(c.Epsilon), fmt.Sprint(c.Delta)})
	}
	if r.totals.Frozen == nil {
		add(fmt.Sprintf("all %d", r.queries), r.totals.Fresh.Cost)
	} else {
		if r.teachers != ensemble.FrozenTeachers.String() {
			add(fmt.Sprintf("all %d, fresh teachers", r.queries), r.totals.Fresh.Cost)
			add("the same votes again, fresh", r.totals.Again.Cost)
		}
		if r.teachers != ensemble.FreshTeachers.String() {
			add(fmt.Sprintf("all %d, frozen teachers", r.queries), r.totals.Frozen.Cost)
		}
	}
	if pay != nil {
		charged, err := pay.bill.Check(c.Context(), pay.ledger)
		if err != nil {
			return err
		}
		if r.again, err = pay.bill.Repeats(c.Context(), pay.ledger); err != nil {
			return err
		}
		if r.again {
			r.paidBy = pay.bill.Draw.ID
		}
		remaining, err := pay.ledger.Remaining(c.Context())
		if err != nil {
			return err
		}
		paid, left := newAmount(charged), newAmount(remaining)
		q.Charge, q.Remaining = &paid, &left
		rows = append(rows, amountRow("the ledger would be charged", charged), amountRow("of which remains now", remaining))
	}
	if q.releaseFields = r.fields(); a.json {
		return a.deliverJSON("", q)
	}
	r.tellPromise(a)
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
	out := struct {
		Private bool `json:"private"`
		releaseFields
		Labels    []jsonAnswer `json:"labels,omitempty"`
		Simulated []jsonAnswer `json:"simulated_labels,omitempty"`
	}{Private: !w.report.simulated, releaseFields: w.report.fields()}
	if w.report.simulated {
		out.Simulated = w.answers
	} else {
		out.Labels = w.answers
	}
	return encodeJSON(to, out)
}
