package training

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// NewTrain makes the command train with a subcommand for each family of methods. Without one it is
// train shuffled.
func NewTrain(a *cli.App) *cobra.Command {
	c := newTrainFamily(a, shuffledFamily)
	c.Use, c.Short = "train", "Train a model privately"
	c.Long = `Train one model privately, by one of the methods below, each of which says what the
model costs before it is trained. Flags without a method are those of train shuffled.`
	c.Example = `  darrm train shuffled --private a.csv --response y --task logistic --radius 1 --clip 1 \
    --step-size 0.1 --eps 1 --delta 1e-6`
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for _, k := range families {
		c.AddCommand(newTrainFamily(a, k))
	}
	c.AddCommand(newDescribe(a))
	return c
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
		c.AddCommand(newAccountFamily(a, k))
	}
	return c
}
