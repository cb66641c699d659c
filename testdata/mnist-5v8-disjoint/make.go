//go:build ignore

// Make trains the teachers of votes.csv and writes their votes:
//
//	scripts/fetch-mnist data mnist
//	go run testdata/mnist-5v8-disjoint/make.go data/mnist > testdata/mnist-5v8-disjoint/votes.csv
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"math"
	"os"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

const (
	k    = 101
	seed = 20241122
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: make FOLDER, where the files of MNIST are")
	}
	ctx := context.Background()
	training, err := fives(ctx, os.Args[1], "train")
	check(err)
	test, err := fives(ctx, os.Args[1], "t10k")
	check(err)
	parts, err := teachers.DisjointParts(training.Len(), k)
	check(err)
	plan, err := teachers.NewPlan(context.Background(), teachers.Config{
		Parts: parts,
		Teacher: shuffled.Config{
			// no noise: no privacy
			Task: loss.Logistic{}, Method: shuffled.ShuffleG, Epochs: 5, Order: iteration.Reshuffled,
			StepSize: 0.001, Clip: math.Inf(1),
		},
	}, training, nil)
	check(err)
	trained, err := plan.Simulate(ctx, seed)
	check(err)

	out := bufio.NewWriter(os.Stdout)
	fmt.Fprint(out, "query")
	for j := range k {
		fmt.Fprintf(out, ",t%d", j+1)
	}
	fmt.Fprintln(out, ",label")
	for i := range test.Len() {
		fmt.Fprint(out, i)
		for _, model := range trained.Models() {
			vote := 0
			if floats.Dot(model, test.Row(i)) > 0 {
				vote = 1
			}
			fmt.Fprintf(out, ",%d", vote)
		}
		fmt.Fprintf(out, ",%d\n", int(test.Response(i)))
	}
	check(out.Flush())
}

// fives returns the pictures of the digits 5 and 8, with 1 for an 8. Pixels are in [-1, 1],
// beside a constant.
func fives(ctx context.Context, dir, part string) (*data.Records, error) {
	set, err := data.ReadLabelledImages(ctx, dir, part)
	if err != nil {
		return nil, err
	}
	var features, labels []float64
	size := len(set.Pixels) / len(set.Labels)
	for i, digit := range set.Labels {
		if digit != 5 && digit != 8 {
			continue
		}
		for _, p := range set.Pixels[i*size : (i+1)*size] {
			features = append(features, float64(p)/127.5-1)
		}
		features = append(features, 1)
		label := 0.0
		if digit == 8 {
			label = 1
		}
		labels = append(labels, label)
	}
	return data.NewRecords(len(labels), size+1, features, labels)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
