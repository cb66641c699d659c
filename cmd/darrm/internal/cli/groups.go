package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// Group is a part of the program, by what a person does with it. Groups and their commands are
// listed with the most used first.
type Group struct {
	ID, Title string
	Commands  []Command
}

// Command is a command of the program, which is made where it is needed.
type Command struct {
	Name string // as New names it
	New  func(*App) *cobra.Command
	// Whole is true if the command is about all commands.
	Whole bool
}

// addGroups adds the commands of the groups in their order.
func addGroups(root *cobra.Command, a *App, groups []Group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, command := range g.Commands {
			c := command.New(a)
			c.GroupID = g.ID
			root.AddCommand(c)
		}
	}
}

// Needed returns the groups with the one command that the arguments name, or with all commands
// where they name none or one about all. To make all of them takes half the time of a start. A
// shell that completes the arguments of a command needs that command alone.
func Needed(groups []Group, args []string) []Group {
	before := []string{"--json", "-q", "--quiet"}
	if len(args) > 2 {
		before = append(before, cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd)
	}
	for len(args) > 0 && slices.Contains(before, args[0]) {
		args = args[1:]
	}
	for _, g := range groups {
		for _, c := range g.Commands {
			if len(args) > 0 && c.Name == args[0] && !c.Whole {
				return []Group{{g.ID, g.Title, []Command{c}}}
			}
		}
	}
	return groups
}
