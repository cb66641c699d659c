package votes

import (
	"context"
	"os"
	"testing"
)

func BenchmarkFile(b *testing.B) {
	for b.Loop() {
		l, _ := ParseLayout(os.Getenv("L"))
		r, err := Open(context.Background(), Options{Layout: l}, os.Getenv("F"))
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for batch, err := range r.Batches() {
			if err != nil {
				b.Fatal(err)
			}
			n += batch.Len()
			batch.Release()
		}
		r.Close()
	}
}
