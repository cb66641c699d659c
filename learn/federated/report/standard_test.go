package report_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/learn/federated/report"
)

// A decoder in another language, written from docs/federated-messages.md, gets the same vectors. Of the 25,000 numbers
// that it draws about 250 are decided at an edge of the ziggurat, and 6 in its tail.
func TestAnotherDecoder(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	for _, v := range []struct{ d, bits, projection int }{{101, 5, 0}, {64, 3, 5}} {
		r, err := report.NewPrivUnit(v.d, 3, v.bits, v.projection)
		if err != nil {
			t.Fatal(err)
		}
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
		command := exec.Command(python, "testdata/decode.py", fmt.Sprint(v.d), fmt.Sprint(v.projection))
		command.Stdin = strings.NewReader(text.String())
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(vectors) {
			t.Fatalf("%d vectors", len(lines))
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
			// Ours has the factor that makes it unbiased.
			ours := vectors[i]
			scale := floats.Dot(ours, theirs) / floats.Dot(theirs, theirs)
			floats.Scale(scale, theirs)
			if !(scale > 0) || floats.Distance(ours, theirs, 2) > 1e-12*floats.Norm(ours, 2) {
				t.Fatalf("message %d: distance %g of %g", i, floats.Distance(ours, theirs, 2), math.Abs(scale))
			}
		}
	}
}
