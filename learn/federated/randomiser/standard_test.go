package randomiser_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/learn/federated/randomiser"
)

// A decoder in another language, written from docs/federated.md, gets the same vectors. Of
// the 30,000 numbers that it draws about 300 are decided at an edge of the ziggurat, and 7 in its
// tail.
func TestAnotherDecoder(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	unit := func(d, bits, projection int) randomiser.Randomizer {
		r, err := randomiser.NewPrivUnit(d, 3, bits, projection)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, v := range []struct {
		mode string
		d, k int
		r    randomiser.Randomizer
	}{
		{"one-bit", 33, 0, oneBit(t, 33, 1)},
		// up to d/64 coordinates are chosen without a list of all d
		{"rand-k", 101, 1, randK(t, 101, 1, 1)}, {"rand-k", 300, 4, randK(t, 300, 4, 1)},
		{"rand-k", 40, 39, randK(t, 40, 39, 1)}, {"rand-k", 12, 12, randK(t, 12, 12, 1)},
		{"privunit", 101, 0, unit(101, 5, 0)}, {"privunit", 64, 5, unit(64, 3, 5)},
	} {
		r := v.r
		c, x := coins(11), make([]float64, v.d)
		x[3] = 1
		var text strings.Builder
		var vectors [][]float64
		for range 60 {
			m, err := r.Append(nil, x, 1, c)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&text, hex.EncodeToString(m))
			sum := make([]float64, v.d)
			if err := r.Add(sum, m, 1); err != nil {
				t.Fatal(err)
			}
			vectors = append(vectors, sum)
		}
		command := exec.Command(python, "testdata/decode.py", v.mode, fmt.Sprint(v.d), fmt.Sprint(v.k))
		command.Stdin = strings.NewReader(text.String())
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(vectors) {
			t.Fatalf("%s: %d vectors", v.mode, len(lines))
		}
		for i, line := range lines {
			var theirs []float64
			for _, word := range strings.Fields(line) {
				y, err := strconv.ParseFloat(word, 64)
				if err != nil {
					t.Fatal(err)
				}
				theirs = append(theirs, y)
			}
			if len(theirs) != v.d {
				t.Fatalf("%s: %d numbers", v.mode, len(theirs))
			}
			// Ours has the factor that makes it unbiased.
			ours := vectors[i]
			scale := floats.Dot(ours, theirs) / floats.Dot(theirs, theirs)
			floats.Scale(scale, theirs)
			if !(scale > 0) || floats.Distance(ours, theirs, 2) > 1e-12*floats.Norm(ours, 2) {
				t.Fatalf("%s, k = %d: message %d: distance %g of %g", v.mode, v.k, i,
					floats.Distance(ours, theirs, 2), math.Abs(scale))
			}
		}
	}
}
