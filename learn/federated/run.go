package federated

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/train"
)

// run is a run in one process: it drives the same server and the same silos that files can join.
type run struct {
	p      *plan
	server *Server
	silos  []*Silo
	coins  train.Coins
	noise  *stream.Normals
	z      []float64
}

// newRun returns a run before its first round, on the records of the silos.
func newRun(p *plan, silos []*data.Records, coins train.Coins) *run {
	e := &run{p: p, server: newServer(p, coins), coins: coins, noise: coins.Normals(),
		z: make([]float64, p.d)}
	for m, records := range silos {
		e.silos = append(e.silos, &Silo{p, m, records, coins})
	}
	return e
}

func (e *run) State() []train.Vector { return e.server.State() }
func (e *run) Output() []float64     { return e.server.Model() }

// Round does round k.
func (e *run) Round(ctx context.Context, _ int) error {
	b := e.server.Broadcast()
	q, err := e.direction(ctx, b)
	if err != nil {
		return err
	}
	var reply Reply
	if e.p.Local.Steps > 1 {
		reply, err = e.silos[q.Silo].Local(ctx, q)
	} else {
		reply, err = e.server.Step(ctx, q)
	}
	if err != nil {
		return err
	}
	return e.server.Accept(q, reply)
}

// direction works out v_r.
func (e *run) direction(ctx context.Context, b Broadcast) (Request, error) {
	if e.p.kind != shuffled {
		if err := e.means(ctx, b); err != nil {
			return Request{}, err
		}
		return e.server.turn(b)
	}
	var all Reports
	for _, s := range e.silos {
		r, err := s.Report(ctx, b)
		if err != nil {
			return Request{}, err
		}
		for k := range all {
			all[k] = append(all[k], r[k]...)
		}
	}
	shuffledReports, err := e.shuffle(b, all)
	if err != nil {
		return Request{}, err
	}
	return e.server.Receive(ctx, shuffledReports)
}

// shuffle returns the reports as a shuffler releases them.
func (e *run) shuffle(b Broadcast, all Reports) (Reports, error) {
	s, err := e.p.newShuffler(b)
	if err != nil {
		return Reports{}, err
	}
	size := e.p.randomizer.Size()
	for k, messages := range all {
		for i := 0; i < len(messages); i += size {
			if err := s.Accept(randomiser.Stream(k), messages[i:i+size]); err != nil {
				return Reports{}, err
			}
		}
	}
	var out Reports
	out[gradients], out[differences], err = s.Release()
	return out, err
}

// NewShuffler returns a shuffler for the reports of a broadcast: it takes what all silos send, and
// releases nothing below the number that the price is for. A round is released once: two releases
// that differ by a late silo's reports would single them out, and its price is for being among all
// (package rounds keeps a book).
func (p *Plan) NewShuffler(b Broadcast) (*randomiser.Shuffler, error) {
	p = handle.Made(p)
	if err := cmp.Or(p.hasReports(), b.check(&p.task)); err != nil {
		return nil, err
	}
	return p.newShuffler(b)
}

func (p *plan) newShuffler(b Broadcast) (*randomiser.Shuffler, error) {
	expected := p.expectedReports(b)
	return randomiser.NewShuffler(expected[gradients], expected[differences])
}

// expectedReports returns the number and the size of the reports that a shuffler of a broadcast
// expects, by stream.
func (p *plan) expectedReports(b Broadcast) (expected [2]randomiser.Expected) {
	for k, norm := range p.sent(b) {
		if norm > 0 {
			expected[k] = randomiser.Expected{Reports: p.expected(b.Round), Minimum: p.least(b.Round),
				Size: p.randomizer.Size()}
		}
	}
	return expected
}

// ExpectedReports returns the number and the size of the reports that NewShuffler's shuffler
// expects, by stream. It is for a shuffle whose reports are never in one place:
// randomiser.Expected.Enough decides when it may release.
func (p *Plan) ExpectedReports(b Broadcast) ([2]randomiser.Expected, error) {
	p = handle.Made(p)
	if err := cmp.Or(p.hasReports(), b.check(&p.task)); err != nil {
		return [2]randomiser.Expected{}, err
	}
	return p.expectedReports(b), nil
}

// means sets the server's sums to the means of the clipped vectors, with noise where the kind has
// any.
func (e *run) means(ctx context.Context, b Broadcast) error {
	p := e.p
	norms := p.sent(b)
	question := digest("broadcast", b.Round, b.Model, b.Previous)
	type place struct{ silo, record int }
	var taken []place
	for m, s := range e.silos {
		for _, i := range s.batch(b.Round, question) {
			taken = append(taken, place{m, i})
		}
	}
	workers := make([]*contribution, p.Workers)
	both := make([]float64, 2*p.d)
	err := blockSums(ctx, len(taken), p.Workers, both, func(w, from, to int, both []float64) error {
		if workers[w] == nil {
			workers[w] = newContribution(p.d)
		}
		for _, at := range taken[from:to] {
			workers[w].of(p, e.silos[at.silo].records, at.record, b, norms)
			for k, norm := range norms {
				if norm > 0 {
					addTo(both[k*p.d:(k+1)*p.d], workers[w].vectors[k])
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.noise.Restart("federated mean", b.Round)
	for k, norm := range norms {
		sd := p.deviation(randomiser.Stream(k), norm, len(taken))
		clear(e.z)
		if norm > 0 && sd > 0 {
			e.noise.Fill(e.z)
		}
		for j := range e.z {
			e.server.sums[k][j] = both[k*p.d+j]/float64(len(taken)) + sd*e.z[j]
		}
	}
	return nil
}

// The streams of a round, which share nothing: clipped gradients at x_r, and clipped differences of
// the gradients at x_r and x_{r-1}.
const (
	gradients   = randomiser.Gradients
	differences = randomiser.Differences
)

// contribution has what one record gives to each stream, in memory of its own.
type contribution struct {
	vectors [2][]float64
	before  []float64 // the gradient at x_{r-1}
}

func newContribution(d int) *contribution {
	return &contribution{[2][]float64{make([]float64, d), make([]float64, d)}, make([]float64, d)}
}

// of sets the vectors of record i for the streams whose norms are above 0, each clipped to its
// norm.
func (c *contribution) of(t *plan, r *data.Records, i int, b Broadcast, norms [2]float64) {
	a, y := r.Row(i), r.Response(i)
	g := c.vectors[gradients]
	t.Loss.Gradient(g, b.Model, a, y)
	if norms[differences] > 0 {
		t.Loss.Gradient(c.before, b.Previous, a, y)
		for j := range g {
			c.vectors[differences][j] = g[j] - c.before[j]
		}
		vec.Clip(c.vectors[differences], norms[differences])
		if t.lagged {
			copy(g, c.before)
		}
	}
	vec.Clip(g, norms[gradients])
}

// chunkSize is the number of records or messages in a chunk, the unit of work. Each chunk is
// summed, then the chunks' sums are added in order, and each chunk has coins of its own. So no
// result depends on the number of workers. Another size changes the results of a seed.
const chunkSize = 128

// chunks calls do for each chunk of n things, on so many workers. Things from to to-1 are chunk
// number from/chunkSize. Calls with the same worker come one after another.
func chunks(ctx context.Context, n, workers int, do func(worker, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	count := (n + chunkSize - 1) / chunkSize
	for w := range min(workers, count) {
		g.Go(func() error {
			for c := w; c < count; c += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, c*chunkSize, min(n, (c+1)*chunkSize)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// BlockSize is the number of vectors in a block. Each block is summed apart from the others, so
// that several machines can sum blocks and one can add their sums. Another size changes the results
// of a seed.
const BlockSize = 64 * chunkSize

// blocks returns the number of blocks of n vectors.
func blocks(n int) int { return (n + BlockSize - 1) / BlockSize }

// blockSums adds vectors up, block after block: do adds those of its chunk to a sum of its own.
func blockSums(ctx context.Context, n, workers int, sum []float64,
	do func(worker, from, to int, sum []float64) error) error {
	clear(sum)
	block := make([]float64, len(sum))
	for start := 0; start < n; start += BlockSize {
		err := chunkSums(ctx, min(n-start, BlockSize), workers, block,
			func(worker, from, to int, sum []float64) error {
				return do(worker, start+from, start+to, sum)
			})
		if err != nil {
			return err
		}
		addTo(sum, block)
	}
	return nil
}

// chunkSums adds the vectors of one block up.
func chunkSums(ctx context.Context, n, workers int, sum []float64,
	do func(worker, from, to int, sum []float64) error) error {
	count, d := (n+chunkSize-1)/chunkSize, len(sum)
	parts := make([]float64, d*count)
	err := chunks(ctx, n, workers, func(worker, from, to int) error {
		at := d * (from / chunkSize)
		return do(worker, from, to, parts[at:at+d])
	})
	clear(sum)
	for c := range count {
		addTo(sum, parts[d*c:d*(c+1)])
	}
	return err
}

func addTo(sum, v []float64) {
	for j, x := range v {
		sum[j] += x
	}
}
