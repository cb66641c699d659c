// Command darrm computes optimal private majority votes and releases private
// labels with them.
//
// Rules of the interface: the result goes to stdout, everything else to stderr. A
// command either succeeds or leaves nothing behind: output files appear whole or
// not at all. Errors are one line, lower case, and name the value and the rule. Exit
// codes are listed in exit.go and by "darrm help exit-codes".
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
)

func main() { os.Exit(cli.Run(os.Args[1:], commandGroups)) }

// commandGroups holds all commands, by what a person does with them.
var commandGroups = []cli.Group{
	{ID: "label", Title: "Label within a privacy budget", Commands: []cli.Command{planCommand,
		label.NewAggregate, label.NewBudget, label.NewServe, label.NewCompare, label.NewVotes}},
	{ID: "solve", Title: "Find, price and check mechanisms", Commands: []cli.Command{
		mechanisms.NewSolve, mechanisms.NewCertify, mechanisms.NewVerify, accountCommand,
		mechanisms.NewSweep}},
	{ID: "train", Title: "Train private models", Commands: []cli.Command{training.NewTrain,
		training.NewEvaluate, training.NewPredict, training.NewFederated}},
	{ID: "research", Title: "Research, and repeat its figures", Commands: []cli.Command{
		research.NewExperiment, research.NewReport, research.NewMean, research.NewBounds}},
	{ID: "program", Title: "This program", Commands: []cli.Command{program.NewCache,
		program.NewCompletion, program.NewMan, program.NewVersion,
		program.NewWeb}},
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
