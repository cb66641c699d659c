package sketch

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkFigure25 is the source's figure of times: one client's encoding and the server's
// decoding at d = 1024, with messages. Beside ns/op it reports, measured alternately in one
// run, what encoding and decoding cost by Wangni's.
func BenchmarkFigure25(b *testing.B) {
	ctx := context.Background()
	for _, s := range []struct{ n, k int }{{10, 5}, {10, 102}, {50, 20}} {
		xs, err := AlikeVectors(b.Context(), s.n, 1024, 0.9, 1)
		if err != nil {
			b.Fatal(err)
		}
		c := Config{N: s.n, K: s.k, D: 1024, Root: 1}
		reference, err := RandKWangni.New(c, 0, 64)
		if err != nil {
			b.Fatal(err)
		}
		once := func(e Compressor, round uint64) (encode, decode time.Duration) {
			d := e.NewDecoder(round)
			for i, x := range xs {
				start := time.Now()
				m, err := e.Encode(round, uint64(i), x)
				encode += time.Since(start)
				if err != nil {
					b.Fatal(err)
				}
				if err := d.Add(uint64(i), m); err != nil {
					b.Fatal(err)
				}
			}
			start := time.Now()
			if _, err := d.Mean(ctx); err != nil {
				b.Fatal(err)
			}
			return encode / time.Duration(len(xs)), time.Since(start)
		}
		for _, e := range []Estimator{RandK, RandKSpatialAvg, RandKWangni, TopKInduced, RandProjAvg} {
			b.Run(fmt.Sprintf("%s/n=%d,k=%d", e, s.n, s.k), func(b *testing.B) {
				made, err := e.New(c, 0, 64)
				if err != nil {
					b.Fatal(err)
				}
				var encode, decode, referenceEncode, referenceDecode time.Duration
				round := uint64(0)
				for b.Loop() {
					x, y := once(made, round)
					rx, ry := once(reference, round)
					encode, decode, referenceEncode, referenceDecode = encode+x, decode+y, referenceEncode+rx,
						referenceDecode+ry
					round++
				}
				b.ReportMetric(float64(encode.Nanoseconds())/float64(round), "ns/encode")
				b.ReportMetric(float64(decode.Nanoseconds())/float64(round), "ns/decode")
				b.ReportMetric(float64(encode)/float64(referenceEncode), "encode/wangni")
				b.ReportMetric(float64(decode)/float64(referenceDecode), "decode/wangni")
			})
		}
	}
}
