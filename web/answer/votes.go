package answer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/commandline"
	"github.com/darrm/darrm/votes"
	"github.com/darrm/darrm/web/answer/chart"
)

// Description describes a file of votes. It is not private.
type Description struct {
	Votes    *votes.Description `json:"votes"`    // that of darrm votes describe --json; null where something is asked
	Facts    []string           `json:"facts"`    // those of the survey, as votes describe prints them
	Answers  []string           `json:"answers"`  // to what is asked, with what follows from each; Stated's reading is one's place
	Compares bool               `json:"compares"` // what is stated is enough to compare
	Roles    []string           `json:"roles"`    // of each column: vote, id, truth or -; null where the file is not read by columns
	Names    bool               `json:"names"`    // the first row has the columns' names
	Picture  string             `json:"picture"`  // SVG; "" where something is asked
	Header   []string           `json:"header"`   // of Teachers
	Teachers [][]string         `json:"teachers"`
}

// look surveys a file of votes by what is stated, and returns the options that were stated too. The reading that
// is meant is nil where something is asked that Stated's reading does not answer.
func look(ctx context.Context, s Stated, name string, data []byte) (found *votes.Survey, o votes.Options,
	meant *votes.Reading, err error) {
	if o, err = options(ctx, s, name, data); err != nil {
		return nil, o, nil, err
	}
	if found, err = votes.Look(ctx, o, s.known(), func(o votes.Options) (*votes.Reader, error) {
		return votes.NewReader(ctx, bytes.NewReader(data), o)
	}, nil); err != nil {
		return nil, o, nil, err
	}
	at, err := s.count("reading", "reading", -1)
	switch {
	case err != nil:
	case len(found.Asked) == 0 && len(found.Readings) > 0:
		meant = found.Readings[0]
	case at >= len(found.Readings) || at < -1:
		err = check.Wantf("reading", at, "one of the %d answers", len(found.Readings))
	case at >= 0:
		meant = found.Readings[at]
	}
	return found, o, meant, err
}

func (s Stated) known() votes.Known { return votes.Known{Classes: s.has("classes")} }

// Describe describes votes of a file of text, of which name is the name: what the file holds, what is
// asked, and figures where nothing is, or where it is answered. The errors are those of reading.
func Describe(ctx context.Context, s Stated, name string, data []byte) (*Description, error) {
	found, _, reading, err := look(ctx, s, name, data)
	if err != nil {
		return nil, err
	}
	first, err := FirstRows(ctx, name, data)
	if err != nil {
		return nil, err
	}
	out := &Description{Roles: rolesOf(found.Columns, first[0]), Names: found.Columns.In == "columns", Compares: reading != nil}
	for _, fact := range found.Facts(s.known(), fieldName) {
		out.Facts = append(out.Facts, fact.String())
	}
	if len(found.Asked) > 0 {
		for _, reading := range found.Readings {
			out.Answers = append(out.Answers, reading.Consequence())
		}
	}
	if reading == nil {
		return out, nil
	}
	d := reading.Description
	out.Votes = d
	out.Facts = append(append(out.Facts, "classes: "+strings.Join(d.Classes, ", ")), d.Says()...)
	c := chart.Chart{Title: "Not private: queries by their votes", X: d.HistogramTitle() + ", of " +
		strconv.Itoa(d.K)}
	for l, n := range d.Histogram {
		c.High = max(c.High, float64(n))
		c.Bars = append(c.Bars, chart.Bar{Name: strconv.Itoa(l), Class: "c1", Height: float64(n)})
	}
	out.Picture = c.SVG()
	out.Header, out.Teachers = d.Table()
	return out, nil
}

// Comparison puts mechanisms side by side on votes. It is not private.
type Comparison struct {
	Report  *ensemble.ComparisonReport `json:"report"` // that of darrm compare --json
	Header  []string                   `json:"header"` // of Rows
	Rows    [][]string                 `json:"rows"`   // the table that darrm compare prints
	Notes   []string                   `json:"notes"`  // on classes that are told apart, and where labels tell nothing
	Refused []string                   `json:"refused"`
	Command string                     `json:"command"` // darrm compare
	Release []string                   `json:"release"` // the commands that release these labels by the chosen mechanism
}

// Compare compares on votes of a file of text the mechanisms that a plan for so many labels has: by what is
// stated of the file, and of budget-eps, budget-delta and affected. Teachers promise nothing. Cost: that of the plan.
func Compare(ctx context.Context, s Stated, name string, data []byte) (*Comparison, error) {
	_, o, reading, err := look(ctx, s, name, data)
	if err != nil {
		return nil, err
	}
	if reading == nil {
		return nil, fmt.Errorf("%s: answer what is asked of the file", name)
	}
	d, abstain := reading.Description, reading.Options.Missing == votes.MissingAbstain
	if len(reading.Options.Labels) > 0 {
		return nil, fmt.Errorf("%s has several labels of a question: use darrm compare", name)
	}
	at := maps.Clone(s)
	at["K"], at["num-classes"], at["queries"] = strconv.Itoa(d.K), strconv.Itoa(len(d.Classes)),
		strconv.FormatInt(d.Queries, 10)
	if beyond := TooLarge(at); beyond != nil {
		return nil, fmt.Errorf("%s: use darrm compare", beyond.Limit)
	}
	r, err := request(at, d.Classes)
	if err != nil {
		return nil, err
	}
	r.Missing = abstain
	ballots, err := ballotsOf(ctx, reading.Options, data, d.K, abstain)
	if err != nil {
		return nil, err
	}
	p, err := planOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c, err := p.Compare(ctx, r, ballots)
	if err != nil {
		return nil, err
	}
	c.Classes = d.Classes
	out := &Comparison{Report: c.Report()}
	out.Header, out.Rows = c.Table()
	if notes := (plan.ReportOptions{Classes: d.Classes}).ClassNotes(p.Choices[0]); notes != nil {
		out.Notes = append([]string{"By what is stated, before the votes are seen, of the row marked →:"}, notes...)
	}
	out.Notes = append(out.Notes, plan.ComparedByClass(c)...)
	if !c.Tells() {
		out.Notes = append(out.Notes, ensemble.AlwaysNote(c.AlwaysClass(), c.Always.Score.Agreement))
	}
	for _, row := range c.Rows {
		if row.Refused != nil {
			out.Refused = append(out.Refused, fmt.Sprintf("%s: %v", row.Title, row.Refused))
		}
	}
	// The command reads the file by its name; all else that is stated is to be said.
	o.Classes, o.Header, o.IDColumn, o.LabelColumn, o.VoteColumns, o.VotesColumn = nil, votes.HeaderAuto, "", "", nil, ""
	stated := commandline.Reading(reading.Options, o, votes.Known{})
	if slices.Equal(d.Classes, votes.IntegerClasses(2)) {
		stated = slices.DeleteFunc(stated, func(f commandline.Flag) bool { return f.Name == "classes" })
	}
	flags := make(map[string][]string)
	for _, f := range stated {
		flags[f.Name] = append(flags[f.Name], f.Value)
	}
	words := commandline.AddFlags([]string{"darrm", "compare", name}, stated)
	for _, flag := range []string{"budget-eps", "budget-delta", "affected", "shares", "cost"} {
		value := s[flag]
		if flag == "budget-delta" {
			value = cmp.Or(value, "0") // the command has no default
		}
		if value != "" {
			words, flags[flag] = commandline.AddFlag(words, flag, value), []string{value}
		}
	}
	out.Command = strings.Join(commandline.ShellWords(words), " ")
	release, err := commandline.Stated{Flags: flags, Files: []string{name}, Reading: func(flag string) bool {
		return slices.ContainsFunc(stated, func(f commandline.Flag) bool { return f.Name == flag })
	}}.Complete(plan.NewReport(r, p, plan.ReportOptions{ReachStated: s.has("affected"), Name: fieldName}), r, p)
	for _, words := range release {
		out.Release = append(out.Release, strings.Join(commandline.ShellWords(words), " "))
	}
	return out, err
}

// ballotsOf reads the votes of k teachers.
func ballotsOf(ctx context.Context, o votes.Options, data []byte, k int, abstain bool) (*ensemble.Ballots, error) {
	r, err := votes.NewReader(ctx, bytes.NewReader(data), o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ballots, err := ensemble.NewBallots(k, len(r.Classes()))
	if err != nil {
		return nil, err
	}
	if abstain {
		ballots.AllowMissing()
	}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			if err := ballots.Add(b.Row(i), b.Truth(i)); err != nil {
				return nil, err
			}
		}
		b.Release()
	}
	return ballots, nil
}
