package training

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// NewTrain makes the command train, which chooses a method, with a subcommand for each family of
// methods.
func NewTrain(a *cli.App) *cobra.Command {
	c := newTrainFamily(a, chosenFamily)
	c.Flags().Lookup("private").Hidden = true
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = cli.CompleteFiles(cli.RecordFiles...)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			if c.Flags().Changed("private") {
				return cli.Usagef("%q is given beside --private", args[0])
			}
			if err := c.Flags().Set("private", args[0]); err != nil {
				return err
			}
		}
		return run(c, args)
	}
	cli.First(c, FlagGroups, "response", "task", "eps", "delta", "scale", "categories", "ledger",
		"out")
	for _, k := range families {
		method := newTrainFamily(a, k)
		cli.First(method, FlagGroups, "private", "response", "task", "method", "radius", "eps", "delta",
			"out", "clip", "step-size")
		c.AddCommand(method)
	}
	c.AddCommand(newDescribe(a))
	c.SetFlagErrorFunc(otherMethods(c))
	return c
}

// otherMethods returns FlagError for the methods of train: the error of an unknown flag names the
// methods that have it.
func otherMethods(all *cobra.Command) func(*cobra.Command, error) error {
	return func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return cli.FlagError(c, err)
		}
		var names []string
		for _, other := range all.Commands() {
			if other.Flags().Lookup(unknown.GetSpecifiedName()) != nil {
				names = append(names, other.CommandPath())
			}
		}
		if names == nil {
			return cli.FlagError(c, err)
		}
		return cli.Usagef("%w: it is a flag of %s", err, strings.Join(names, ", "))
	}
}

// NewAccountTrain makes the command account train with the same subcommands.
func NewAccountTrain(a *cli.App) *cobra.Command {
	c := newAccountFamily(a, shuffledFamily)
	c.Use, c.Short = "train", "Tell what training a model costs, before there are data"
	c.Long = `Tell what training a model costs, by one of the methods below, before there are data.
Flags without a method are those of account train shuffled.`
	c.Example = `  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --step-size 1e-3 --smoothness 1 \
    --delta 1e-6 --eps 1
  darrm account train convex --n 4096 --dim 20 --task absolute --set l2:1 --radius 1 --eps 0.5 --delta 1e-5`
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for _, k := range families {
		account := newAccountFamily(a, k)
		cli.First(account, FlagGroups, "n", "dim", "task", "method", "eps", "delta", "clip", "radius",
			"epochs", "step-size", "noise")
		c.AddCommand(account)
	}
	return c
}
