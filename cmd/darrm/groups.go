package main

import "github.com/spf13/cobra"

// commandGroup is a part of the program, by what a person does with it. Groups and the commands in
// them are listed with the most used first.
type commandGroup struct {
	id, title string
	commands  []func(*app) *cobra.Command
}

var commandGroups = []commandGroup{
	{"label", "Label within a privacy budget", []func(*app) *cobra.Command{newPlan, newAggregate,
		newBudget, newServe, newCompare, newVotes}},
	{"solve", "Find, price and check mechanisms",
		[]func(*app) *cobra.Command{newSolve, newVerify, newAccount, newSweep}},
	{"train", "Train private models", []func(*app) *cobra.Command{newTrain, newEvaluate, newPredict,
		newFederated}},
	{"research", "Research, and repeat its figures",
		[]func(*app) *cobra.Command{newExperiment, newReport, newMean, newBounds}},
	{"program", "This program", []func(*app) *cobra.Command{newCache, newCompletion, newMan,
		newVersion}},
}

// addGroups adds all commands of the groups in their order.
func addGroups(root *cobra.Command, a *app) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			c := command(a)
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
}
