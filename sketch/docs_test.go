package sketch

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// fenced returns the block of a language on the page of messages.
func fenced(t *testing.T, language string) string {
	t.Helper()
	b, err := os.ReadFile("../docs/mean.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(b), "```"+language+"\n")
	block, _, end := strings.Cut(after, "```")
	if !ok || !end {
		t.Fatalf("no block of %s", language)
	}
	return block
}

func TestPageHasTheMessage(t *testing.T) {
	want := strings.Join(strings.Fields(fenced(t, "hex")), "")
	cfg, xs := worked()
	m, err := codec(t, cfg).Encode(0, 0, xs[0])
	if err != nil || hex.EncodeToString(m) != want {
		t.Errorf("the page has\n%s, the codec writes\n%x, %v", want, m, err)
	}
}

// The page's client, in another language and without a fast transform, writes messages that the
// decoder takes. Whole numbers and d' a power of four make its sums exact, so that all bytes agree.
func TestPythonClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	var script, want strings.Builder
	script.WriteString(fenced(t, "python"))
	for _, e := range []Ensemble{SRHT, RowSelect} {
		for _, v := range [][2]int{{1, 1}, {3, 2}, {16, 3}, {200, 40}, {256, 9}} {
			d, k := v[0], v[1]
			x := make([]float64, d)
			for j := range x {
				x[j] = float64((j*j+3*d)%17 - 8)
			}
			c := Config{N: 1, K: k, D: d, Ensemble: e, Root: 1<<63 + uint64(d)}
			m, err := codec(t, c).Encode(1<<40+7, 1<<64-1, x)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, "%x\n", m)
			name := "False"
			if e == SRHT {
				name = "True"
			}
			fmt.Fprintf(&script,
				"\nd = %d\nprint(message(%d, %d, %d, [float((j*j + 3*d) %% 17 - 8) for j in range(d)], %d, "+
					"%s).hex())\n", d, c.Root, uint64(1<<40+7), uint64(1<<64-1), k, name)
		}
	}
	schemes, err := os.ReadFile("testdata/schemes.py")
	if err != nil {
		t.Fatal(err)
	}
	script.Write(schemes)
	// The other schemes. These vectors make the sums exact and no coordinate of Wangni certain.
	for _, v := range [][3]int{{16, 4, 2}, {60, 11, 3}, {64, 64, 1}, {256, 9, 4}} {
		d, k, bits := v[0], v[1], v[2]
		x := make([]float64, d)
		for j := range x {
			x[j] = float64((j*j*j+3*d)%9 - 4)
		}
		c := Config{N: 1, K: k, D: d, Root: 99}
		for name, args := range map[Estimator]string{RandKWangni: "wangni(%d, 5, 6, %s, %d)",
			TopKInduced: "induced(%d, 5, 6, %s, %d)", RandProjAvg: "rounded(%d, 5, 6, %s, %d, %d)",
			RotatedQuantised: "eden(%d, 5, 6, %s, %d, %d)"} {
			if name == RandKWangni && k == d {
				continue
			}
			each, call := float,
				[]any{c.Root, fmt.Sprintf("[float((j*j*j + 3*%d) %% 9 - 4) for j in range(%d)]", d, d), k}
			if strings.Count(args, "%d") == 3 {
				each, call = bits, append(call, bits)
			}
			e, err := name.New(c, 0, each)
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Encode(5, 6, x)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, "%x\n", m)
			fmt.Fprintf(&script, "\nprint("+args+".hex())\n", call...)
		}
	}
	out, err := exec.Command(python, "-c", script.String()).CombinedOutput()
	if err != nil || string(out) != want.String() {
		t.Errorf("python says %v\n%s\nwant\n%s", err, out, want.String())
	}
}
