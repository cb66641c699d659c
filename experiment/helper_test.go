package experiment

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// long reports whether the full-size experiments shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

// numbers marks a test of numbers that takes long under the race detector, which has
// nothing to find there: the package starts no goroutine. (Training grids do; see
// TestTrainingIsTheSameForAnyWorkers.)
func numbers(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("numbers, and nothing to race")
	}
}

// realData returns the folder of real files for experiments that cannot do without, and an
// empty one for those that have a stand-in: their golden values are its.
func realData(t testing.TB, d Definition) string {
	if d.NeedsData() == "" {
		return t.TempDir()
	}
	return os.Getenv("DARRM_DATA")
}

func load(t testing.TB, name string) Definition {
	t.Helper()
	d, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustRun(t testing.TB, d Definition, dir string, o Options) Outcome {
	t.Helper()
	out, err := Run(context.Background(), d, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writeImages makes a folder of IDX files: squares of 8 × 8 pixels that are brighter on
// the left (label 0) or on the right (label 1), with so much noise that one image in ten or
// so looks like the other kind. The third label is there to be left out.
func writeImages(t testing.TB, dir string, train, test int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range []string{trainPart, testPart} { // in one order: they share the generator
		n := map[string]int{trainPart: train, testPart: test}[part]
		images, labels := header(3, n, 8, 8), header(1, n)
		for i := range n {
			label := i % 3
			labels = append(labels, byte(label))
			for p := range 64 {
				v := 100 + 60*rng.NormFloat64()
				if (p%8 < 4) == (label == 0) {
					v += 24
				}
				images = append(images, byte(max(0, min(255, v))))
			}
		}
		for name, data := range map[string][]byte{part + "-images-idx3-ubyte": images, part + "-labels-idx1-ubyte": labels} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func header(dimensions byte, sizes ...int) []byte {
	b := []byte{0, 0, 8, dimensions}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
	}
	return b
}

// smallImages is an experiment of kind images that takes a second.
const smallImages = `{
  "format_version": 1, "name": "small", "kind": "images", "title": "small", "source": "", "about": "",
  "parameters": {
    "data": "squares", "classes": [0, 1], "teachers": 5, "pool": 2, "teacher_delta": 0.001,
    "private": {"sampling_rate": 0.25, "steps": 20, "learning_rate": 1, "clip": 1, "noise_multiplier": 3},
    "plain": {"sampling_rate": 0.25, "steps": 40, "learning_rate": 2},
    "allowances": [1, 3], "queries": [30], "draws": 5, "slack": 0.001, "ordered": [3],
    "printed": [{"table": "X", "m": 3, "queries": 30, "gnmax": [0.9, 0.1], "sub": [0.9, 0.1], "opt": [0.9, 0.1]}],
    "within": [{"m": 3, "accuracy": 0.3}]
  }
}`
