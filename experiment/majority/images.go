package majority

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/data"
)

// imageParameters: teachers trained on disjoint parts of a set of images answer queries
// through private mechanisms.
type imageParameters struct {
	solve Solver

	// folder of IDX files, below Options.Data
	Data string `json:"data"`
	// labels of the images for the answers 0 and 1
	Classes       [2]int   `json:"classes"`
	TrainPerClass int      `json:"train_per_class,omitempty"` // use so many of each; 0 is all
	Teachers      int      `json:"teachers"`
	Pool          int      `json:"pool"` // pixels are averaged in squares of this side
	TeacherDelta  float64  `json:"teacher_delta"`
	Private       training `json:"private"`
	Plain         training `json:"plain"` // the teachers of GNMax: no noise, no clipping
	Allowances    []int    `json:"allowances"`
	Queries       []int    `json:"queries"`
	Draws         int      `json:"draws"` // random choices of the queries
	Slack         float64  `json:"slack"` // δ' of the totals
	// Ordered are the allowances for which γ_opt ≥ γ_Sub > GNMax is claimed, and tested.
	Ordered []int             `json:"ordered,omitempty"`
	Printed []printedAccuracy `json:"printed,omitempty"`
	// Within is by how much accuracies may differ from the printed ones, by m. It is claimed
	// and tested.
	Within []tolerance `json:"within,omitempty"`
}

// tolerance is the largest difference from the source's accuracies at one m.
type tolerance struct {
	Allowance int     `json:"m"`
	Accuracy  float64 `json:"accuracy"`
}

// printedAccuracy holds the source's figures for one m and Q: mean and standard deviation.
type printedAccuracy struct {
	Table     string     `json:"table"`
	Allowance int        `json:"m"`
	Queries   int        `json:"queries"`
	GNMax     [2]float64 `json:"gnmax"`
	Sub       [2]float64 `json:"sub"`
	Opt       [2]float64 `json:"opt"`
}

// printedMethods are the methods of the source's tables, in their order.
var printedMethods = []experiment.Method{methodGNMax, methodSub, methodOpt}

// of returns the printed accuracy of a method as text, nil if there is none.
func (p printedAccuracy) of(m experiment.Method) any {
	i := slices.Index(printedMethods, m)
	if i < 0 {
		return nil
	}
	v := p.values()[i]
	return fmt.Sprintf("%.2f (%.2f)", v[0], v[1])
}

// values returns mean and standard deviation of each of printedMethods.
func (p printedAccuracy) values() [][2]float64 { return [][2]float64{p.GNMax, p.Sub, p.Opt} }

func (p *imageParameters) Validate() error {
	class := check.WholeIn(0, 255)
	// whole numbers: γ_Sub asks so many
	allowance := check.WholeIn(1, p.Teachers)
	err := cmp.Or(
		datasets.CheckFolder(p.Data),
		check.Each("classes", p.Classes[:], class),
		check.OddTeachers(p.Teachers),
		check.Whole("train_per_class", p.TrainPerClass, 0, 0),
		check.Whole("pool", p.Pool, 1, 64),
		check.Open("teacher delta", p.TeacherDelta, 0, 1), // normal noise has no pure guarantee
		p.Private.validate("private"),
		p.Plain.validate("plain"),
		check.Some("allowances and queries", len(p.Allowances), len(p.Queries)),
		check.Each("allowances", p.Allowances, allowance),
		check.Each("queries", p.Queries, check.WholeIn(1, 0)),
		check.Whole("draws", p.Draws, 2, 1000),
		check.Open("slack", p.Slack, 0, 1),
	)
	switch {
	case err != nil:
		return err
	case p.Private.NoiseMultiplier == 0 || p.Private.Clip == 0:
		return check.Want("private", "no noise or no clip", "both above 0")
	case p.Plain.NoiseMultiplier != 0 || p.Plain.Clip != 0:
		return check.Want("plain", "noise or clip", "without: these teachers are not private")
	}
	var printed []int
	for _, c := range p.Printed {
		printed = append(printed, c.Allowance)
	}
	for _, w := range p.Within {
		if err := cmp.Or(check.Among(p.Allowances)("m of within", w.Allowance),
			check.Among(printed)("m of within", w.Allowance),
			check.Open("accuracy of within", w.Accuracy, 0, 1)); err != nil {
			return err
		}
	}
	return nil
}

// NeedsData returns the folder of IDX files that the experiment reads.
func (p *imageParameters) NeedsData() string { return p.Data }

func (p *imageParameters) Steps() int { return 3 + 2*len(p.Allowances) }

// inputs returns the hashes of the files that the experiment reads.
func (p *imageParameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	files, err := datasets.ImageFiles(root, p.Data)
	if err != nil {
		return nil, err
	}
	return experiment.HashFiles(ctx, files, data.MaxBytes)
}

// training is stochastic gradient descent over Poisson samples, private if there is noise.
type training struct {
	// each record comes into each step with this probability
	SamplingRate float64 `json:"sampling_rate"`
	Steps        int     `json:"steps"`
	LearningRate float64 `json:"learning_rate"`
	// C, largest norm of one record's gradient; 0 is none
	Clip            float64 `json:"clip,omitempty"`
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"` // σ: noise of σC in every coordinate
}

func (t training) validate(name string) error {
	optional := func(field string, v float64) error {
		if v == 0 {
			return nil
		}
		return check.UpTo(field, v, 1e6)
	}
	return cmp.Or(
		check.UpTo(name+" sampling_rate", t.SamplingRate, 1),
		check.Whole(name+" steps", t.Steps, 1, 1_000_000),
		check.UpTo(name+" learning_rate", t.LearningRate, 1e6),
		optional(name+" clip", t.Clip),
		optional(name+" noise_multiplier", t.NoiseMultiplier),
	)
}

// cost returns the cost of a teacher with this training: the Poisson-subsampled Gaussian mechanism,
// once for each step, for the addition or removal of one record.
func (t training) cost(delta float64) (accountant.Cost, error) {
	a, err := accountant.New(accountant.AddOrRemoveOne)
	if err != nil {
		return accountant.Cost{}, err
	}
	a, err = a.Charge(accountant.SubsampledGaussian{NoiseMultiplier: t.NoiseMultiplier,
		SamplingRate: t.SamplingRate, Neighbours: accountant.AddOrRemoveOne}, t.Steps)
	if err != nil {
		return accountant.Cost{}, err
	}
	eps, err := a.Epsilon(delta)
	return accountant.Cost{Epsilon: eps, Delta: delta}, err
}

// records are labelled feature vectors, the last feature always 1.
type records struct {
	features [][]float64
	labels   []float64 // 0 or 1
}

// pick keeps the images of the two classes, at most limit of each if that is not 0.
func (p *imageParameters) pick(s data.LabelledImages, limit int) (records, error) {
	if p.Pool > s.Rows || p.Pool > s.Columns {
		return records{}, check.Wantf("pool", p.Pool, "at most the images' side, %d",
			min(s.Rows, s.Columns))
	}
	var out records
	count := [2]int{}
	for i, label := range s.Labels {
		for answer, class := range p.Classes {
			if int(label) != class || limit > 0 && count[answer] == limit {
				continue
			}
			count[answer]++
			out.features = append(out.features, pooled(s.Image(i), s.Rows, s.Columns, p.Pool))
			out.labels = append(out.labels, float64(answer))
		}
	}
	for answer, n := range count {
		if n == 0 {
			return records{}, fmt.Errorf("no image has the label %d", p.Classes[answer])
		}
	}
	return out, nil
}

// pooled averages the pixels of squares, takes the image's own mean off, scales the vector
// to length 1 and appends a 1. It looks at one image only, so it costs no privacy. Fewer
// features mean less noise: its length grows with their number, the gradient's does not.
func pooled(image []byte, rows, columns, side int) []float64 {
	out := datasets.Averaged(image, rows, columns, side)
	mean := 0.0
	for _, v := range out {
		mean += v
	}
	mean /= float64(len(out))
	norm := 0.0
	for i := range out {
		out[i] -= mean
		norm += out[i] * out[i]
	}
	if norm = math.Sqrt(norm); norm > 0 {
		for i := range out {
			out[i] /= norm
		}
	}
	return append(out, 1)
}

// partition gives each teacher an equal part of the records, drawn from the seed; what is
// left over is not used.
func (d records) partition(teachers int, rng *rand.Rand) []records {
	order := rng.Perm(len(d.labels))
	size := len(order) / teachers
	out := make([]records, teachers)
	for t := range out {
		for _, i := range order[t*size : (t+1)*size] {
			out[t].features = append(out[t].features, d.features[i])
			out[t].labels = append(out[t].labels, d.labels[i])
		}
	}
	return out
}

// train returns the weights of a logistic regression, by DP-SGD if there is noise:
//
//	w ← w - η/(qn)·(Σ_{i in sample} clip(∇ℓ_i(w)) + σC·N(0, I)),  ∇ℓ_i = (1/(1+e^{-w·x_i}) - y_i)·x_i
//
// Every record comes into every sample independently with probability q, as the accountant's figure
// assumes. The sum is divided by the expected size qn, not by the sample's own, which would reveal
// it. The noise is normal in floating point and comes from a seed: good for an experiment, not for
// a release.
//
// Source: Abadi et al., Deep Learning with Differential Privacy (2016), Algorithm 1.
func (t training) train(d records, seed, stream uint64) ([]float64, error) {
	src := randsrc.NewSeededStream(seed, stream)
	rng := rand.New(words{src})
	n := len(d.labels)
	// The numerator is rounded down: a smaller rate costs less.
	rate := uint64(t.SamplingRate * float64(randsrc.One53))
	w := make([]float64, len(d.features[0]))
	sum := make([]float64, len(w))
	for range t.Steps {
		clear(sum)
		for i, x := range d.features {
			in, err := randsrc.Bernoulli53(src, rate)
			if err != nil {
				return nil, err
			}
			if !in {
				continue
			}
			slope := 1/(1+math.Exp(-dot(w, x))) - d.labels[i]
			if t.Clip > 0 {
				if norm := math.Abs(slope) * math.Sqrt(dot(x, x)); norm > t.Clip {
					slope *= t.Clip / norm
				}
			}
			for j, v := range x {
				sum[j] += slope * v
			}
		}
		for j := range w {
			if t.NoiseMultiplier > 0 {
				sum[j] += t.NoiseMultiplier * t.Clip * rng.NormFloat64()
			}
			w[j] -= t.LearningRate * sum[j] / (t.SamplingRate * float64(n))
		}
	}
	return w, nil
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// ensembleVotes holds the teachers' votes on the test images.
type ensembleVotes struct {
	Size  int       `json:"size"`  // records that each teacher was trained on
	Votes []string  `json:"votes"` // of each teacher, one character 0 or 1 per image
	Truth string    `json:"truth"`
	Right []float64 `json:"right"` // how often each teacher is right
}

// ones returns the number of votes for 1 on every image.
func (v ensembleVotes) ones() []int {
	out := make([]int, len(v.Truth))
	for _, teacher := range v.Votes {
		for i, c := range []byte(teacher) {
			out[i] += int(c - '0')
		}
	}
	return out
}

// trainTeachers trains the teachers and lets them vote.
func (p *imageParameters) trainTeachers(r *experiment.Run, t training,
	stream uint64) (ensembleVotes, error) {
	dir := filepath.Join(r.Data, p.Data)
	trainSet, testSet, err := datasets.OpenImages(r, dir)
	if err != nil {
		return ensembleVotes{}, err
	}
	training, err := p.pick(trainSet, p.TrainPerClass)
	if err != nil {
		return ensembleVotes{}, fmt.Errorf("%s: %w", dir, err)
	}
	test, err := p.pick(testSet, 0)
	if err != nil {
		return ensembleVotes{}, fmt.Errorf("%s: %w", dir, err)
	}
	if a, b := len(training.features[0]), len(test.features[0]); a != b {
		return ensembleVotes{}, fmt.Errorf("%s: training images have %d features, test images %d", dir, a,
			b)
	}
	parts := training.partition(p.Teachers,
		rand.New(words{randsrc.NewSeededStream(r.Seed, streamPartition)}))
	v := ensembleVotes{Size: len(parts[0].labels), Truth: bits(test.labels)}
	if v.Size == 0 {
		return v, fmt.Errorf("%d training images are too few for %d teachers", len(training.labels),
			p.Teachers)
	}
	for i, part := range parts {
		if err := r.Err(); err != nil {
			return v, err
		}
		w, err := t.train(part, r.Seed, stream+uint64(i))
		if err != nil {
			return v, err
		}
		answers := make([]float64, len(test.labels))
		right := 0
		for j, x := range test.features {
			if dot(w, x) > 0 {
				answers[j] = 1
			}
			if answers[j] == test.labels[j] {
				right++
			}
		}
		v.Votes = append(v.Votes, bits(answers))
		v.Right = append(v.Right, float64(right)/float64(len(answers)))
	}
	return v, nil
}

func bits(labels []float64) string {
	b := make([]byte, len(labels))
	for i, l := range labels {
		b[i] = '0' + byte(l)
	}
	return string(b)
}
