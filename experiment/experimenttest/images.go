package experimenttest

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// WriteImages makes a folder of IDX files, some to train on and some to test: squares of 8 × 8
// pixels that are brighter on the left (label 0) or on the right (label 1), with so much noise that
// one image in ten or so looks like the other kind. The third label is there to be left out.
func WriteImages(t testing.TB, dir string, train, test int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range []string{"train", "t10k"} { // in one order: they share the generator
		n := map[string]int{"train": train, "t10k": test}[part]
		images, labels := Header(3, n, 8, 8), Header(1, n)
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
		for name, data := range map[string][]byte{part + "-images-idx3-ubyte": images,
			part + "-labels-idx1-ubyte": labels} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Header returns the first bytes of an IDX file.
func Header(dimensions byte, sizes ...int) []byte {
	b := []byte{0, 0, 8, dimensions}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
	}
	return b
}
