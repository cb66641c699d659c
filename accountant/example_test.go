package accountant_test

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
)

// Ten releases with normal noise and one with Laplace noise, reported at δ = 1e-6.
func Example() {
	a, err := accountant.New(accountant.ReplaceOne)
	if err == nil {
		a, err = a.Charge(accountant.Gaussian{NoiseMultiplier: 10, Neighbours: accountant.ReplaceOne}, 10)
	}
	if err == nil {
		a, err = a.Charge(accountant.Laplace{Scale: 20, Neighbours: accountant.ReplaceOne}, 1)
	}
	if err != nil {
		panic(err)
	}
	r, err := a.AtDelta(1e-6)
	if err != nil {
		panic(err)
	}
	for _, b := range r.Bounds {
		fmt.Printf("%s: ε = %.4f\n", b.Method, b.Cost.Epsilon)
	}
	// Output:
	// pld: ε = 1.3845
	// rdp: ε = 1.4894
	// zcdp: ε = 1.7342
}
