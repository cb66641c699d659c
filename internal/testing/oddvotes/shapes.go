package oddvotes

import (
	"fmt"
	"strconv"
	"strings"
)

// A shape is the way in which a table stands in files.
type shape struct {
	name  string
	asked bool
	fits  func(family) bool
	write func(*maker)
}

var shapes = []shape{
	{"an id by its name and numbered columns", false, nil, func(m *maker) {
		m.names(one(m, "query", "id", "Query", "ID"), numbered)
		m.write(true)
	}},
	{"an id, numbered columns and a truth", false, nil, func(m *maker) {
		m.names("query", numbered)
		m.addTruth()
		m.write(true)
	}},
	{"numbered columns alone", false, nil, func(m *maker) {
		m.names("", numbered)
		m.write(false)
	}},
	{"an id of another name, numbered columns and a truth", false, nil, func(m *maker) {
		m.names(one(m, "scan_id", "patient", "ticket"), numbered)
		m.addTruth()
		m.write(false)
	}},
	{"an index without a name", false, nil, func(m *maker) {
		m.names("", numbered)
		m.idName = one(m, "\x00", "Unnamed: 0")
		m.nameQueries()
		if m.IntN(2) > 0 {
			m.addTruth()
		}
		m.writeTexts(m.table())
	}},
	{"an index and columns that are numbers", false, func(f family) bool {
		return f.number && len(f.spellings) <= 2 &&
			!f.asked && f.spellings[0].text < "2"
	}, func(m *maker) {
		m.names("", func(_ *maker, j int) string { return fmt.Sprint(j) })
		m.idName = "\x00"
		m.nameQueries()
		m.writeTexts(m.table())
	}},
	{"columns of any name", true, nil, func(m *maker) {
		towns := strings.Fields("berlin bonn ulm cologne munich dresden essen kiel mainz")
		m.names(one(m, "query", "patient"), func(_ *maker, j int) string { return towns[j] })
		m.write(false)
	}},
	{"a row for each vote", true, func(f family) bool { return f.name != "one word" }, (*maker).writeLong},
	{"a list of votes", false, nil, func(m *maker) {
		m.names(one(m, "query", "ticket"), numbered)
		m.Teachers = nil
		m.writeList()
	}},
	{"counts for each class", true, func(f family) bool { return f.name == "numbers" }, (*maker).writeCounts},
	{"an id, numbered columns and a truth of another name", false, nil, func(m *maker) {
		m.names("query", numbered)
		m.addTruth()
		m.truthName = one(m, "gold", "y", "ground_truth", "target")
		m.write(false)
	}},
	{"an array", true, func(f family) bool { return f.number }, (*maker).writeArray},
}

// numbered names columns alike.
func numbered(m *maker, j int) string { return fmt.Sprintf("%s%d", m.stem(), j+1) }

// stem is the same for all columns of a case.
func (m *maker) stem() string {
	return []string{"t", "lf", "site_", "prompt ", "Model-"}[len(m.Votes)%5]
}

// names gives names to teachers and, unless idName is "", ids to the queries.
func (m *maker) names(idName string, of func(*maker, int) string) {
	for j := range m.Teachers {
		m.Teachers[j] = of(m, j)
	}
	m.idName = idName
	m.nameQueries()
}

// nameQueries draws ids of one kind.
func (m *maker) nameQueries() {
	if m.idName == "" {
		m.IDs = nil
		return
	}
	form := one(m, "q%d", "%05d", "2024-01-%02d", "T-%d")
	if m.rare("ids of 64 bits") {
		form = "184467440737095510%02d"
	}
	m.IDs = make([]string, len(m.Votes))
	for i := range m.IDs {
		m.IDs[i] = fmt.Sprintf(form, i+10)
	}
}

// A table has columns of cells, before it is in a file.
type table struct {
	names []string
	cells [][]string // by rows
}

// table puts the columns side by side: the id, the votes, the truth.
func (m *maker) table() *table {
	t := &table{cells: make([][]string, len(m.Votes))}
	add := func(name string, cell func(i int) string) {
		t.names = append(t.names, strings.TrimPrefix(name, "\x00"))
		for i := range t.cells {
			t.cells[i] = append(t.cells[i], cell(i))
		}
	}
	if m.idName != "" {
		add(m.idName, func(i int) string { return m.IDs[i] })
	}
	for j, name := range m.Teachers {
		add(name, func(i int) string { return m.spelled[i][j] })
	}
	if m.truth != nil {
		if m.truthName == "" {
			m.truthName = one(m, "label", "truth", "Truth")
		}
		add(m.truthName, func(i int) string { return m.truth[i] })
	}
	return t
}

// shuffled returns the table with its columns in another order.
func (t *table) shuffled(m *maker) *table {
	order := m.Perm(len(t.names))
	s := &table{cells: make([][]string, len(t.cells))}
	for _, at := range order {
		s.names = append(s.names, t.names[at])
		for i := range t.cells {
			s.cells[i] = append(s.cells[i], t.cells[i][at])
		}
	}
	return s
}

// write writes the table in one of the formats, with columns that nobody asked for and in other orders
// where the id is known by its name.
func (m *maker) write(named bool) {
	t := m.table()
	if named && m.rare("columns that are not read") {
		t.names = append(t.names, "age", "note")
		for i := range t.cells {
			t.cells[i] = append(t.cells[i], fmt.Sprint(20+7*i), fmt.Sprintf("see page %d", i))
		}
	}
	m.Table = &Table{t.names, t.cells, m.idName}
	if m.family.number || m.family.name == "words" {
		if m.IntN(4) == 0 {
			m.writeParquet(t)
			return
		}
	}
	if m.IntN(3) == 0 {
		m.writeLines(t)
		return
	}
	if named && m.rare("columns in another order") {
		t = t.shuffled(m)
	}
	m.writeTexts(t)
}

// writeCounts writes how many of some teachers voted for each class. The counts read as votes are
// another answer.
func (m *maker) writeCounts() {
	classes := one(m, animals, []string{"0", "1", "2"}, []string{"bug", "spam"})
	teachers, before := 5+m.IntN(8), one(m, "", "votes_", "n_")
	if classes[0] == "0" {
		before = one(m, "n", "count_")
	}
	occur := make(map[string]bool)
	for i := range m.Votes {
		left := teachers
		m.Votes[i] = make([]string, len(classes))
		for c := range classes {
			n := left
			if c < len(classes)-1 {
				n = m.IntN(left + 1)
			}
			left -= n
			m.Votes[i][c] = strconv.Itoa(n)
			occur[m.Votes[i][c]] = true
		}
	}
	m.spelled, m.Teachers = m.Votes, nil
	for _, class := range classes {
		m.Teachers = append(m.Teachers, before+class)
	}
	var values []string
	for n := range teachers + 1 {
		if occur[strconv.Itoa(n)] {
			values = append(values, strconv.Itoa(n))
		}
	}
	m.Counted, m.Answers, m.family.name = classes, []Answer{as(values)}, "counts"
	m.idName = one(m, "query", "ticket")
	m.nameQueries()
	m.write(false)
}
