package release

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/votes"
)

// ballot is a query that was checked and counted: one count for each label that is drawn.
type ballot struct {
	asked   []int   // labels of the question, in their order; nil where a query is a question of its own
	counts  [][]int // of the classes, for each that is asked
	missing int     // votes that become coins
	row     []byte  // the votes as bytes, see [Query.row]
}

// read checks and counts a query. An error is an [InputError], which quotes no votes.
func (o *Online) read(q *Query) (ballot, error) {
	setting, several := o.options.Plan.mechanism.Setting(), o.options.Plan.several
	if several.Labels == 0 {
		if q.Sets != nil || q.Asked != nil {
			return ballot{}, &InputError{fmt.Errorf("a query is one label here: it has votes or counts, not sets")}
		}
		setting.K = several.TeachersOf(setting.K) // who vote
		counts, missing, err := q.count(setting, o.options.Missing)
		if no, yes := several.Public(); err == nil && no+yes > 0 { // of two classes
			counts[0], counts[1] = counts[0]+no, counts[1]+yes
		}
		row := q.row()
		if from := several.From(); from > 0 { // other answers are yes from another number of teachers on
			row = binary.AppendVarint(append([]byte{'t'}, row...), int64(from))
		}
		return ballot{counts: [][]int{counts}, missing: missing, row: row}, err
	}
	b, err := q.countSets(setting, several, o.options.Missing)
	if err != nil {
		return ballot{}, &InputError{err}
	}
	return b, nil
}

// draw draws the answer to each label that is asked, by the coins of a name.
func (b *ballot) draw(m *ensemble.Mechanism, coins randsrc.Coins, name []byte) ([]int, error) {
	answers := make([]int, len(b.counts))
	for i, counts := range b.counts {
		name, own := name[:len(name):len(name)], m
		var err error
		if b.asked != nil { // each label has coins of its own, and may have a table of its own
			name = binary.AppendUvarint(name, uint64(b.asked[i]))
			if own, err = m.OfLabel(b.asked[i]); err != nil {
				return nil, err
			}
		}
		answers[i], err = own.AnswerMissing(coins, string(name), slices.Clone(counts), b.missing) // guesses are added
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// countSets counts no and yes for each label that is asked. Of every teacher's vote the first τ labels are
// counted, by their order and by nothing else: so one record changes at most r labels of the question, whichever
// are asked.
func (q *Query) countSets(setting ensemble.Setting, several ensemble.Several, policy votes.MissingPolicy) (b ballot, err error) {
	switch {
	case q.Votes != nil || q.Counts != nil:
		return b, fmt.Errorf("votes and counts are of one label: a question with %d has sets, of each teacher the labels "+
			"that it says yes to", several.Labels)
	case q.Sets == nil:
		return b, fmt.Errorf("sets must be given: of each teacher the labels that it says yes to")
	case len(q.Sets) != several.TeachersOf(setting.K):
		return b, check.Wantf("number of sets", len(q.Sets), "the number of teachers, %d", several.TeachersOf(setting.K))
	}
	if b.asked, err = askedOf(q.Asked, several.Labels); err != nil {
		return b, err
	}
	yes, voters := make([]int, several.Labels), 0
	b.row = []byte{'s'} // neither votes nor counts, whose first byte is another
	number := func(n int) { b.row = binary.AppendVarint(b.row, int64(n)) }
	number(several.Labels)
	number(several.MostYes)
	number(several.From())
	for i, set := range q.Sets {
		if set == nil && policy == votes.MissingNo {
			set = []int{}
		}
		if set == nil {
			if policy != votes.MissingAbstain || !setting.Missing {
				return b, check.Namedf("the vote of teacher %d is missing, which this service does not allow (%s %v)",
					i+1, pMissing, votes.MissingNo)
			}
			number(-1)
			continue
		}
		if set, err = setOf(set, several.Labels, i+1); err != nil {
			return b, err
		}
		number(len(set))
		for _, l := range set {
			number(l)
		}
		voters++
		most := several.MostYes
		if most == 0 {
			most = several.Labels
		}
		for _, l := range votes.FirstLabels(set, most) {
			yes[l]++
		}
	}
	publicNo, publicYes := several.Public()
	number(len(b.asked))
	for _, l := range b.asked {
		number(l)
		b.counts = append(b.counts, []int{voters - yes[l] + publicNo, yes[l] + publicYes})
	}
	return b, nil
}

// askedOf returns the labels that are asked of a question with so many, in their order: all where none
// are named.
func askedOf(asked []int, labels int) ([]int, error) {
	if asked == nil {
		asked = make([]int, labels)
		for l := range asked {
			asked[l] = l
		}
		return asked, nil
	}
	if asked = sortedSet(asked, labels); len(asked) == 0 {
		return nil, fmt.Errorf("labels must be some of the %d of a question, each once", labels)
	}
	return asked, nil
}

// setOf returns a teacher's vote with its labels in their order.
func setOf(vote []int, labels, teacher int) ([]int, error) {
	set := sortedSet(vote, labels)
	if set == nil {
		return nil, fmt.Errorf("the vote of teacher %d must be some of the %d labels, each once", teacher, labels)
	}
	return set, nil
}

// sortedSet returns a sorted copy of numbers from 0 to n-1 that differ; nil of others.
func sortedSet(of []int, n int) []int {
	if len(of) > n {
		return nil
	}
	set := append([]int{}, of...)
	slices.Sort(set)
	for i, v := range set {
		if v < 0 || v >= n || i > 0 && set[i-1] == v {
			return nil
		}
	}
	return set
}
