package gamma

import (
	"bytes"
	"context"
	"testing"
)

// BenchmarkCertify certifies optimal tables: near a tight constraint, where the
// sweep can rule out least.
func BenchmarkCertify(b *testing.B) {
	for _, name := range []string{"k11-m3-free", "k41-m5-free", "k101-m5-free", "k101-m5-monotone"} {
		table := goldenTable(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Certify(context.Background(), table.Problem(), table.Func()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode measures the cost of reading a stored table: certificate, baselines and the gap
// are worked out anew.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"k11-m3-free", "k41-m5-free", "k101-m5-free"} {
		data := golden(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(context.Background(), bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
