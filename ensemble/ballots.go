package ensemble

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// NoTruth is the true class of a query that has no label.
const NoTruth = -1

// Ballots holds the votes of many queries as how often each vector of counts occurs, and
// with which true classes, so that what a mechanism would do is worked out once for each.
// Make it with NewBallots; it is not safe for concurrent use.
type Ballots struct {
	k, classes        int
	missing           bool // votes may be missing
	labels            int  // of a question, which each query is one of in turn; 0 where it is a question of its own
	queries, labelled int
	index             map[string]int
	kinds             []ballot
	code              []byte
}

// ballot is one vector of counts.
type ballot struct {
	label   int // of the question; 0 where there is one
	counts  []int
	queries int
	truths  []int // how many queries have each true class; nil without labels
}

// NewBallots returns empty ballots of k teachers over the given number of classes.
func NewBallots(k, classes int) (*Ballots, error) {
	if err := cmp.Or(check.Teachers(k), check.Classes(classes)); err != nil {
		return nil, err
	}
	return &Ballots{k: k, classes: classes, index: map[string]int{}}, nil
}

// AllowMissing lets votes be none: the counts of a query add up to at most K. Mechanisms are then
// scored and compared for votes that may be missing (Setting.Missing).
func (b *Ballots) AllowMissing() { handle.Made(b).missing = true }

// Label says that the queries are the labels of questions with so many each, question by question: see
// Mechanism.OfLabel.
func (b *Ballots) Label(labels int) { handle.Made(b).labels = labels }

// Add adds a query: counts[c] of the teachers voted for class c, and its true class is
// truth, or NoTruth. On error nothing is added. Counts are copied.
func (b *Ballots) Add(counts []int, truth int) error {
	b = handle.Made(b)
	s := Setting{K: b.k, Classes: b.classes, Missing: b.missing}
	if err := s.CheckCounts(counts, 0); err != nil {
		return err
	}
	if truth != NoTruth && (truth < 0 || truth >= b.classes) {
		return check.Wantf("true class", truth, "between 0 and %d, or NoTruth", b.classes-1)
	}
	label := 0
	if b.labels > 0 {
		label = b.queries % b.labels
	}
	b.code = binary.AppendUvarint(b.code[:0], uint64(label))
	for _, n := range counts {
		b.code = binary.AppendUvarint(b.code, uint64(n))
	}
	i, ok := b.index[string(b.code)]
	if !ok {
		i = len(b.kinds)
		b.index[string(b.code)] = i
		b.kinds = append(b.kinds, ballot{label: label, counts: append([]int(nil), counts...)})
	}
	kind := &b.kinds[i]
	kind.queries++
	b.queries++
	if truth != NoTruth {
		if kind.truths == nil {
			kind.truths = make([]int, b.classes)
		}
		kind.truths[truth]++
		b.labelled++
	}
	return nil
}

// K returns the number of teachers.
func (b *Ballots) K() int { return handle.Made(b).k }

// Classes returns the number of classes.
func (b *Ballots) Classes() int { return handle.Made(b).classes }

// Len returns the number of queries.
func (b *Ballots) Len() int { return handle.Made(b).queries }

// Plain scores the majority without noise, ties broken evenly. It is not private.
func (b *Ballots) Plain() Score { return handle.Made(b).score(plainMajority) }

// always returns the class that agrees with the votes most often, the first of several, and how well
// that answer to every query does.
func (b *Ballots) always() (best Always) {
	for class := range b.classes {
		answer := make([]float64, b.classes)
		answer[class] = 1
		s, _ := b.scoreEach(func(ballot) []float64 { return answer })
		if class == 0 || s.Agreement > best.Score.Agreement {
			best = Always{class, s}
		}
	}
	return best
}

// score returns how well answers with the given probabilities would do, which mind no class's
// name. law's result may have one probability more than there are classes, that of abstaining.
func (b *Ballots) score(law func(counts []int) []float64) Score {
	if b.classes > 2 {
		law = once(law)
	}
	s, _ := b.scoreEach(func(of ballot) []float64 { return law(of.counts) })
	return s
}

// scoreEach is score of any law, which it asks about each vector of counts of each label, with the recall of each class: how
// often it is the answer where it has the most votes, alone or with others; nil where it never has.
func (b *Ballots) scoreEach(law func(ballot) []float64) (s Score, recall []*float64) {
	s = Score{Queries: b.queries, Labels: b.labelled}
	leads, answered := make([]float64, b.classes), make([]float64, b.classes)
	for _, kind := range b.kinds {
		p := law(kind)
		for c, most := 0, largest(kind.counts); c < b.classes; c++ {
			if kind.counts[c] == most {
				leads[c] += float64(kind.queries)
				answered[c] += float64(kind.queries) * p[c]
			}
		}
		agrees, tied := labellaw.Plurality(kind.counts, p)
		s.Agreement += float64(kind.queries) * agrees
		s.Shared += float64(kind.queries) * agrees / float64(tied)
		for c, n := range kind.truths {
			s.Accuracy += float64(n) * p[c]
		}
		if len(p) > b.classes {
			s.Abstained += float64(kind.queries) * p[b.classes]
		}
	}
	if b.queries > 0 {
		s.Agreement /= float64(b.queries)
		s.Shared /= float64(b.queries)
		s.Abstained /= float64(b.queries)
	}
	if b.labelled > 0 {
		s.Accuracy /= float64(b.labelled)
	}
	recall = make([]*float64, b.classes)
	known := 0
	for c, n := range leads {
		if n > 0 {
			answered[c] /= n
			recall[c] = &answered[c]
			s.Balanced += answered[c]
			known++
		}
	}
	s.Balanced /= float64(max(known, 1))
	return s, recall
}

// once returns a law that works each vector of counts out once, in whichever order of the classes
// it comes first: no mechanism minds their names, and classes with equal counts are as likely.
func once(law func(counts []int) []float64) func(counts []int) []float64 {
	known := map[string][]float64{}
	return func(counts []int) []float64 {
		sorted := slices.Clone(counts)
		slices.Sort(sorted)
		var code []byte
		for _, n := range sorted {
			code = binary.AppendUvarint(code, uint64(n))
		}
		of, ok := known[string(code)]
		if !ok {
			of = law(sorted)
			known[string(code)] = of
		}
		p := slices.Clone(of) // with the probability of abstaining, if there is one
		for c, n := range counts {
			at, _ := slices.BinarySearch(sorted, n)
			p[c] = of[at]
		}
		return p
	}
}

// plainMajority is the law of releasing the largest count without noise, ties broken evenly.
func plainMajority(counts []int) []float64 {
	p := make([]float64, len(counts))
	winners := 0
	most := largest(counts)
	for _, n := range counts {
		if n == most {
			winners++
		}
	}
	for c, n := range counts {
		if n == most {
			p[c] = 1 / float64(winners)
		}
	}
	return p
}
