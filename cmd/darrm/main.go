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
)

func main() { os.Exit(run(os.Args[1:], commandGroups)) }

// commandGroups holds all commands.
var commandGroups = []group{
	{"label", "Label within a privacy budget", []func(*app) *cobra.Command{newPlan, newAggregate,
		newBudget, newServe, newCompare, newVotes}},
	{"solve", "Find, price and check mechanisms",
		[]func(*app) *cobra.Command{newSolve, newVerify, accountCommand, newSweep}},
	{"train", "Train private models", []func(*app) *cobra.Command{newTrain, newEvaluate, newPredict,
		newFederated}},
	{"research", "Research, and repeat its figures",
		[]func(*app) *cobra.Command{newExperiment, newReport, newMean, newBounds}},
	{"program", "This program", []func(*app) *cobra.Command{newCache, newCompletion, newMan,
		newVersion}},
}

// accountCommand joins the prices of answers and of trainings.
func accountCommand(a *app) *cobra.Command { return newAccount(a, newAccountTrain(a)) }
