// A mechanism for many classes of one's own: worked out, proved, and put beside others.
//
//	go run ./examples/certified
//
// Each class is the answer in proportion to e^{v/2}, where v is its number of votes, or 2 where it
// has fewer: classes with hardly a vote are alike. No theorem is at hand. The program proves which
// ε an answer costs, writes the table that releases take, and compares it on public votes with
// mechanisms that cost the same.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/certify"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
)

const (
	teachers = 12
	classes  = 4
)

func main() {
	ctx := context.Background()
	var mine certify.Draft
	space := plurality.NewSpace(teachers, classes, false, false)
	for h := range space.Histograms() {
		votes := space.Histogram(h) // descending, such as 7 3 2 0
		mine.Laws = append(mine.Laws, plurality.HistogramLaw{Votes: votes, Probabilities: law(votes)})
	}
	one, zero := 1, 0.
	proved, err := mine.Certify(ctx, ensemble.Stated{Affected: &one, Delta: &zero})
	check(err)
	table := proved.Plurality
	fmt.Printf("proved:  one answer is (%v, 0)-DP; no probability changed by more than %.1g\n",
		table.Problem().Epsilon, proved.Change)

	folder, err := os.MkdirTemp("", "darrm-certified-")
	check(err)
	defer os.RemoveAll(folder)
	file, err := os.Create(filepath.Join(folder, "table.json"))
	check(err)
	check(table.Encode(file))
	_, err = file.Seek(0, 0)
	check(err)
	again, err := release.ReadTable(ctx, file) // as darrm aggregate does: certified from scratch
	check(err)
	check(file.Close())
	fmt.Printf("table:   where classes have uneven shares of the votes, %.1f %% agree\n",
		100*again.Plurality.Value)

	ballots, err := ensemble.NewBallots(teachers, classes)
	check(err)
	for _, votes := range [][]int{{7, 3, 2, 0}, {1, 10, 0, 1}, {4, 4, 3, 1}, {0, 0, 5, 7}} {
		check(ballots.Add(votes, -1))
	}
	c, err := ensemble.Compare(ctx, ballots, ensemble.CompareOptions{
		Target:   accountant.Cost{Epsilon: table.Problem().Epsilon},
		Teachers: accountant.Cost{Epsilon: math.Inf(1)}, Affected: 1, Neighbours: accountant.ReplaceOne,
		Tables: []ensemble.NamedTable{{Name: "mine", Plurality: table.Certified}},
	})
	check(err)
	for _, row := range c.Rows {
		if row.Refused == nil {
			fmt.Printf("%-17s %.1f %% agree\n", row.Name+":", 100*row.Score.Agreement)
		}
	}
}

// law returns the probability of each class.
func law(votes []int) []float64 {
	p, sum := make([]float64, len(votes)), 0.
	for c, v := range votes {
		p[c] = math.Exp(float64(max(v, 2)) / 2)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
