package convex_test

import (
	"fmt"
	"log"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/loss"
)

// What a model would cost is known before any record is read.
func Example() {
	method := convex.PhasedSGD{
		Setting: convex.Setting{
			Loss:   loss.GLM[loss.Absolute]{},
			Radius: 1, // public: longer features are shortened
			Target: accountant.Cost{Epsilon: 1, Delta: 1e-6},
		},
		Ball: 1,
	}
	plan, err := method.Plan(4096, 20)
	if err != nil {
		log.Fatal(err)
	}
	price := plan.Price
	fmt.Println(price.Method, price.Cost, price.Relation)
	rows, err := plan.Compare()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rows {
		fmt.Printf("%-10s noise %.4f, %s: epsilon %.4f\n", r.Noise, r.Deviation, r.Reading, r.Epsilon)
	}
	// Output:
	// phased-sgd (1, 1e-06) replace one record
	// printed    noise 0.0774, as the text bounds gradients (3·L0·R each): epsilon 0.8421
	// printed    noise 0.0774, corrected: epsilon 0.2598
	// calibrated noise 0.0220, corrected: epsilon 1.0000
}
