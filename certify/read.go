package certify

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/plurality"
)

// MaxBytes bounds what Read reads. The 62,740 histograms of 50 votes for 10 classes take some 20
// MB.
const MaxBytes = 64 << 20

// Read reads a mechanism as JSON, which begins with "{", or as CSV. The errors name the line or the
// field, or are r's.
//
// JSON has one of "gamma", a list of values, and "histograms", a list of objects with "votes",
// "probabilities" and, if the mechanism may answer no class, "abstain". Beside it there may be k,
// affected, label_eps, delta, eps, teacher_delta, teachers and neighbours.
//
// CSV has a row that names the columns, in any order: votes and gamma, or v1 … vC, p1 … pC and
// perhaps abstain. Rows are in any order. Empty lines, lines that begin with "#" and a byte order
// mark are passed over.
func Read(r io.Reader) (*Draft, error) {
	if r == nil {
		return nil, errors.New("reader must be given, of a mechanism")
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxBytes)
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, errors.New("it is UTF-16, but it must be UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		return readJSON(data)
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		return nil, errors.New(`it is a list, but JSON must be an object with "gamma" or "histograms"`)
	}
	return readCSV(data)
}

// file is the JSON form of a Draft.
type file struct {
	ensemble.Stated
	K          *int                           `json:"k"`
	Epsilon    *fileEpsilon                   `json:"eps"`
	Gamma      strictjson.List[*float64]      `json:"gamma"`
	Histograms strictjson.List[fileHistogram] `json:"histograms"`
}

// fileEpsilon is a teacher's ε: a number, or "inf" for teachers that promise nothing.
type fileEpsilon float64

func (e *fileEpsilon) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*e = fileEpsilon(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(e))
}

type fileHistogram struct {
	Votes         []int      `json:"votes"`
	Probabilities []*float64 `json:"probabilities"` // null is a gap and not 0
	Abstain       *float64   `json:"abstain"`
}

// UnmarshalJSON refuses fields that a histogram does not have: a list's members are decoded one by
// one.
func (h *fileHistogram) UnmarshalJSON(b []byte) error {
	type plain fileHistogram
	return strictjson.DecodeKnown(b, MaxBytes, (*plain)(h))
}

func readJSON(data []byte) (*Draft, error) {
	if field := tableField(data); field != "" {
		return nil, fmt.Errorf(
			"it has the field %q of a table, which is certified already: verify it instead",
			field)
	}
	var f file
	if err := strictjson.DecodeKnown(data, MaxBytes, &f); err != nil {
		if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
			err = fmt.Errorf("%w (JSON has no NaN or Infinity, and no probability is one)", err)
		}
		return nil, err
	}
	d := &Draft{Stated: f.Stated}
	d.Epsilon = (*float64)(f.Epsilon)
	if f.K != nil {
		if d.K = *f.K; d.K == 0 { // which would not be stated
			return nil, check.Teachers(0)
		}
	}
	if t := d.Teachers; t != "" && t != ensemble.FreshTeachers && t != ensemble.FrozenTeachers {
		return nil, check.Wantf("teachers", fmt.Sprintf("%.40q", t), "%q or %q", ensemble.FreshTeachers,
			ensemble.FrozenTeachers)
	}
	if (len(f.Gamma) > 0) == (len(f.Histograms) > 0) {
		return nil, errors.New(`it must have either "gamma" or "histograms"`)
	}
	for l, v := range f.Gamma {
		if v == nil {
			return nil, fmt.Errorf("gamma(%d) is missing", l)
		}
		d.Gamma = append(d.Gamma, *v)
	}
	for i, h := range f.Histograms {
		law := plurality.HistogramLaw{Votes: h.Votes}
		for _, x := range h.Probabilities {
			if x == nil {
				return nil, fmt.Errorf("histogram %v: a probability is missing", h.Votes)
			}
			law.Probabilities = append(law.Probabilities, *x)
		}
		if len(h.Probabilities) != len(h.Votes) {
			return nil, fmt.Errorf("histogram %v has %d probabilities, but it must have one for each class",
				h.Votes, len(h.Probabilities))
		}
		if i == 0 {
			d.Abstains = h.Abstain != nil
		} else if d.Abstains != (h.Abstain != nil) {
			return nil, fmt.Errorf("histogram %v: %q must be there in every histogram or in none", h.Votes,
				"abstain")
		}
		if h.Abstain != nil {
			law.Probabilities = append(law.Probabilities, *h.Abstain)
		}
		d.Laws = append(d.Laws, law)
	}
	return d, nil
}

// tableField returns a field that only a table has, "" where there is none.
func tableField(data []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	for _, name := range []string{"format_version", "kind", "masses"} {
		if _, ok := fields[name]; ok {
			return name
		}
	}
	return ""
}

func readCSV(data []byte) (*Draft, error) {
	in := csv.NewReader(bytes.NewReader(data))
	in.Comment, in.TrimLeadingSpace, in.ReuseRecord = '#', true, true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	c, err := columnsOf(header)
	if err != nil {
		return nil, err
	}
	d := &Draft{Abstains: c.abstain >= 0}
	known := map[int]float64{} // γ by number of votes
	rows := 0
	for ; ; rows++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		if rows == plurality.MaxHistograms {
			return nil, fmt.Errorf("line %d: there are more than %d rows", line, rows)
		}
		if c.votes != nil {
			err = c.law(row, d)
		} else {
			err = c.value(row, known)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if rows == 0 {
		return nil, errors.New("it has no row below the names of the columns")
	}
	for l := range rows { // each has a number of votes of its own
		v, ok := known[l]
		if c.votes == nil && !ok {
			return nil, fmt.Errorf("gamma(%d) is missing", l)
		}
		if c.votes == nil {
			d.Gamma = append(d.Gamma, v)
		}
	}
	return d, nil
}

// columns are the positions of the columns of a CSV.
type columns struct {
	at, gamma            int   // of a noise function: votes, gamma
	votes, probabilities []int // of histograms: v1 … vC, p1 … pC; else nil
	abstain              int   // -1 where there is none
}

const namesOfColumns = `they must be votes and gamma, or v1 to vC, p1 to pC and perhaps abstain`

// columnsOf finds the columns by their names.
func columnsOf(header []string) (c columns, err error) {
	at := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if _, ok := at[name]; ok {
			return c, fmt.Errorf("column %.40q appears twice", name)
		}
		at[name] = i
	}
	take := func(name string) int {
		i, ok := at[name]
		if !ok {
			return -1
		}
		delete(at, name)
		return i
	}
	if c.at, c.gamma, c.abstain = take("votes"), take("gamma"), take("abstain"); c.at < 0 {
		for n := 1; ; n++ {
			v, p := take(fmt.Sprintf("v%d", n)), take(fmt.Sprintf("p%d", n))
			if v < 0 && p < 0 {
				break
			}
			if v < 0 || p < 0 {
				return c, fmt.Errorf("of the columns v%d and p%d only one is there: %s", n, n, namesOfColumns)
			}
			c.votes, c.probabilities = append(c.votes, v), append(c.probabilities, p)
		}
	}
	isGamma := c.at >= 0 && c.gamma >= 0 && c.abstain < 0
	isLaws := c.votes != nil && c.gamma < 0
	if len(at) > 0 || !isGamma && !isLaws {
		hint := ""
		if len(header) == 1 && strings.ContainsAny(header[0], ";\t") {
			hint = "; commas must separate them"
		}
		return c, fmt.Errorf("the columns are named %.80q, but %s%s", header, namesOfColumns, hint)
	}
	return c, nil
}

// value reads a row of a noise function.
func (c *columns) value(row []string, known map[int]float64) error {
	l, err := whole(row[c.at])
	if err != nil {
		return fmt.Errorf("votes %w", err)
	}
	if _, ok := known[l]; ok {
		return fmt.Errorf("gamma(%d) appears twice", l)
	}
	v, err := number(row[c.gamma])
	if err != nil {
		return fmt.Errorf("gamma(%d) %w", l, err)
	}
	known[l] = v
	return nil
}

// law reads a row of histograms.
func (c *columns) law(row []string, d *Draft) error {
	var law plurality.HistogramLaw
	for n, i := range c.votes {
		v, err := whole(row[i])
		if err != nil {
			return fmt.Errorf("v%d %w", n+1, err)
		}
		law.Votes = append(law.Votes, v)
	}
	places := c.probabilities
	if c.abstain >= 0 {
		places = append(slices.Clip(places), c.abstain)
	}
	for n, i := range places {
		p, err := number(row[i])
		if err != nil {
			name := "abstain"
			if n < len(c.probabilities) {
				name = fmt.Sprintf("p%d", n+1)
			}
			return fmt.Errorf("histogram %v: %s %w", law.Votes, name, err)
		}
		law.Probabilities = append(law.Probabilities, p)
	}
	d.Laws = append(d.Laws, law)
	return nil
}

func whole(cell string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(cell))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("is %.40q, but it must be a whole number", cell)
	}
	return n, nil
}

// number reads a decimal; NaN passes, for whoever checks the value to name it.
func number(cell string) (float64, error) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return 0, errors.New("is missing")
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return 0, fmt.Errorf("is %.40q, but it must be a number", cell)
	}
	return x, nil
}
