// The program federated times local reports of learn/federated/randomiser, from a vector to the
// server's sum, beside numpy's of the same mechanism and pfl-research's local Gaussian mechanism.
// It also prints the size of a report on the wire.
//
//	go run ./bench/federated [-pfl CHECKOUT]
//
// It needs a Python with numpy ($PYTHON, else the first in PATH that has it, or the system's). Each
// figure is the least of several runs on one core.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

func main() {
	pfl := flag.String("pfl", "", "directory of a checkout of apple/pfl-research")
	flag.Parse()
	peers.End("federated", run(*pfl))
}

func run(pfl string) error {
	fmt.Println("Microseconds a report, from the vector to the sum, and ratios to OneBit's:")
	fmt.Println()
	fmt.Println("| d | OneBit: write + add | reports/s | numpy, seeds | ratio | numpy, one by one | " +
		"ratio | numpy, one array | ratio | pfl-research, Gaussian | ratio |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	dims := []int{101, 1000, 10_000}
	interpreter, err := peers.Python("numpy")
	if err != nil {
		return err
	}
	for _, d := range dims {
		one, err := randomiser.NewOneBit(d, 0.58)
		if err != nil {
			return err
		}
		n := 400_000 / d
		write, add, err := microseconds(one, n)
		if err != nil {
			return err
		}
		ours := write + add
		var loop, array, seeds, peer float64
		python := exec.Command(interpreter, "bench/federated/peers.py", fmt.Sprint(d), fmt.Sprint(n), pfl)
		python.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
		python.Stderr = os.Stderr
		out, err := python.Output()
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(out), &loop, &array, &seeds, &peer); err != nil {
			return err
		}
		fmt.Printf("| %d | %.2f + %.2f | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %s |\n", d,
			write, add, 1e6/ours,
			seeds, seeds/ours, loop, loop/ours, array, array/ours, measured(peer, ours))
	}
	fmt.Println()
	fmt.Println("Bytes and noise of a report: the wire, and the squared norm of its noise over one " +
		"bit's at equal epsilon.")
	fmt.Println()
	fmt.Println("| d | epsilon | one bit | d floats | ratio | PrivUnit, 8 bits | its noise | its µs " +
		"| projected to 16, its noise | its µs |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, d := range dims {
		for _, epsilon := range []float64{0.58, 4} {
			if err := sizes(d, epsilon); err != nil {
				return err
			}
		}
	}
	return nil
}

func measured(peer, ours float64) string {
	if peer == 0 {
		return "- | -"
	}
	return fmt.Sprintf("%.1f | %.1f", peer, peer/ours)
}

func sizes(d int, epsilon float64) error {
	one, err := randomiser.NewOneBit(d, epsilon)
	if err != nil {
		return err
	}
	numbers := randomiser.Floats{OneBit: one}
	fmt.Printf("| %d | %g | %d | %d | %.1f |", d, epsilon, one.Size(), numbers.Size(),
		float64(numbers.Size())/float64(one.Size()))
	for _, k := range []int{0, 16} {
		unit, err := randomiser.NewPrivUnit(d, epsilon, 8, k)
		if err != nil {
			return err
		}
		write, add, err := microseconds(unit, max(2, 20_000/d))
		if err != nil {
			return err
		}
		if k == 0 {
			fmt.Printf(" %d |", unit.Size())
		}
		fmt.Printf(" %.3f | %.0f + %.0f |", math.Pow(unit.Scale(1)/one.Scale(1), 2), write, add)
	}
	fmt.Println()
	return nil
}

// microseconds returns the least time of five runs of n reports, to write one and to add it.
func microseconds(r randomiser.Randomizer, n int) (write, add float64, err error) {
	coins := rand.NewChaCha8([32]byte{1})
	x, sum := make([]float64, r.Dim()), make([]float64, r.Dim())
	x[0] = 1
	write, add = math.Inf(1), math.Inf(1)
	for range 5 {
		var messages []byte
		begin := time.Now()
		for range n {
			if messages, err = r.Append(messages, x, 1, coins); err != nil {
				return 0, 0, err
			}
		}
		write = min(write, float64(time.Since(begin).Nanoseconds())/1e3/float64(n))
		begin = time.Now()
		for ; len(messages) > 0; messages = messages[r.Size():] {
			if err := r.Add(sum, messages[:r.Size()], 1); err != nil {
				return 0, 0, err
			}
		}
		add = min(add, float64(time.Since(begin).Nanoseconds())/1e3/float64(n))
	}
	return write, add, nil
}
