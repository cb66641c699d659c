package game_test

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/accountant/game"
)

// A coin shows heads with probability 1/2 for some votes and 9/16 for their neighbours. How much do
// a hundred tosses tell, if an adversary chooses the votes before each?
func Example() {
	heads := func(sixteenths uint64) game.Probability {
		return game.Probability{Mass: game.One / 16 * sixteenths, Classes: 1}
	}
	pair := game.Pair{
		{Count: 1, P: heads(8), PPrime: heads(9)},
		{Count: 1, P: heads(8), PPrime: heads(7)},
	}
	ctx := context.Background()
	g, err := game.New(ctx, func(yield func(game.Pair, error) bool) { yield(pair, nil) },
		game.Options{})
	if err != nil {
		panic(err)
	}
	epsilon, err := g.Epsilon(ctx, 1e-6, 100)
	if err != nil {
		panic(err)
	}
	one, err := g.Epsilon(ctx, 1e-6, 1)
	if err != nil {
		panic(err)
	}
	fmt.Printf("one answer %.3f, a hundred %.3f, by Rényi composition %.3f\n", one, epsilon,
		g.Renyi().Epsilon(1e-6, 100))
	// Output: one answer 0.138, a hundred 6.274, by Rényi composition 6.649
}
