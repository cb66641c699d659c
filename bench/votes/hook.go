package main

import (
	"context"
	_ "embed"
	"fmt"
	"sync/atomic"

	"github.com/darrm/darrm/votes"
	_ "github.com/darrm/darrm/votes/compress" // as darrm links them
	_ "github.com/darrm/darrm/votes/parquet"
)

//go:embed numpy_votes.py
var numpyScript []byte

// answer answers the queries of a batch, on several goroutines at once. Here it
// takes the plain majority (class 0 on a tie); a mechanism would draw instead.
var answer = func(_ context.Context, b *votes.Batch) ([]int, error) {
	out := make([]int, b.Len())
	for i := range out {
		if 2*b.Ones(i) > b.K {
			out[i] = 1
		}
	}
	return out, nil
}

// read sends a file through answer and prints how many answers are 1.
func read(ctx context.Context, path, layout, out string) error {
	o := votes.Options{K: teachers}
	if err := o.Layout.UnmarshalText([]byte(layout)); err != nil {
		return err
	}
	r, err := votes.Open(ctx, o, path)
	if err != nil {
		return err
	}
	defer r.Close()
	var ones atomic.Int64
	sink := func(b *votes.Batch, answers []int) error { return nil }
	commit := func() error { return nil }
	if out != "" {
		f, err := votes.CreateLabels(out, votes.LabelOptions{})
		if err != nil {
			return err
		}
		defer f.Abort()
		sink, commit = f.WriteBatch, f.Commit
	}
	err = votes.Process(r, votes.ProcessOptions{},
		func(ctx context.Context, b *votes.Batch) ([]int, error) {
			answers, err := answer(ctx, b)
			n := 0
			for _, a := range answers {
				n += a
			}
			ones.Add(int64(n))
			return answers, err
		}, sink)
	if err != nil {
		return err
	}
	if err := commit(); err != nil {
		return err
	}
	fmt.Println(ones.Load())
	return nil
}
