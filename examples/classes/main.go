// Many classes, from a budget to labels.
//
//	go run ./examples/classes
//
// Fifty prompts of one language model, each with examples from another customer's mail, sort twelve
// letters into four classes. They promise nothing, and a customer is in one prompt only. The
// program asks what a budget of ε = 3 for all twelve labels gives, releases the labels by the best
// mechanism, and counts how many are the class that most prompts named.
//
// The choice rests on a prior and never on the votes, which are private.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

const (
	teachers = 50
	letters  = 12
)

var classes = []string{"billing", "delivery", "returns", "other"}

func main() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "darrm-classes-")
	check(err)
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "votes.csv")
	check(os.WriteFile(file, []byte(ask()), 0o600))

	// What may be done: each mechanism with as little noise as the budget allows.
	prior, err := plan.Prior(teachers, len(classes), 0.5)
	check(err)
	request := plan.Request{
		Stated: ensemble.Stated{K: teachers, Classes: len(classes), Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 3}, Queries: letters, Votes: prior,
	}
	p, err := plan.New(ctx, request)
	check(err)
	for _, c := range p.Choices {
		fmt.Printf("%-18s one label costs ε = %-6.4g %5.1f %% are expected to agree\n", c.Name+":",
			c.Mechanism.PerAnswer().Epsilon, 100*c.Agreement.Expected)
	}

	best := p.Choices[0]
	agree := 0
	answers, err := release.NewPlan(best.Mechanism)
	check(err)
	labels := release.Labels{
		Votes:  []string{file},
		Read:   votes.Options{Layout: votes.LayoutCounts, Classes: classes},
		Plan:   answers,
		Charge: release.Charge{Slack: &best.Slack},
		Output: release.FileOutput{Path: filepath.Join(folder, "labels.csv")},
		Each: func(b *votes.Batch, answers []int) error {
			for i, a := range answers {
				if a == b.Majority(i) {
					agree++
				}
			}
			return nil
		},
	}
	summary, err := labels.Run(ctx)
	check(err)
	fmt.Printf("\n%d labels by %s, together %v-DP; %d of them are what most prompts named\n",
		summary.Queries, summary.Mechanism, summary.Cost(), agree)
	out, err := os.ReadFile(filepath.Join(folder, "labels.csv"))
	check(err)
	fmt.Print(strings.Join(strings.SplitAfterN(string(out), "\n", 4)[:3], ""), "…\n")
}

// ask stands for the prompts: how many of them name each class, for each letter. A third of the
// prompts know a letter's class, and the others name any.
func ask() string {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // made-up votes, no privacy depends on them
	var b strings.Builder
	fmt.Fprintf(&b, "id,%s\n", strings.Join(classes, ","))
	for letter := range letters {
		var counts [4]int
		for range teachers {
			class := letter % len(classes)
			if rng.IntN(3) > 0 {
				class = rng.IntN(len(classes))
			}
			counts[class]++
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d,%d\n", letter, counts[0], counts[1], counts[2], counts[3])
	}
	return b.String()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
