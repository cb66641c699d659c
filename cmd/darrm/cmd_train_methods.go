package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newTrain is train with a subcommand for each family of methods. Without one it is train
// shuffled, which was the only family once.
func newTrain(a *app) *cobra.Command {
	c := newTrainShuffled(a)
	c.Use, c.Short = "train", "Train a model privately"
	c.Long = `Train one model privately, by one of the methods below, each of which says what the
model costs before it is trained. Flags without a method are those of train shuffled.`
	c.Example = `  darrm train shuffled --private a.csv --response y --task logistic --radius 1 --clip 1 \
    --step-size 0.1 --eps 1 --delta 1e-6`
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	c.AddCommand(newTrainShuffled(a))
	return c
}
