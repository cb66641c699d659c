package sketch

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// Streams of a root for the starts of tasks.
const (
	streamDirection = 7
	streamCentroids = 8
)

// task is a computation by clients and a server that meet in means of vectors.
type task interface {
	// vectors returns the vectors that the clients send in this round: one per client for each mean
	// that the server needs. The caller does not keep them.
	vectors() [][][]float64
	// receive takes the server's estimates, one per mean, and ends the round.
	receive(means [][]float64)
	// loss returns the present loss of the task.
	loss() float64
}

// powerIteration finds the first principal component. Each client multiplies the server's
// direction by its own covariance matrix and sends the result, scaled to length 1.
type powerIteration struct {
	clients []client // centred by the mean of all points
	v, top  []float64
}

func (t *powerIteration) vectors() [][][]float64 {
	out := make([][]float64, len(t.clients))
	for i, c := range t.clients {
		u := times(c, t.v)
		if norm := floats.Norm(u, 2); norm > 0 {
			floats.Scale(1/norm, u)
		}
		out[i] = u
	}
	return [][][]float64{out}
}

// times returns Σ x·(x·v), the covariance times v but for a factor.
func times(c client, v []float64) []float64 {
	d := len(v)
	u := make([]float64, d)
	for r := range c.rows {
		x := c.x[r*d : (r+1)*d]
		floats.AddScaled(u, floats.Dot(x, v), x)
	}
	return u
}

func (t *powerIteration) receive(means [][]float64) {
	if norm := floats.Norm(means[0], 2); norm > 0 {
		floats.ScaleTo(t.v, 1/norm, means[0])
	}
}

// loss is the distance to the first eigenvector, which has no sign.
func (t *powerIteration) loss() float64 {
	plus, minus := 0.0, 0.0
	for j, v := range t.v {
		plus += (v - t.top[j]) * (v - t.top[j])
		minus += (v + t.top[j]) * (v + t.top[j])
	}
	return math.Sqrt(min(plus, minus))
}

// unitVector draws a direction.
func unitVector(d int, root uint64) []float64 {
	rng := stream.New(root, stream.Synthetic, streamDirection)
	v := make([]float64, d)
	for j := range v {
		v[j] = rng.Normal()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

// centred takes the mean of all points off each, and returns the points and the first
// eigenvector of their covariance.
func centred(p datasets.Points) (datasets.Points, []float64, error) {
	mean := p.Mean()
	all := client{rows: p.Len()}
	for i := range p.Len() {
		for j, v := range p.Row(i) {
			all.x = append(all.x, v-mean[j])
		}
		all.response = append(all.response, p.Response(i))
	}
	records, err := data.NewRecords(all.rows, p.Dim(), all.x, all.response)
	if err != nil {
		return p, nil, err
	}
	p.Records = records
	v := unitVector(p.Dim(), 0)
	for range 1000 {
		next := times(all, v)
		norm := floats.Norm(next, 2)
		if norm == 0 {
			break // all points are equal: any direction is a first one
		}
		floats.Scale(1/norm, next)
		moved := floats.Distance(next, v, 2)
		if v = next; moved < 1e-13 {
			break
		}
	}
	return p, v, nil
}

// kMeans finds cluster centres by Lloyd's iteration. Each client sends the mean of its
// points of each cluster; the server takes the plain mean over clients.
type kMeans struct {
	clients []client
	d       int
	centres [][]float64
	// by cluster and client: the last local centre of a cluster that was not empty
	last   [][][]float64
	total  float64     // Σ of squared distances to the nearest centre
	sums   [][]float64 // of the next round, by client: clusters·d
	counts [][]int
}

func newKMeans(clients []client, d int, start [][]float64) *kMeans {
	t := &kMeans{clients: clients, d: d, centres: start, last: make([][][]float64, len(start))}
	for c := range t.last {
		t.last[c] = make([][]float64, len(clients))
		for i := range clients {
			t.last[c][i] = start[c]
		}
	}
	t.assign()
	return t
}

// firstCentres draws distinct points.
func firstCentres(p datasets.Points, clusters int, root uint64) [][]float64 {
	rng := stream.New(root, stream.Synthetic, streamCentroids)
	var out [][]float64
	for _, i := range rng.Subset(p.Len(), clusters) {
		out = append(out, p.Row(i))
	}
	return out
}

// assign gives every point to its nearest centre.
func (t *kMeans) assign() {
	clusters := len(t.centres)
	flat, norms := make([]float64, 0, clusters*t.d), make([]float64, clusters)
	for c, centre := range t.centres {
		flat = append(flat, centre...)
		norms[c] = floats.Dot(centre, centre)
	}
	t.total, t.sums, t.counts = 0, make([][]float64, len(t.clients)), make([][]int, len(t.clients))
	for i, client := range t.clients {
		t.sums[i], t.counts[i] = make([]float64, clusters*t.d), make([]int, clusters)
		products := make([]float64, client.rows*clusters)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1,
			blas64.General{Rows: client.rows, Cols: t.d, Stride: t.d, Data: client.x},
			blas64.General{Rows: clusters, Cols: t.d, Stride: t.d, Data: flat}, 0,
			blas64.General{Rows: client.rows, Cols: clusters, Stride: clusters, Data: products})
		for r := range client.rows {
			x := client.x[r*t.d : (r+1)*t.d]
			best, least := 0, math.Inf(1)
			for c, norm := range norms { // ‖x-c‖² without ‖x‖²
				if v := norm - 2*products[r*clusters+c]; v < least {
					best, least = c, v
				}
			}
			t.total += least + floats.Dot(x, x)
			t.counts[i][best]++
			floats.Add(t.sums[i][best*t.d:(best+1)*t.d], x)
		}
	}
}

// vectors sends for an empty cluster the client's own last centre. The server's noisy one
// would be encoded again in each round, and its energy grow by 1 + MSE every time.
func (t *kMeans) vectors() [][][]float64 {
	for c := range t.centres {
		for i := range t.clients {
			if n := t.counts[i][c]; n > 0 {
				t.last[c][i] = floats.ScaleTo(make([]float64, t.d), 1/float64(n), t.sums[i][c*t.d:(c+1)*t.d])
			}
		}
	}
	return t.last
}

func (t *kMeans) receive(means [][]float64) {
	t.centres = means
	t.assign()
}

func (t *kMeans) loss() float64 { return t.total }

// regression is least squares by gradient descent with each client's whole data.
type regression struct {
	clients   []client
	d, n      int
	rate      float64
	w         []float64
	residuals [][]float64
	squares   float64
}

func newRegression(clients []client, d int, rate float64) *regression {
	t := &regression{clients: clients, d: d, rate: rate, w: make([]float64, d),
		residuals: make([][]float64, len(clients))}
	for i, c := range clients {
		t.n += c.rows
		t.residuals[i] = make([]float64, c.rows)
	}
	t.measure()
	return t
}

func (t *regression) measure() {
	t.squares = 0
	for i, c := range t.clients {
		for r := range c.rows {
			e := floats.Dot(c.x[r*t.d:(r+1)*t.d], t.w) - c.response[r]
			t.residuals[i][r] = e
			t.squares += e * e
		}
	}
}

func (t *regression) vectors() [][][]float64 {
	out := make([][]float64, len(t.clients))
	for i, c := range t.clients {
		out[i] = make([]float64, t.d)
		for r, e := range t.residuals[i] {
			floats.AddScaled(out[i], 2*e/float64(c.rows), c.x[r*t.d:(r+1)*t.d])
		}
	}
	return [][][]float64{out}
}

func (t *regression) receive(means [][]float64) {
	floats.AddScaled(t.w, -t.rate, means[0])
	t.measure()
}

// loss is the mean squared error, in standard deviations of the target.
func (t *regression) loss() float64 { return t.squares / float64(t.n) }

// Ways to hand out the points to clients.
const (
	splitIID    = "iid"    // shuffled, then equal parts
	splitShards = "shards" // two shards of points sorted by label for each client
	splitSorted = "sorted" // equal parts of points sorted by target
)

// client is the points of one client, in rows side by side.
type client struct {
	rows     int
	x        []float64 // rows·d
	response []float64
}

// split hands out the points. Everything is drawn from one stream of the root.
func split(p datasets.Points, how string, clients int, root uint64) []client {
	rng := stream.New(root, stream.DataSplit, 0, 0)
	order := make([]int, p.Len())
	for i := range order {
		order[i] = i
	}
	byResponse := func(a, b int) int { return cmp.Compare(p.Response(a), p.Response(b)) }
	if how == splitSorted {
		slices.SortStableFunc(order, byResponse)
		return deal(p, equalParts(order, clients))
	}
	rng.Shuffle(order)
	if how == splitIID {
		return deal(p, equalParts(order, clients))
	}
	slices.SortStableFunc(order, byResponse)
	shards := equalParts(order, 2*clients)
	numbers := make([]int, len(shards))
	for i := range numbers {
		numbers[i] = i
	}
	rng.Shuffle(numbers)
	parts := make([][]int, clients)
	for i := range parts {
		parts[i] = slices.Concat(shards[numbers[2*i]], shards[numbers[2*i+1]])
	}
	return deal(p, parts)
}

func equalParts(order []int, parts int) [][]int {
	out := make([][]int, parts)
	for i := range out {
		out[i] = order[i*len(order)/parts : (i+1)*len(order)/parts]
	}
	return out
}

func deal(p datasets.Points, parts [][]int) []client {
	out := make([]client, len(parts))
	for i, part := range parts {
		c := client{rows: len(part), x: make([]float64, 0, len(part)*p.Dim()),
			response: make([]float64, 0, len(part))}
		for _, r := range part {
			c.x, c.response = append(c.x, p.Row(r)...), append(c.response, p.Response(r))
		}
		out[i] = c
	}
	return out
}
