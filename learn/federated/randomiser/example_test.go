package randomiser_test

import (
	"fmt"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// One stream of a round: silos write a message for each record, the shuffler forgets whose is
// whose, and the server adds up.
func Example() {
	const d, records, bound = 101, 2000, 1.0
	r, err := randomiser.NewOneBit(d, 2)
	if err != nil {
		panic(err)
	}
	secret := stream.Seeded(1) // of a private round: stream.Secret()
	shuffler, err := randomiser.NewShuffler(randomiser.Expected{Reports: records, Size: r.Size()},
		randomiser.Expected{})
	if err != nil {
		panic(err)
	}
	gradient := make([]float64, d)
	gradient[7] = 0.9
	coins := secret.Stream("reports of silo 1", 0)
	for range records {
		message, err := r.Append(nil, gradient, bound, coins)
		if err != nil {
			panic(err)
		}
		if err := shuffler.Accept(randomiser.Gradients, message); err != nil {
			panic(err)
		}
	}
	messages, _, err := shuffler.Release()
	if err != nil {
		panic(err)
	}
	sum := make([]float64, d)
	for i := 0; i < len(messages); i += r.Size() {
		if err := r.Add(sum, messages[i:i+r.Size()], bound); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%d bytes; coordinate 7 is %.1f, its neighbour %.1f\n", len(messages), sum[7]/records,
		sum[8]/records)
	// Output: 18000 bytes; coordinate 7 is 0.9, its neighbour -0.0
}
