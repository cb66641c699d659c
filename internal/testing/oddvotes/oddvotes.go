// Package oddvotes makes small files of votes in the shapes that people have, with what they mean: for
// tests of what is found in a file of which nothing is stated. It has writers of its own.
//
// The rules are those of docs/formats.md, "What is clear, and what is asked". A family of values
// (values.go) and a shape of columns (shapes.go) each say before a byte is written whether they are
// clear, and which readings they have. A case is clear if both are.
package oddvotes

import (
	"math/rand/v2"
	"slices"
)

// A Case is one table of votes in files, and what it means.
type Case struct {
	Name  string // the family of its values, the shape of its columns and the format
	Files []File

	IDs      []string   // of the queries, nil where the files have none
	Teachers []string   // their names in the order of Votes, nil where the files have none
	Votes    [][]string // by queries and teachers: values, each the one of all its spellings, "" for blank
	Truth    []string   // values too; nil where the files have none

	// Asked reports whether only a person can say what the files mean. Answers are all readings; none
	// where no command can be proposed.
	Asked   bool
	Answers []Answer
	// Sides reports whether teachers may be the rows as well: each answer has two readings then.
	Sides bool
	// Counted are the classes of which Votes has counts, by queries and classes; nil where they are
	// votes. Then they have one reading more.
	Counted []string
	// Table is what is in the files, where they hold one table of named columns.
	Table *Table
	// Rare names what few cases have.
	Rare []string
}

// A File is one of a case's files.
type File struct {
	Name string
	Text []byte
}

// An Answer is one reading of the values: the class of each, and "" for a missing vote.
type Answer struct {
	Classes []string // in their order
	Class   map[string]string
}

// A Table has columns of cells, as they are written.
type Table struct {
	Names []string
	Cells [][]string // by rows
	ID    string     // the column of ids, "" for none
}

// maker makes one case.
type maker struct {
	*rand.Rand
	Case
	family  family
	spelled [][]string // the votes as they are written
	truth   []string   // the true labels as they are written
	idName  string
	// truthName is the column of true labels, "" for a usual name of it
	truthName string
	spacious  bool // blanks may stand around cells
}

// New returns the case of a seed.
func New(seed uint64) *Case {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 50))}
	m.family = families[m.IntN(len(families))]
	shape := shapes[m.IntN(len(shapes))]
	for shape.fits != nil && !shape.fits(m.family) {
		shape = shapes[m.IntN(len(shapes))]
	}
	m.Asked, m.Answers = m.family.asked || shape.asked, m.family.answers
	m.fill()
	m.Name = m.family.name + ", " + shape.name
	shape.write(m)
	return &m.Case
}

// one returns one of several.
func one[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

// rare reports, rarely, true, and notes it.
func (m *maker) rare(what string) bool {
	if m.IntN(8) > 0 {
		return false
	}
	m.Rare = append(m.Rare, what)
	return true
}

// fill draws votes: each spelling of the family occurs, and all teachers agree on the first query and
// one on the second, so that every column has a value in common with the others.
func (m *maker) fill() {
	queries, teachers := 4+m.IntN(9), 4+m.IntN(6)
	if teachers == queries {
		queries++ // an array of as many rows as columns has one reading more than is compared
	}
	all := m.family.spellings
	m.spelled, m.Votes = make([][]string, queries), make([][]string, queries)
	for i := range queries {
		m.spelled[i], m.Votes[i] = make([]string, teachers), make([]string, teachers)
		for j := range teachers {
			m.set(i, j, all[m.IntN(len(all))])
		}
	}
	for j := range teachers {
		m.set(0, j, all[0])
	}
	m.set(1, m.IntN(teachers), all[0])
	free := make([][2]int, 0, (queries-1)*teachers)
	for i := 2; i < queries; i++ {
		for j := range teachers {
			free = append(free, [2]int{i, j})
		}
	}
	m.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for i, s := range all {
		m.set(free[i][0], free[i][1], s)
	}
	if m.rare("a teacher who never changes") {
		j := m.IntN(teachers)
		for i := range queries {
			if !slices.Contains(free[:len(all)], [2]int{i, j}) {
				m.set(i, j, all[0])
			}
		}
	}
	m.IDs, m.Teachers = make([]string, queries), make([]string, teachers)
}

func (m *maker) set(i, j int, s spelling) { m.spelled[i][j], m.Votes[i][j] = s.text, s.value }

// addTruth draws true labels with gaps, of values that are classes whatever is answered.
func (m *maker) addTruth() {
	known := 0
	for range m.Votes {
		text, value := one(m, "", "", "N/A"), ""
		if m.IntN(3) > 0 {
			s := m.family.spellings[0]
			text, value = s.text, s.value
			known++
		}
		m.truth, m.Truth = append(m.truth, text), append(m.Truth, value)
	}
	if known <= 1 {
		m.Rare = append(m.Rare, "at most one true label")
	}
}
