package classes

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/votes"
	_ "github.com/darrm/darrm/votes/compress" // the votes are inside gzip
)

// ballots are the votes on some queries.
type ballots struct {
	k, classes int
	counts     [][]int // by query and class
	truth      []int
	kinds      []int   // of each query: which of the sorted histograms, below
	histograms [][]int // counts in descending order, each once
}

// Counts returns the votes of a file of folder votes, for the given number of classes: how many teachers
// vote for each class, for each query. votes/README.md lists the files.
func Counts(ctx context.Context, name string, classes int) ([][]int, error) {
	b, err := open(ctx, name, classes, 0)
	if err != nil {
		return nil, err
	}
	return b.counts, nil
}

// open reads the votes of that name, on the first so many queries; 0 is all.
func open(ctx context.Context, name string, classes, queries int) (*ballots, error) {
	file, err := voteFiles.ReadFile("votes/" + name + ".csv.gz")
	if err != nil {
		return nil, err
	}
	r, err := votes.NewReader(ctx, bytes.NewReader(file), votes.Options{
		Name: name, Compression: votes.CompressionGzip, Layout: votes.LayoutCounts,
		Classes: votes.IntegerClasses(classes),
	})
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	b := &ballots{k: r.K(), classes: classes}
	seen := map[string]int{}
	for batch, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		b.k = batch.K
		for i := range batch.Len() {
			if queries > 0 && len(b.truth) == queries {
				return b, nil
			}
			row := slices.Clone(batch.Row(i))
			sorted := slices.Clone(row)
			slices.SortFunc(sorted, func(v, w int) int { return w - v })
			key := fmt.Sprint(sorted)
			kind, ok := seen[key]
			if !ok {
				kind = len(b.histograms)
				seen[key], b.histograms = kind, append(b.histograms, sorted)
			}
			b.counts, b.truth, b.kinds = append(b.counts, row), append(b.truth, batch.Labels[i]),
				append(b.kinds, kind)
		}
	}
	return b, nil
}

func (b *ballots) len() int { return len(b.truth) }

// prior returns the objective whose prior is the frequencies of the votes' sorted histograms.
func (b *ballots) prior() plurality.Objective {
	ones := make([]float64, b.len())
	for i := range ones {
		ones[i] = 1
	}
	return plurality.Objective{Counts: plurality.CountHistograms(b.counts, ones)}
}

// scores are, for each query, the probabilities of an answer with the most votes, of the true one
// and of none, over the mechanism's randomness.
type scores struct{ agrees, right, abstains []float64 }

// score works the probabilities out; those without noise where m is nil, any class of a tie being
// as likely. No mechanism here minds the names of classes, so a class's probability is that of its
// place among the sorted counts.
func (b *ballots) score(ctx context.Context, m *ensemble.Mechanism) (scores, error) {
	laws := make([][]float64, len(b.histograms))
	for i, counts := range b.histograms {
		if err := ctx.Err(); err != nil {
			return scores{}, err
		}
		var err error
		if laws[i], err = law(m, counts); err != nil {
			return scores{}, err
		}
	}
	n := b.len()
	s := scores{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i, counts := range b.counts {
		p, sorted := laws[b.kinds[i]], b.histograms[b.kinds[i]]
		for place, v := range sorted {
			if v == sorted[0] {
				s.agrees[i] += p[place]
			}
		}
		s.right[i] = p[slices.Index(sorted, counts[b.truth[i]])]
		if len(p) > b.classes {
			s.abstains[i] = p[b.classes]
		}
	}
	return s, nil
}

func law(m *ensemble.Mechanism, counts []int) ([]float64, error) {
	if m != nil {
		return m.Probabilities(counts)
	}
	p, most, ties := make([]float64, len(counts)), slices.Max(counts), 0
	for _, v := range counts {
		if v == most {
			ties++
		}
	}
	for c, v := range counts {
		if v == most {
			p[c] = 1 / float64(ties)
		}
	}
	return p, nil
}
