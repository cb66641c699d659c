// A private model, from its price to its use.
//
//	go run ./examples/training
//
// Two thousand records of two classes are private. The program prices three methods before it
// reads any record, trains logistic regression by the first, charges the ledger for it, and
// evaluates the model on public records beside one without privacy.
//
// The records are made up here; data.ReadCSV and data.ReadLIBSVM read files.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

const (
	records  = 2000
	features = 6
)

func main() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "darrm-training-")
	check(err)
	defer os.RemoveAll(folder)

	// Nothing here may depend on the private records. A record's features have norm 1 at most:
	// longer ones are shortened.
	setting := convex.Setting{Loss: loss.Logistic{}, Radius: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}
	var plans []train.Plan
	for _, method := range []convex.Method{
		convex.ObjectivePerturbation{Setting: setting, Ball: 10},
		convex.OutputPerturbation{Setting: setting, Ball: 10},
		convex.PhasedSGD{Setting: setting, Ball: 10},
	} {
		p, err := method.Plan(records, features)
		check(err)
		price := p.Price
		fmt.Printf("%-24s %v-DP, neighbours %v; noise %.3g times the sensitivity\n", price.Method+":",
			price.Cost, price.Relation, price.Blocks[0].Multiplier())
		plans = append(plans, p)
	}
	plan := plans[0]

	private, public := people(records, 1), people(4000, 2)
	algorithm, err := plan.Train(private)
	check(err)

	book := filepath.Join(folder, "patients.ledger")
	budget, err := ledger.NewBudget(1.5, 1e-5)
	check(err)
	account, err := ledger.Create(ctx, book, budget, ledger.ReplaceOne)
	check(err)

	price := plan.Price
	out := filepath.Join(folder, "model.json")
	_, err = release.Model{
		Event: release.ModelEvent{Mechanism: convex.Mechanism, Method: price.Method,
			Task: setting.Loss.Name(), Epochs: algorithm.Rounds, Unit: "rounds",
			Mode: string(price.Bound)},
		Relation: price.Relation, Ledger: book, RequestID: "readmission, March",
		Output: release.FileOutput{Path: out},
		// The ledger is charged between Begin and Run.
		Begin: func([]byte) (release.Training, error) {
			r, err := train.NewRelease(algorithm)
			if err != nil {
				return release.Training{}, err
			}
			run := func(ctx context.Context, _ func() error) (func(io.Writer) error, error) {
				w, err := r.Run(ctx, nil)
				return func(to io.Writer) error {
					return json.NewEncoder(to).Encode(map[string]any{"task": setting.Loss.Name(), "model": w})
				}, err
			}
			return release.Training{ID: r.ID(), Cost: r.Cost(), State: r.Checkpoint, Run: run}, nil
		},
	}.Run(ctx)
	check(err)
	left, err := account.Remaining(ctx)
	check(err)
	fmt.Printf("\nreleased: %d weights by %s; %v is left\n", features, price.Method, left)

	file, err := os.Open(out)
	check(err)
	defer file.Close()
	m, err := model.Read(file)
	check(err)
	fmt.Printf("private model:     %.1f %% of public records right\n", accuracy(m, public))
	fmt.Printf("without privacy:   %.1f %%\n", accuracy(&model.Model{Task: setting.Loss, Link: m.Link,
		Weights: direction()}, public))
}

func accuracy(m *model.Model, r *data.Records) float64 {
	e, err := m.Evaluate(r)
	check(err)
	return 100 * *e.Accuracy
}

// direction is the difference between the classes of people: the best linear model.
func direction() []float64 { return []float64{1, -1, 0.5, 0, 0, 0} }

// people makes up records: class 1 is likelier where ⟨x, direction⟩ is larger.
func people(n int, seed uint64) *data.Records {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // made-up records, no privacy depends on them
	x, y := make([]float64, 0, n*features), make([]float64, n)
	for i := range n {
		score := rng.NormFloat64() / 4
		for _, w := range direction() {
			a := rng.NormFloat64() / 3
			score += 2 * w * a
			x = append(x, a)
		}
		if score > 0 {
			y[i] = 1
		}
	}
	r, err := data.NewRecords(n, features, x, y)
	check(err)
	return r
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
