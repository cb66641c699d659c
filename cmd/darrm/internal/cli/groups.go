package cli

import "github.com/spf13/cobra"

// Group is a part of the program, by what a person does with it. Groups and their commands are
// listed with the most used first.
type Group struct {
	ID, Title string
	Commands  []Command
}

// Command makes a command of the program.
type Command func(*App) *cobra.Command

// addGroups adds the commands of the groups in their order.
func addGroups(root *cobra.Command, a *App, groups []Group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, command := range g.Commands {
			c := command(a)
			c.GroupID = g.ID
			root.AddCommand(c)
		}
	}
}
