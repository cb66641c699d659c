// Command darrm computes optimal private majority votes and releases private
// labels with them.
//
// Rules of the interface: the result goes to stdout, everything else to stderr. A
// command either succeeds or leaves nothing behind: output files appear whole or
// not at all. Errors are one line, lower case, and name the value and the rule. Exit
// codes are listed in package release/exitcode and by "darrm help exit-codes".
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/label"
	"github.com/darrm/darrm/cmd/darrm/internal/mechanisms"
	"github.com/darrm/darrm/cmd/darrm/internal/program"
	"github.com/darrm/darrm/cmd/darrm/internal/research"
	"github.com/darrm/darrm/cmd/darrm/internal/training"
	"github.com/darrm/darrm/release/exitcode/learning"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int { return cli.Run(args, commandGroups, learning.Rules) }

// commandGroups holds all commands, by what a person does with them.
var commandGroups = []cli.Group{
	{ID: "label", Title: "Label within a privacy budget", Commands: []cli.Command{
		{Name: "plan", New: planCommand},
		{Name: "aggregate", New: label.NewAggregate},
		{Name: "budget", New: label.NewBudget},
		{Name: "serve", New: label.NewServe},
		{Name: "compare", New: label.NewCompare},
		{Name: "label-law", New: label.NewLabelLaw},
		{Name: "votes", New: label.NewVotes}}},
	{ID: "solve", Title: "Find, price and check mechanisms", Commands: []cli.Command{
		{Name: "solve", New: mechanisms.NewSolve},
		{Name: "certify", New: mechanisms.NewCertify},
		{Name: "verify", New: mechanisms.NewVerify},
		{Name: "account", New: accountCommand},
		{Name: "sweep", New: mechanisms.NewSweep}}},
	{ID: "train", Title: "Train private models", Commands: []cli.Command{
		{Name: "train", New: training.NewTrain},
		{Name: "evaluate", New: training.NewEvaluate},
		{Name: "predict", New: training.NewPredict},
		{Name: "federated", New: training.NewFederated}}},
	{ID: "research", Title: "Research, and repeat its figures", Commands: []cli.Command{
		{Name: "experiment", New: research.NewExperiment},
		{Name: "report", New: research.NewReport},
		{Name: "mean", New: research.NewMean},
		{Name: "bounds", New: research.NewBounds}}},
	{ID: "program", Title: "This program", Commands: []cli.Command{
		{Name: "cache", New: program.NewCache},
		{Name: "completion", New: program.NewCompletion, Whole: true},
		{Name: "man", New: program.NewMan, Whole: true},
		{Name: "version", New: program.NewVersion},
		{Name: "web", New: program.NewWeb}}},
}

// planCommand joins the plans of labels and of models.
func planCommand(a *cli.App) *cobra.Command {
	c := label.NewPlan(a)
	c.AddCommand(training.NewPlanTrain(a))
	return c
}

// accountCommand joins the prices of answers and of trainings.
func accountCommand(a *cli.App) *cobra.Command {
	return mechanisms.NewAccount(a, training.NewAccountTrain(a))
}
