// Package commandline writes the commands that carry out a plan: darrm aggregate and, where a table
// comes first, darrm solve before it. The command plan and the page in web share them.
package commandline

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/votes"
)

// placeholder stands for votes that are not there yet.
const placeholder = "votes.csv"

// tableFile stands for the file of a table that is made before the release.
const tableFile = "table.json"

// Stated holds what a person stated of a plan. It is safe for concurrent use while nobody writes to
// its fields.
type Stated struct {
	Flags    map[string][]string    // of darrm plan, without the dashes, with their values
	Reading  func(name string) bool // whether a flag describes files of votes
	Files    []string               // the votes to answer; none where they are not there yet
	CacheDir string                 // where tables are kept; "" for nowhere
}

// Complete fills in the commands of the report of p, which New returned for r. It returns those of
// the first choice, in the order in which they are run. The error is that of choose.CheckPlanned, or
// that report is not p's.
func (s Stated) Complete(report *plan.Report, r plan.Request, p *plan.Plan) ([][]string, error) {
	if report == nil || p == nil || len(report.Choices) != len(p.Choices) {
		return nil, errors.New("the report must be that of the plan")
	}
	if len(s.Files) == 0 {
		report.Notes = append(report.Notes, "Replace "+placeholder+" by the files of the votes to answer.")
		s.Files = []string{placeholder}
	}
	var notes []string
	s.Files, notes = Lasting(s.Files)
	report.Notes = append(report.Notes, notes...)
	early := slices.ContainsFunc(p.Refused, func(x plan.Refusal) bool { return errors.Is(x.Err, plan.ErrBeingMade) })
	var first [][]string
	for i, choice := range p.Choices {
		// The release works out what aggregate charges, and it must be what was planned. Of an early plan that
		// is seen once all is worked out.
		if !early {
			if err := choose.CheckPlanned(choice, r.Queries); err != nil {
				return nil, err
			}
		}
		args := s.release(r, choice)
		commands := [][]string{args}
		out := &report.Choices[i]
		if i == 0 && !r.Abstain && !r.Votes.FromVotes() {
			// aggregate plans by the same law and among the same mechanisms.
			args = s.within(r, choice)
			commands = [][]string{args}
		} else if before := s.preparation(choice); before != nil {
			commands = [][]string{before, args}
			out.Prepare, out.PrepareArgs = strings.Join(ShellWords(before), " "), before
		}
		if i == 0 {
			first = commands
		}
		out.Command, out.Args = strings.Join(ShellWords(args), " "), args
	}
	return first, nil
}

// Lasting returns the files as a later command can name them. What can be read only once, such as a
// pipe, gets a placeholder, and a note says so.
func Lasting(files []string) (names, notes []string) {
	for _, file := range files {
		if file == "-" || !votes.ReadOnce(file) {
			names = append(names, file)
			continue
		}
		name := placeholder
		for n := 2; slices.Contains(files, name) || slices.Contains(names, name); n++ {
			name = fmt.Sprintf("votes-%d.csv", n)
		}
		names = append(names, name)
		notes = append(notes, fmt.Sprintf("%s stands for what %s held, which is gone when it has been read: "+
			"keep it in a file.", name, file))
	}
	return names, notes
}

// words are a command in the making.
type words []string

func (w *words) add(flag, value string) { *w = AddFlag(*w, flag, value) }

// AddFlag appends a flag with its value to the words of a command: as one word where the value could
// be taken for a flag, or for none.
func AddFlag(words []string, flag, value string) []string {
	if value == "" || value[0] == '=' || value[0] == '-' && len(value) > 1 { // a word =x is zsh's own
		return append(words, "--"+flag+"="+value)
	}
	return append(words, "--"+flag, value)
}

// repeat adds the flags that were stated and are meant, in the order of their names.
func (s Stated) repeat(w *words, meant func(flag string) bool) {
	for _, flag := range slices.Sorted(maps.Keys(s.Flags)) {
		if meant(flag) {
			for _, value := range s.Flags[flag] {
				w.add(flag, value)
			}
		}
	}
}

// among returns whether a flag is one of these.
func among(flags ...string) func(string) bool {
	return func(flag string) bool { return slices.Contains(flags, flag) }
}

// aggregate returns the beginning of an aggregate command. Flags that describe the files go to it
// too.
func (s Stated) aggregate() words {
	w := append(words{"darrm", "aggregate"}, s.Files...)
	s.repeat(&w, s.Reading)
	return w
}

// preparation returns the command that makes the table of a choice; nil where aggregate makes it.
func (s Stated) preparation(choice plan.Choice) []string {
	p := choice.Mechanism.AnswersTable().Problem()
	w := words{"darrm", "solve"}
	if noise := choice.Mechanism.PricedNoise(); noise != nil {
		n := noise.Problem()
		p = answers.Problem{K: n.Teachers, Classes: n.Classes, Affected: n.Affected, Missing: n.Missing, Answers: n.Answers,
			Epsilon: n.Epsilon, Delta: n.Delta}
		w.add("mechanism", choice.Name)
	}
	if p.K == 0 {
		return nil
	}
	w.add("K", strconv.Itoa(p.K))
	if p.Classes > 2 {
		w.add("num-classes", strconv.Itoa(p.Classes))
	}
	w.add("affected", strconv.Itoa(p.Affected))
	if p.Missing {
		w.add("missing", s.Flags["missing"][0])
	}
	w.add("queries", strconv.Itoa(p.Answers))
	w.add("budget-eps", num.Shortest(p.Epsilon))
	w.add("budget-delta", num.Shortest(p.Delta))
	switch o := choice.Objective; {
	case choice.Answers == nil:
	case o.Concentration != 0:
		w.add("concentration", num.Shortest(o.Concentration))
	default:
		w.add("accuracy", num.Shortest(o.Accuracy))
	}
	if choice.Answers != nil {
		losses(&w, choice.Answers.Prior)
	}
	if s.CacheDir != "" {
		w.add("cache-dir", s.CacheDir)
	}
	w.add("out", tableFile)
	return w
}

// losses adds the shares and costs that a table is for, of classes by their numbers.
func losses(w *words, prior answers.Prior) {
	var shares, costs []string
	for _, q := range prior.Shares {
		shares = append(shares, num.Shortest(q))
	}
	for a, row := range prior.Costs {
		for b, x := range row {
			if a != b {
				costs = append(costs, fmt.Sprintf("%d:%d=%s", a, b, num.Shortest(x)))
			}
		}
	}
	if shares != nil {
		w.add("shares", strings.Join(shares, ","))
	}
	if costs != nil {
		w.add("cost", strings.Join(costs, ","))
	}
}

// within returns the aggregate command that plans the best choice by itself, within the same
// budget.
func (s Stated) within(r plan.Request, choice plan.Choice) []string {
	w := s.aggregate()
	if r.Promised() {
		w.add("eps", num.Shortest(r.Each().Epsilon))
		w.add("teacher-delta", num.Shortest(r.Each().Delta))
		w.add("teachers", string(r.Teachers))
	}
	w.add("budget-eps", num.Shortest(r.Budget.Epsilon))
	w.add("budget-delta", num.Shortest(r.Budget.Delta))
	s.labels(&w, r, choice)
	w.add("affected", strconv.Itoa(r.Reach(r.K)))
	s.repeat(&w, among("for", "shares", "cost", "accept-constant", "prior-mean", "neighbours", "records", "solve-within", "cache-dir"))
	if ledger := s.Flags["ledger"]; len(ledger) > 0 {
		w.add("ledger", ledger[0])
		w.add("request-id", "labels")
	}
	w.add("out", "labels.csv")
	return w
}

// labels adds how many labels one charge pays for, where that was stated: the files of one release
// may have fewer. Noise that spends the teachers' own privacy is paid for by each release.
func (s Stated) labels(w *words, r plan.Request, choice plan.Choice) {
	if len(s.Flags["queries"]) > 0 && math.IsInf(choice.Mechanism.Teachers().Epsilon, 1) {
		w.add("queries", strconv.Itoa(r.Questions()))
	}
}

// release returns the aggregate command of a choice.
func (s Stated) release(r plan.Request, choice plan.Choice) []string {
	w := s.aggregate()
	p := choice.Mechanism.Problem()
	private := !math.IsInf(p.Epsilon, 1)
	if choice.Mechanism.HashOfAll() != "" { // it states all else
		w.add("table", tableFile)
		w.add("affected", strconv.Itoa(p.Affected))
		s.repeat(&w, among("neighbours", "records"))
		w.add("out", "labels.csv")
		return w
	}
	if choice.Mechanism.NoiseFunction() != nil {
		w.add("eps", strings.ToLower(strings.TrimPrefix(num.Shortest(p.Epsilon), "+")))
		if private {
			w.add("teacher-delta", num.Shortest(p.TeacherDelta))
			w.add("teachers", string(r.Teachers))
			w.add("m", num.Shortest(p.M))
		}
		w.add("objective", choose.Agreement)
		s.repeat(&w, among("prior-mean"))
	} else {
		w.add("mechanism", choice.Name)
	}
	switch o := choice.Objective; {
	case choice.Mechanism.Table() == nil:
	case o.Concentration != 0:
		w.add("concentration", num.Shortest(o.Concentration))
	default:
		w.add("accuracy", num.Shortest(o.Accuracy))
	}
	if p.TotalEpsilon != 0 {
		w.add("label-eps", num.Shortest(p.TotalEpsilon))
	}
	if p.Delta != 0 || private {
		w.add("delta", num.Shortest(p.Delta))
	}
	w.add("affected", strconv.Itoa(p.Affected))
	s.repeat(&w, among("neighbours"))
	if !choice.Frozen {
		w.add("slack", num.Shortest(choice.Slack))
	}
	s.labels(&w, r, choice)
	s.repeat(&w, among("records"))
	w.add("out", "labels.csv")
	return w
}

// ShellWords quotes arguments for a shell.
func ShellWords(args []string) []string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
				strings.ContainsRune("-_./,+=:%@", c))
		}) {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return words
}
