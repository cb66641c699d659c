package teachers

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
)

// Parts assigns to each teacher the private records of its training. It is made of numbers of
// records alone, so it cannot depend on what they hold: where a record is replaced, the new one
// goes to the same teachers. Therefore Affected counts for accountant.ReplaceOne too. It is
// immutable.
type Parts struct {
	records int
	of      [][]int // by teacher, ascending
	reach   int
}

// DisjointParts gives each of records to one of k teachers: teacher j gets the numbers j,
// j+k, j+2k, …, from 0. The parts' sizes differ by at most one. A file that is sorted is
// spread evenly; one whose order has the period k is not.
func DisjointParts(records, k int) (Parts, error) {
	if err := checkTeachersOf(records, k); err != nil {
		return Parts{}, err
	}
	of := make([][]int, k)
	for i := range records {
		of[i%k] = append(of[i%k], i)
	}
	return newParts(records, of)
}

// OverlappingParts gives each of k teachers size of the records, drawn without replacement
// from the seed, each teacher by itself. The seed is no secret: nothing rests on it.
func OverlappingParts(records, k, size int, seed uint64) (Parts, error) {
	if err := checkTeachersOf(records, k); err != nil {
		return Parts{}, err
	}
	if size < 1 || size > records {
		return Parts{}, check.Wantf("size of a part", size, "between 1 and the %d records", records)
	}
	of := make([][]int, k)
	for j := range of {
		src := randsrc.NewSeededStream(seed, uint64(j))
		all := make([]int, records)
		for i := range all {
			all[i] = i
		}
		for i := range size { // the first steps of Fisher and Yates
			u, err := src.Uint53()
			if err != nil {
				return Parts{}, err
			}
			// The bias of the remainder is below 2⁻²⁰ for a billion records: which records
			// a teacher sees matters to no promise.
			n := i + int(u%uint64(records-i))
			all[i], all[n] = all[n], all[i]
		}
		of[j] = slices.Clone(all[:size])
	}
	return newParts(records, of)
}

// newParts returns the parts of[j] of teachers j, in each of which a number is once. A number twice in one part
// would weigh twice in that teacher, who would promise half.
func newParts(records int, of [][]int) (Parts, error) {
	seenBy := make([]int, records)
	for j, part := range of {
		if len(part) == 0 {
			return Parts{}, check.Want(fmt.Sprintf("part of teacher %d", j+1), "empty", "at least one record")
		}
		slices.Sort(part)
		for _, r := range part {
			seenBy[r]++
		}
	}
	return Parts{records: records, of: of, reach: slices.Max(seenBy)}, nil
}

func checkTeachersOf(records, k int) error {
	if err := check.Teachers(k); err != nil {
		return err
	}
	if records < 1 {
		return check.Want("number of records", records, "at least 1")
	}
	return nil
}

// K returns the number of teachers.
func (p Parts) K() int { return len(p.of) }

// Records returns the number of records that the parts are of.
func (p Parts) Records() int { return p.records }

// Of returns the numbers of the records of teacher j, from 0, ascending.
func (p Parts) Of(j int) []int {
	if p.of == nil {
		return nil
	}
	return slices.Clone(p.of[j])
}

// Affected returns t, the most teachers that one record is given to: 1 for disjoint parts,
// K where a record is in all.
func (p Parts) Affected() int { return p.reach }
