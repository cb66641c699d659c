package main

import "github.com/spf13/cobra"

// group is a part of the program, by what a person does with it. Groups and the commands in them are
// listed with the most used first.
type group struct {
	id, title string
	commands  []func(*app) *cobra.Command
}

// addGroups adds the commands of the groups in their order.
func addGroups(root *cobra.Command, a *app, groups []group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			c := command(a)
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
}
