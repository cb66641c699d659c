package federated

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func long() bool { return os.Getenv("DARRM_LONG") != "" }

// sending returns a plan, its silos with coins of their own, and a server in round 0.
func sending(t testing.TB, n int, change func(*PSGM)) (*Plan, []*Silo, *Server) {
	t.Helper()
	p := networkPlan(t, n, 5, change)
	records := noisyRecords(t, n, 8)
	var silos []*Silo
	for m, size := range p.Silos {
		rows := make([]int, size)
		for i := range rows {
			rows[i] = p.first[m] + i
		}
		silos = append(silos, must.Get(p.NewSilo(m, must.Get(records.Select(rows))(t),
			seeded(uint64(100+m))))(t))
	}
	return p, silos, p.NewServer(seeded(7))
}

// gather returns the reports of all silos to a broadcast, in the silos' order.
func gather(t testing.TB, silos []*Silo, b Broadcast) (all Reports) {
	t.Helper()
	for _, s := range silos {
		r := must.Get(s.Report(t.Context(), b))(t)
		for k := range all {
			all[k] = append(all[k], r[k]...)
		}
	}
	return all
}

// step does a round without a shuffler, whose order matters to no sum but in its last bits.
func step(t testing.TB, silos []*Silo, s *Server) Broadcast {
	t.Helper()
	b := s.Broadcast()
	q := must.Get(s.Receive(t.Context(), gather(t, silos, b)))(t)
	reply := must.Get(s.Step(t.Context(), q))(t)
	if err := s.Accept(q, reply); err != nil {
		t.Fatal(err)
	}
	return b
}

// Acceptance test 11: the noise of one round of 16512 records without a gradient, by the
// specification 0.34638·C at ε₀ = 0.580329. The squared norm of a mean has 101 degrees of freedom,
// so the root mean square of k rounds has a relative deviation of 0.0704/√k: 0.5 % for 200.
func TestNoiseOfARound(t *testing.T) {
	const d = 101
	n, rounds, tolerance := 2064, 100, 0.03
	if long() {
		n, rounds, tolerance = 16512, 200, 0.02
	}
	c := PSGM{Setting: Setting{Loss: loss.MeanEstimation{}, Silos: []int{n}, Rounds: 1, StepSize: 1,
		GradientClip: 2.5, Target: target}, Momentum: 1, Epsilon: 0.580329, Account: Unshuffled}
	p := must.Get(c.New(n, d))(t)
	zeros := must.Get(data.NewRecords(n, d, make([]float64, n*d), nil))(t)
	server := p.NewServer(seeded(1))
	square := 0.0
	for k := range rounds {
		silo := must.Get(p.NewSilo(0, zeros, seeded(uint64(k))))(t)
		q := must.Get(server.Receive(t.Context(),
			must.Get(silo.Report(t.Context(), server.Broadcast()))(t)))(t)
		v := vec.Norm(q.Direction)
		square += v * v / float64(rounds)
	}
	want := 0.34638 * math.Sqrt(16512/float64(n))
	must.Near(t, "root mean square norm over C", math.Sqrt(square)/2.5, want, tolerance)
	must.Near(t, "the stated deviation", p.deviation(gradients, 2.5, n)*math.Sqrt(d)/2.5, want, 1e-4)
}

// The mean of the reports is the mean of the clipped vectors, in both streams and for every kind of
// report: with 60 rounds of 4096 reports of ε₀ = 8, or 20 of 1024, each coordinate is within 5 of
// its deviations, and so is the squared norm of the error, whose deviation must be what the plan
// states.
func TestReportsAreUnbiased(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersChangeNothing")
	reportsAreUnbiased(t, "", 4096, 60)
	for _, kind := range []Randomizer{"privunit:3", "privunit:2:8", "rand-k:30"} {
		t.Run(string(kind), func(t *testing.T) { reportsAreUnbiased(t, kind, 1024, 20) })
	}
}

func reportsAreUnbiased(t *testing.T, kind Randomizer, n, repeats int) {
	p, silos, server := sending(t, n, func(c *PSGM) {
		c.Epsilon, c.Momentum, c.Randomizer, c.Account = 8, 0.5, kind, Unshuffled
	})
	step(t, silos, server)
	b := server.Broadcast()
	norms := p.sent(b)
	exact := &run{p: &p.Noiseless().plan, server: server, silos: silos, z: make([]float64, p.d),
		noise: seeded(1).Normals()}
	if err := exact.means(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	want := [2][]float64{slices.Clone(server.sums[0]), slices.Clone(server.sums[1])}
	var mean [2][]float64
	var square [2]float64
	for k := range mean {
		mean[k] = make([]float64, p.d)
	}
	for i := range repeats {
		for m := range silos {
			silos[m].coins = seeded(uint64(1000*i + m))
		}
		if _, err := server.Receive(t.Context(), gather(t, silos, b)); err != nil {
			t.Fatal(err)
		}
		for k := range mean {
			for j, v := range server.sums[k] {
				mean[k][j] += v / float64(repeats)
				square[k] += (v - want[k][j]) * (v - want[k][j]) / float64(repeats)
			}
		}
	}
	for k, norm := range norms {
		sd := p.deviation(gradients, norm, n)
		for j, v := range mean[k] {
			if math.Abs(v-want[k][j]) > 5*sd/math.Sqrt(float64(repeats)) {
				t.Errorf("stream %d, coordinate %d: %g, want %g ± %g", k, j, v, want[k][j],
					sd/math.Sqrt(float64(repeats)))
			}
		}
		// The deviation of this ratio is √(2/(d·repeats)), more where few coordinates are sent; up to
		// 0.01 is the vectors' own length.
		limit := 0.01 + 5*math.Sqrt(2/float64(p.d*repeats))
		if ratio := square[k] / (sd * sd * float64(p.d)); math.Abs(ratio-1) > limit {
			t.Errorf("stream %d: squared error %.4f times what is stated", k, ratio)
		}
	}
	if vec.Norm(want[differences]) == 0 || vec.Norm(want[gradients]) == 0 {
		t.Error("nothing to be biased")
	}
}

// The mean of reports in several blocks is that of the reports one after the other, whatever the
// blocks: of two full ones and one of a report.
func TestBlocksAddUp(t *testing.T) {
	const n, d = 2*BlockSize + 1, 3
	c := PSGM{Setting: Setting{Loss: loss.MeanEstimation{}, Silos: []int{n}, Rounds: 1, StepSize: 1,
		GradientClip: 2, Target: target}, Momentum: 1, Epsilon: 1, Account: Unshuffled}
	p := must.Get(c.New(n, d))(t)
	silo := must.Get(p.NewSilo(0, must.Get(data.NewRecords(n, d, make([]float64, n*d), nil))(t),
		seeded(1)))(t)
	server := p.NewServer(seeded(1))
	reports := must.Get(silo.Report(t.Context(), server.Broadcast()))(t)
	got := must.Get(server.Receive(t.Context(), reports))(t).Direction
	want := make([]float64, d)
	for m := range slices.Chunk(reports[gradients], p.Randomizer().Size()) {
		if err := p.Randomizer().Add(want, m, 2); err != nil {
			t.Fatal(err)
		}
	}
	for j := range want {
		must.Near(t, "mean", got[j], want[j]/n, 1e-9)
	}
}

// A block's sum is that of its reports one after the other, and the server's mean takes it in their place.
// A block has whole messages, no more than its size, and the answer to a broadcast that there is.
func TestBlockSum(t *testing.T) {
	p, silos, server := sending(t, 64, nil)
	b := server.Broadcast()
	reports := gather(t, silos, b)[gradients]
	size := p.Randomizer().Size()
	want := make([]float64, p.d)
	for m := range slices.Chunk(reports, size) {
		if err := p.Randomizer().Add(want, m, p.GradientClip); err != nil {
			t.Fatal(err)
		}
	}
	got := must.Get(p.BlockSum(t.Context(), b, gradients, reports))(t)
	for j := range want {
		must.Near(t, "sum", got[j], want[j], 1e-12)
	}
	for name, messages := range map[string][]byte{"half a report": reports[:len(reports)-1],
		"a byte more":             append(slices.Clone(reports), 0),
		"one report more":         slices.Repeat(reports[:size], BlockSize+1),
		"half a report too many":  slices.Repeat(reports[:size], BlockSize+1)[:BlockSize*size+1],
		"no report among reports": append(slices.Clone(reports), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}...)} {
		if _, err := p.BlockSum(t.Context(), b, gradients, messages); err == nil {
			t.Errorf("%s: summed", name)
		}
	}
	if _, err := p.BlockSum(t.Context(), Broadcast{Round: 1, Model: b.Model}, gradients, reports); err == nil {
		t.Error("reports to a broadcast without a previous model: summed")
	}
	full := slices.Repeat(reports[:size], BlockSize)
	if _, err := p.BlockSum(t.Context(), b, gradients, full); err != nil {
		t.Errorf("a full block: %v", err)
	}
}

// A mean that was stopped is an error: what was summed before is none.
func TestStoppedMean(t *testing.T) {
	p, silos, server := sending(t, 64, nil)
	e := &run{p: &must.Get(p.Rehearsal())(t).plan, server: server, silos: silos, z: make([]float64, p.d),
		noise: seeded(1).Normals()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.means(ctx, server.Broadcast()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Every vector that is reported is within its public bound, which server and silo work out from the
// same numbers.
func TestVectorsAreClipped(t *testing.T) {
	p, silos, server := sending(t, 64, nil)
	step(t, silos, server)
	b := server.Broadcast()
	norms := p.sent(b)
	if want := p.DifferenceClip * distance(b.Model, b.Previous); norms[differences] != want ||
		norms[gradients] != 0.3 {
		t.Errorf("bounds %v, want %v and 0.3", norms, want)
	}
	// A wide record, whose gradient is far beyond the bound.
	row := []float64{1e6, -1e6, 1e6, 1e6, 1e6, -1e6, 1e6, 1e6}
	r := must.Get(data.NewRecords(1, 8, row, []float64{-1e6}))(t)
	c := newContribution(p.d)
	c.of(&p.plan, r, 0, b, norms)
	for k, norm := range norms {
		if got := vec.Norm(c.vectors[k]); got > norm*(1+1e-12) || got < norm*(1-1e-9) {
			t.Errorf("stream %d: a long vector of norm %g, bound %g", k, got, norm)
		}
	}
}

// The second half of acceptance test 18: the noise of one local step has the deviation C_3·‖Δw‖·σ.
func TestNoiseOfALocalStep(t *testing.T) {
	const d, sigma, clip = 2000, 0.7, 3.0
	c := PSGM{Setting: Setting{Loss: loss.MeanEstimation{}, Silos: []int{4}, Rounds: 1, StepSize: 0.5,
		GradientClip: 1, Target: target, Local: Local{Steps: 3, Batch: 2, Clip: clip, NoNoise: true}},
		Momentum: 1, Epsilon: 1, Account: Unshuffled}
	p := must.Get(c.New(4, d))(t)
	zeros := must.Get(data.NewRecords(4, d, make([]float64, 4*d), nil))(t)
	direction := make([]float64, d)
	direction[0] = 1
	q := Request{Model: make([]float64, d), Direction: direction, Keep: 2}
	quiet := must.Get(must.Get(p.NewSilo(0, zeros, seeded(1)))(t).Local(t.Context(), q))(t)
	noisy := *p
	noisy.sigma = sigma
	loud := must.Get(must.Get(noisy.NewSilo(0, zeros, seeded(1)))(t).Local(t.Context(), q))(t)
	// Kept is the model after two steps, of which the second has the first noise; the first moved by
	// η·1 = 0.5.
	square := 0.0
	for j := range d {
		e := (loud.Kept[j] - quiet.Kept[j]) / 0.5
		square += e * e / d
	}
	// deviation 1/√4000 = 1.6 %
	must.Near(t, "deviation of the noise", math.Sqrt(square), clip*0.5*sigma, 0.05)
	total, rounds := 0.0, 40
	for k := range rounds {
		own := must.Get(must.Get(noisy.NewSilo(0, zeros, seeded(uint64(10+k))))(t).Local(t.Context(),
			q))(t)
		for j := range d {
			e := (own.Kept[j] - quiet.Kept[j]) / 0.5
			total += e * e / (d * float64(rounds))
		}
	}
	must.Near(t, "deviation of the noise", math.Sqrt(total), clip*0.5*sigma, 0.02) // 0.25 %
}

// Acceptance test 21: the same trajectory with any number of workers, through files of reports or
// not.
func TestWorkersChangeNothing(t *testing.T) {
	const n = 1000
	records := noisyRecords(t, n, 8)
	change := func(workers int) func(*PSGM) {
		return func(c *PSGM) {
			c.Workers, c.FirstBatch, c.Batch = workers, []int{200}, []int{150}
			c.Local = Local{Steps: 4, Batch: 20, Clip: 1, NoNoise: true}
		}
	}
	want, _ := trace(t, networkPlan(t, n, 6, change(1)), records, 3)
	for _, workers := range []int{2, 3, 8} {
		got, _ := trace(t, networkPlan(t, n, 6, change(workers)), records, 3)
		for r := range want {
			if !slices.Equal(got[r], want[r]) {
				t.Fatalf("%d workers: another model after round %d", workers, r+1)
			}
		}
	}
	other, _ := trace(t, networkPlan(t, n, 6, change(1)), records, 4)
	if slices.Equal(other[5], want[5]) {
		t.Error("another seed gives the same model")
	}
	central := func(workers int) *Plan {
		c := Central{Setting: Setting{Loss: must.Get(loss.NewNetwork(10))(t), Silos: []int{n}, Rounds: 6,
			StepSize: 0.5, GradientClip: 0.3, DifferenceClip: 1, Target: target, Workers: workers},
			Period: 3}
		return must.Get(c.New(n, 8))(t)
	}
	a, _ := trace(t, central(1), records, 3)
	b, _ := trace(t, central(5), records, 3)
	if !slices.Equal(a[5], b[5]) {
		t.Error("the trusted server's model depends on the workers")
	}
}

// The simulation drives the roles: servers and silos with the same coins, joined by nothing but
// their messages, end at the same model.
func TestSimulationIsTheRoles(t *testing.T) {
	const n = 400
	p := networkPlan(t, n, 5, func(c *PSGM) {
		c.Local = Local{Steps: 3, Batch: 10, Clip: 1, NoNoise: true}
		c.Output = Uniform
	})
	records := noisyRecords(t, n, 8)
	run := must.Get(p.Train(records))(t).Start(seeded(9))
	server := p.NewServer(seeded(9))
	var silos []*Silo
	for m, size := range p.Silos {
		rows := make([]int, size)
		for i := range rows {
			rows[i] = p.first[m] + i
		}
		silos = append(silos, must.Get(p.NewSilo(m, must.Get(records.Select(rows))(t), seeded(9)))(t))
	}
	for k := range p.Rounds {
		if err := run.Round(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		b := server.Broadcast()
		shuffler := must.Get(p.NewShuffler(b))(t)
		for _, s := range silos {
			for stream, messages := range must.Get(s.Report(t.Context(), b))(t) {
				for i := 0; i < len(messages); i += 9 {
					if err := shuffler.Accept(gradients, nil); err == nil {
						t.Fatal("an empty message is accepted")
					}
					to := gradients
					if stream == int(differences) {
						to = differences
					}
					if err := shuffler.Accept(to, messages[i:i+9]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		var r Reports
		var err error
		if r[gradients], r[differences], err = shuffler.Release(); err != nil {
			t.Fatal(err)
		}
		q := must.Get(server.Receive(t.Context(), r))(t)
		reply := must.Get(silos[q.Silo].Local(t.Context(), q))(t)
		if err := server.Accept(q, reply); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(server.Model(), run.Output()) {
			t.Fatalf("round %d: the roles end elsewhere", k)
		}
	}
	// A server that is set up from its state goes on as if it had not stopped.
	again := p.NewServer(seeded(9))
	for i, v := range again.State() {
		copy(v.Values, server.State()[i].Values)
	}
	if again.Round() != p.Rounds || !slices.Equal(again.Model(), server.Model()) {
		t.Error("the state is not all")
	}
	if _, err := again.Receive(t.Context(), Reports{}); err == nil {
		t.Error("a round beyond the last is accepted")
	}
}

// A silo that is asked again answers the same; to another question of the same round it answers
// with coins of its own, in seeds and in bits.
func TestAnswersRepeat(t *testing.T) {
	_, silos, server := sending(t, 64, nil)
	b := step(t, silos, server)
	_ = b
	b = server.Broadcast()
	silos[1].coins = silos[0].coins // as in one process, where all have one key
	first := must.Get(silos[0].Report(t.Context(), b))(t)
	if again := must.Get(silos[0].Report(t.Context(), b))(t); !bytes.Equal(first[0], again[0]) ||
		!bytes.Equal(first[1], again[1]) {
		t.Error("the same question has another answer")
	}
	other := b
	other.Model = slices.Clone(b.Model)
	other.Model[3] = math.Nextafter(other.Model[3], 2)
	seeds := map[string]bool{}
	for _, r := range []Reports{first, must.Get(silos[0].Report(t.Context(), other))(t),
		must.Get(silos[1].Report(t.Context(), b))(t)} {
		for _, messages := range r {
			for i := 0; i < len(messages); i += 9 {
				if seed := string(messages[i : i+8]); seeds[seed] {
					t.Fatal("a seed is used twice")
				} else {
					seeds[seed] = true
				}
			}
		}
	}
	if len(seeds) != 3*2*16 {
		t.Errorf("%d seeds", len(seeds))
	}
	// And so in the local phase.
	_, silos, server = sending(t, 64, func(c *PSGM) {
		c.Local = Local{Steps: 3, Batch: 4, Clip: 1, NoNoise: true}
	})
	silos[0].plan.sigma = 1
	q := must.Get(server.Receive(t.Context(), gather(t, silos, server.Broadcast())))(t)
	one, two := must.Get(silos[0].Local(t.Context(), q))(t),
		must.Get(silos[0].Local(t.Context(), q))(t)
	if !slices.Equal(one.Model, two.Model) {
		t.Error("the same request has another reply")
	}
	q.Direction = slices.Clone(q.Direction)
	q.Direction[0] *= 1 + 1e-15
	if three := must.Get(silos[0].Local(t.Context(), q))(t); vec.Norm(difference(one.Model,
		three.Model)) < 1e-6 {
		t.Error("another request has the same noise")
	}
}

func difference(a, b []float64) []float64 {
	d := slices.Clone(a)
	for j := range d {
		d[j] -= b[j]
	}
	return d
}

// A round takes a batch without replacement, another one in each round and silo, and one that no
// record decides.
func TestBatches(t *testing.T) {
	count := make([]int, 6)
	for round := range 6000 {
		rng := seeded(3).Stream("batch", round)
		s := sample(rng, 6, 3)
		slices.Sort(s)
		if len(slices.Compact(slices.Clone(s))) != 3 {
			t.Fatalf("a batch with a record twice: %v", s)
		}
		for _, i := range s {
			count[i]++
		}
	}
	for i, c := range count {
		if math.Abs(float64(c)-3000) > 5*math.Sqrt(1500) { // 5 deviations
			t.Errorf("record %d is in %d of 6000 batches", i, c)
		}
	}
	_, silos, _ := sending(t, 400, func(c *PSGM) { c.FirstBatch, c.Batch = []int{30}, []int{20} })
	if a, b := silos[0].batch(0, "q"), silos[0].batch(1, "q"); len(a) != 30 || len(b) != 20 ||
		slices.Equal(a[:20], b) {
		t.Errorf("batches of %d and %d", len(a), len(b))
	}
	silos[1].coins = silos[0].coins
	if slices.Equal(silos[0].batch(1, "q"), silos[0].batch(2, "q")) ||
		slices.Equal(silos[0].batch(1, "q"), silos[1].batch(1, "q")) {
		t.Error("two rounds, or two silos, take the same batch")
	}
}

// Rounds that are not what the price is for.
func TestRefusedRounds(t *testing.T) {
	p, silos, server := sending(t, 64, func(c *PSGM) { c.Missing = 16 })
	b := server.Broadcast()
	all := gather(t, silos, b)
	if _, err := server.Receive(t.Context(), Reports{all[0][:9*47], nil}); err == nil {
		t.Error("too few reports are accepted")
	} else if few := (*TooFewError)(nil); !errors.As(err, &few) || few.Reports != 47 ||
		few.Least != 48 {
		t.Errorf("%v", err)
	}
	// as few as the price is for
	few := must.Get(server.Receive(t.Context(), Reports{all[0][:9*48], nil}))(t)
	mean := make([]float64, p.d)
	for i := range 48 { // over those that came
		if err := p.randomizer.Add(mean, all[0][9*i:9*i+9], p.GradientClip); err != nil {
			t.Fatal(err)
		}
	}
	for j, v := range mean {
		if math.Abs(few.Direction[j]-v/48) > 1e-12 {
			t.Fatalf("the mean of 48 reports is off: %g, want %g", few.Direction[j], v/48)
		}
	}
	for name, r := range map[string]Reports{
		"a report twice":         {append(slices.Clone(all[0]), all[0][:9]...)},
		"half a report":          {all[0][:9*50+4]},
		"no bit":                 {slices.Concat(all[0][:9*63], []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})},
		"differences in round 0": {all[0], all[0]},
	} {
		if _, err := server.Receive(t.Context(), r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	step(t, silos, server)
	second := gather(t, silos, server.Broadcast())
	if _, err := server.Receive(t.Context(), Reports{second[0], second[1][:9*60]}); err == nil {
		t.Error("streams of different lengths are accepted")
	}
	if _, err := silos[0].Report(t.Context(), Broadcast{Round: 9, Model: b.Model,
		Previous: b.Model}); err == nil {
		t.Error("a silo answers a round beyond the last")
	}
	for name, bad := range map[string]Broadcast{
		"short": {Model: b.Model[1:]}, "previous in round 0": {Model: b.Model, Previous: b.Model},
		"no previous": {Round: 1, Model: b.Model},
		"infinite":    {Model: append([]float64{math.Inf(1)}, b.Model[1:]...)},
	} {
		if _, err := silos[0].Report(t.Context(), bad); err == nil {
			t.Errorf("%s: a silo answers", name)
		}
		if _, err := p.NewShuffler(bad); err == nil {
			t.Errorf("%s: there is a shuffler", name)
		}
	}
	q := must.Get(server.Receive(t.Context(), second))(t)
	for name, r := range map[string]Reply{"short": {Round: 1, Model: b.Model[1:]},
		"another round": {Round: 2, Model: b.Model},
		"not finite":    {Round: 1, Model: append([]float64{math.NaN()}, b.Model[1:]...)}} {
		if err := server.Accept(q, r); err == nil {
			t.Errorf("%s: a reply is accepted", name)
		}
	}
	if server.Round() != 1 {
		t.Errorf("%d rounds done", server.Round())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := silos[0].Report(ctx, server.Broadcast()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A model that does not move sends no differences: there is nothing to send, and nothing is.
func TestStalledModel(t *testing.T) {
	_, silos, server := sending(t, 64, nil)
	step(t, silos, server)
	copy(server.previous, server.x)
	b := server.Broadcast()
	r := gather(t, silos, b)
	if len(r[differences]) != 0 || len(r[gradients]) != 9*64 {
		t.Errorf("%d and %d bytes", len(r[differences]), len(r[gradients]))
	}
	if _, err := server.Receive(t.Context(), r); err != nil {
		t.Error(err)
	}
}

// What Uniform returns: every iterate as often.
func TestReservoir(t *testing.T) {
	p := toyPlan(t, 3, 4, false)
	count := make([]int, 12)
	const runs = 6000
	for seed := range runs {
		s := newServer(&p.plan, seeded(uint64(seed)))
		kept := -1
		for r := range 4 {
			if k := s.reservoir(r); k >= 0 {
				kept = 3*r + k
			}
		}
		count[kept]++
	}
	for i, c := range count { // deviation √(500·11/12)
		if math.Abs(float64(c)-500) > 5*21.5 {
			t.Errorf("iterate %d is kept %d times of %d", i, c, runs)
		}
	}
}

// What has no price is not released.
func TestNoPriceNoRelease(t *testing.T) {
	p := networkPlan(t, 64, 3, nil)
	records := noisyRecords(t, 64, 8)
	if _, err := train.NewRelease(must.Get(p.Train(records))(t)); err != nil {
		t.Errorf("a priced plan: %v", err)
	}
	for _, q := range []*Plan{p.Noiseless(), must.Get(p.Rehearsal())(t),
		networkPlan(t, 64, 3, func(c *PSGM) {
			c.Local = Local{Steps: 2, Batch: 4, Clip: 1, NoNoise: true}
		})} {
		a := must.Get(q.Train(records))(t)
		if _, err := train.NewRelease(a); err == nil || q.Price().Event != nil ||
			!math.IsInf(a.Cost.Epsilon, 1) {
			t.Errorf("%s is released: %v, %v", q.Price().Method, q.Price().Cost, err)
		}
		if _, err := q.NewSilo(0, must.Get(records.Head(16))(t), seeded(1)); q.kind != shuffled &&
			err == nil {
			t.Errorf("%s has silos", q.Price().Method)
		}
	}
}

// A run that is continued from a checkpoint of any round is the same run.
func TestResume(t *testing.T) {
	p := networkPlan(t, 200, 6, func(c *PSGM) { c.Batch, c.Output = []int{20}, Uniform })
	a := must.Get(p.Train(noisyRecords(t, 200, 8)))(t)
	want := must.Get(train.Simulate(a, 5).Run(t.Context(), nil))(t)
	traintest.Resumes(t, "PSGM", a, 5, want)
	other := must.Get(networkPlan(t, 200, 6, func(c *PSGM) {
		c.Batch, c.Momentum = []int{20}, 0.2
	}).Train(noisyRecords(t, 200, 8)))(t)
	if _, err := train.ResumeSimulation(other, train.Simulate(a, 5).Checkpoint()); !errors.Is(err,
		train.ErrCheckpoint) {
		t.Errorf("another method's checkpoint: %v", err)
	}
}

// Two runs that begin at the same start ask the same in round 0. With one secret key a silo still
// answers them with coins of their own, and so where its records changed: two reports with the same
// seed, of which one is turned at an ε₀ and the other at another, would tell the true sign.
func TestCoinsAreThePlansAndTheRecords(t *testing.T) {
	key := stream.Restore([32]byte{1, 2, 3}, true)
	p := networkPlan(t, 64, 3, nil)
	records, other := must.Get(noisyRecords(t, 64, 8).Head(16))(t),
		must.Get(noisyRecords(t, 65, 8).Head(16))(t)
	b := p.NewServer(seeded(1)).Broadcast()
	seeds := func(p *Plan, number int, r *data.Records) []byte {
		return must.Get(must.Get(p.NewSilo(number, r, key))(t).Report(t.Context(), b))(t)[gradients][:8]
	}
	first := seeds(p, 0, records)
	if !bytes.Equal(first, seeds(p, 0, records)) {
		t.Error("the same silo has other coins")
	}
	changed := make([]float64, 16*8)
	for i := range 16 {
		copy(changed[8*i:], records.Row(i))
	}
	y := make([]float64, 16)
	for i := range y {
		y[i] = records.Response(i)
	}
	y[15]++ // a neighbour
	neighbour := must.Get(data.NewRecords(16, 8, changed, y))(t)
	for name, again := range map[string][]byte{
		"another eps0":  seeds(networkPlan(t, 64, 3, func(c *PSGM) { c.Epsilon = 0.3 }), 0, records),
		"another clip":  seeds(networkPlan(t, 64, 3, func(c *PSGM) { c.GradientClip = 0.2 }), 0, records),
		"a neighbour":   seeds(p, 0, neighbour),
		"other records": seeds(p, 0, other),
		"another silo":  seeds(p, 1, records),
		"other batches": seeds(networkPlan(t, 64, 3, func(c *PSGM) { c.Batch = []int{8} }), 0, records),
	} {
		if bytes.Equal(first, again) {
			t.Errorf("%s: the same coins", name)
		}
	}
}

// Models so close that squares underflow are the same model to all: no silo refuses by what its
// records are, and no clipped difference is longer than its bound.
func TestCloseModels(t *testing.T) {
	const d = 3
	p := must.Get(PSGM{Setting: Setting{Loss: loss.MeanEstimation{}, Silos: []int{2}, Rounds: 2,
		StepSize: 0.5, GradientClip: 0.3, DifferenceClip: 0.5, Target: target}, Momentum: 0.5, Epsilon: 1,
		Account: Unshuffled}.New(2, d))(t)
	silo := must.Get(p.NewSilo(0, must.Get(data.NewRecords(2, d, make([]float64, 2*d), nil))(t),
		seeded(1)))(t)
	sent := 0
	for k := range 3600 {
		scale := math.Pow(10, -float64(k)/10)
		b := Broadcast{Round: 1, Model: []float64{scale, 0.3 * scale, 0.7 * scale},
			Previous: make([]float64, d)}
		r, err := silo.Report(t.Context(), b)
		if err != nil {
			t.Fatalf("at a distance of %g: %v", scale, err)
		}
		if len(r[differences]) > 0 {
			sent = k
		}
	}
	if sent < 1190 || sent > 1200 {
		t.Errorf("differences are sent down to 1e-%d", sent/10)
	}
}

// Plans whose silos send no reports have no silos, no shuffler and no server of reports.
func TestRolesNeedReports(t *testing.T) {
	p := networkPlan(t, 64, 3, nil)
	c := must.Get(Central{Setting: Setting{Loss: must.Get(loss.NewNetwork(10))(t), Silos: []int{64},
		Rounds: 3, StepSize: 0.5, GradientClip: 0.3, Target: target}}.New(64, 8))(t)
	for _, q := range []*Plan{c, p.Noiseless(), must.Get(p.Rehearsal())(t)} {
		s := q.NewServer(seeded(1))
		if _, err := q.NewShuffler(s.Broadcast()); err == nil {
			t.Errorf("%s has a shuffler", q.Price().Method)
		}
		if _, err := s.Receive(t.Context(), Reports{make([]byte, 9*64)}); err == nil {
			t.Errorf("%s takes reports", q.Price().Method)
		}
	}
}

// The plan's shuffler releases nothing below the number that the price is for.
func TestShufflerWaitsForThePrice(t *testing.T) {
	p, silos, server := sending(t, 64, func(c *PSGM) { c.Missing, c.Colluding = 16, 20 })
	b := server.Broadcast()
	all := gather(t, silos, b)[gradients]
	s := must.Get(p.NewShuffler(b))(t)
	for i := range 48 {
		if _, _, err := s.Release(); !errors.Is(err, randomiser.ErrPartialRound) {
			t.Fatalf("%d reports: %v", i, err)
		}
		if err := s.Accept(gradients, all[9*i:9*i+9]); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, err := s.Release(); err != nil || len(out) != 9*48 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// A record pays for its own silo's turns: no other silo does the local phase of a round, whatever
// the request says. Noise and batch of each turn are its own.
func TestLocalPhaseIsTheSelectedSilos(t *testing.T) {
	_, silos, _ := sending(t, 64, func(c *PSGM) {
		c.Rounds = 9
		c.Local = Local{Steps: 7, Batch: 1, Clip: 10, NoNoise: true}
	})
	p := silos[0].plan
	direction := make([]float64, p.d)
	for j := range direction {
		direction[j] = 1
	}
	ask := func(round, silo int) Request {
		return Request{Round: round, Silo: silo, Model: p.start, Direction: direction, Keep: -1}
	}
	for _, v := range []struct {
		asked, round, silo int
		want               bool
	}{{0, 0, 0, true}, {1, 0, 1, false}, {1, 0, 0, false}, {0, 0, 1, false}, {0, 1, 0, false},
		{1, 1, 1, true}, {1, 5, 1, true}, {0, 9, 1, false}, {0, -4, 0, false}} {
		if _, err := silos[v.asked].Local(t.Context(), ask(v.round, v.silo)); (err == nil) != v.want {
			t.Errorf("silo %d, round %d, request of %d: %v", v.asked, v.round, v.silo, err)
		}
	}
	// Six batches of one of 16 records: the same in both turns once in 10⁷.
	first, second := must.Get(silos[0].Local(t.Context(), ask(0, 0)))(t),
		must.Get(silos[0].Local(t.Context(), ask(4, 0)))(t)
	if slices.Equal(first.Model, second.Model) {
		t.Error("two turns take the same batches")
	}
	// Where all records are alike, only noise is left to differ.
	alike := make([]float64, 16*8)
	silos[0].records = must.Get(data.NewRecords(16, 8, alike, make([]float64, 16)))(t)
	p.sigma = 1
	noise := func(q Request) []float64 {
		p.sigma = 0
		quiet := must.Get(silos[0].Local(t.Context(), q))(t)
		p.sigma = 1
		return difference(must.Get(silos[0].Local(t.Context(), q))(t).Model, quiet.Model)
	}
	one := noise(ask(0, 0))
	other := ask(0, 0)
	other.Direction = slices.Clone(direction)
	other.Direction[0] = math.Nextafter(1, 2)
	for name, q := range map[string]Request{"another turn": ask(4, 0),
		"another direction in the same round": other} {
		if same := vec.Norm(difference(one, noise(q))); !(same > 0.1*vec.Norm(one)) {
			t.Errorf("%s: the noise differs by %g of %g", name, same, vec.Norm(one))
		}
	}
}

func TestDigestsStay(t *testing.T) {
	raced.Sequential(t)
	records := noisyRecords(t, 80, 8)
	got := map[string]train.Algorithm{}
	for name, change := range map[string]func(*PSGM){
		"one-bit":    nil,
		"floats":     func(c *PSGM) { c.Randomizer = Floats },
		"privunit":   func(c *PSGM) { c.Randomizer = PrivUnit },
		"privunit:4": func(c *PSGM) { c.Randomizer = "privunit:4" },
		"rand-k:3":   func(c *PSGM) { c.Randomizer = "rand-k:3" },
		"batches":    func(c *PSGM) { c.FirstBatch, c.Batch, c.Missing, c.Colluding = []int{9}, []int{5}, 2, 1 },
		"local steps": func(c *PSGM) {
			c.Local, c.Output = Local{Steps: 3, Batch: 4, Clip: 1, Noise: 20}, Uniform
		},
	} {
		p := networkPlan(t, 80, 3, change)
		got[name] = traintest.Trained(t, p.Plan(), records)
		if name == "one-bit" {
			got["rehearsal"] = traintest.Trained(t, must.Get(p.Rehearsal())(t).Plan(), records)
			got["noiseless"] = traintest.Trained(t, p.Noiseless().Plan(), records)
		}
	}
	s := networkPlan(t, 80, 3, nil).Setting
	s.DifferenceClip = 0
	got["central"] = traintest.Trained(t, must.Get(Central{Setting: s}.Plan(80, 8))(t), records)
	s.DifferenceClip = 1
	got["central, period 2"] = traintest.Trained(t,
		must.Get(Central{Setting: s, Period: 2}.Plan(80, 8))(t), records)
	traintest.Digests(t, got, map[string]string{
		"batches":           "6d9631df41a358ae",
		"central":           "19db2ba6bf867e48",
		"central, period 2": "58b08dc134edb860",
		"floats":            "3c209e4279365808",
		"local steps":       "c5199d7be48dae46",
		"noiseless":         "cb01fac5f93fbc88",
		"one-bit":           "0260684130321921",
		"privunit":          "5cddf48e12aae1fc",
		"privunit:4":        "7efde7fcdfaf6ab6",
		"rand-k:3":          "410348a5714096c9",
		"rehearsal":         "0b037faa588bd115",
	})
}
