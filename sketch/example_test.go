package sketch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/darrm/darrm/sketch"
)

// Ten clients whose vectors are much alike send 102 numbers for 1024. The decoder that knows it
// has less than half of the error of plain Rand-k.
func Example() {
	xs := make([][]float64, 10)
	for i := range xs {
		xs[i] = make([]float64, 1024)
		for j := range xs[i] {
			xs[i][j] = 1
		}
		xs[i][i] += 5
	}
	r, q := sketch.Correlation(xs)
	config := sketch.Config{N: 10, K: 102, D: 1024, Ensemble: sketch.SRHT,
		T: sketch.Transform{Avg: true}, Root: 7}
	codec, err := sketch.NewCodec(config)
	if err != nil {
		log.Fatal(err)
	}

	messages := map[uint64][]byte{}
	for i, x := range xs { // each on its own device
		if messages[uint64(i)], err = codec.Encode(0, uint64(i), x); err != nil {
			log.Fatal(err)
		}
	}
	mean, err := sketch.Decode(context.Background(), codec, 0, messages)
	if err != nil {
		log.Fatal(err)
	}

	squared := 0.0
	for j, v := range mean {
		want := 1.0
		if j < 10 {
			want = 1.5
		}
		squared += (v - want) * (v - want)
	}
	expected, err := sketch.PredictMSE(context.Background(), config, r, q)
	if err != nil {
		log.Fatal(err)
	}
	config.Ensemble, config.T = sketch.RowSelect, sketch.Transform{}
	randK, err := sketch.PredictMSE(context.Background(), config, r, q)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("R = %.2f of at most 9\n", r)
	fmt.Printf("squared error: expected %.0f, this round %.0f, Rand-k %.0f\n", expected, squared,
		randK)
	// Output:
	// R = 8.79 of at most 9
	// squared error: expected 427, this round 406, Rand-k 957
}
