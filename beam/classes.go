package darrmbeam

import (
	"context"

	darrmplan "github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// takes refuses a certified table that a job has no queries for, and one whose labels are not worth a charge.
func (job *Job) takes(ctx context.Context, t release.Table) error {
	if t.Answers != nil && t.Answers.Problem().Labels > 0 {
		return usagef("the table has masses for each of %d labels of a question, but each query of a job is a question of its "+
			"own: darrm aggregate --labels reads such questions", t.Answers.Problem().Labels)
	}
	return choose.Many{AcceptConstant: job.AcceptConstant}.CheckTells(ctx, t.Answers, t.Gamma)
}

// apart says how a table for stated shares or costs treats the classes, in sentences. It is nil of other tables.
func apart(t release.Table, classes []string) []string {
	notes := darrmplan.ReportOptions{Classes: classes}.ClassNotes(darrmplan.Choice{Noise: t.Gamma, Answers: t.Answers})
	if losses := darrmplan.LossesOf(t.Answers); losses.Stated() {
		notes = append(notes, "The table tells them apart, by the order in which they are stated: "+losses.Text(classes)+".")
	}
	return notes
}
