package label

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/commandline"
)

// outcome is the printed form of a plan.
type outcome struct {
	r        plan.Request
	p        *plan.Plan
	report   *plan.Report
	commands [][]string // of the first choice, in the order in which they are run
	numbers  []plan.Numbered
}

func (f *planFlags) outcome(c *cobra.Command, r plan.Request, p *plan.Plan,
	files []string) (*outcome, error) {
	o := &outcome{r: r, p: p, report: plan.NewReport(r, p, plan.ReportOptions{
		ReachStated: c.Flags().Changed("affected") || c.Flags().Changed("data"), Records: f.charge.Records,
		Classes: f.classes, Labels: f.read.options.Labels,
		Name: func(parameter string) string { return cli.FlagOf(check.Parameter(parameter)) },
	})}
	if f.sampled != r.Labels() { // the plan is for another number of labels than the files have
		files = nil
	}
	var err error
	stated := f.stated(c, files)
	if f.sampled != r.Labels() { // the plan's number, stated or chosen
		stated.Flags["queries"] = []string{strconv.Itoa(r.Questions())}
	}
	o.commands, err = stated.Complete(o.report, r, p)
	return o, err
}

// stated returns what the flags state, for the commands that carry out the plan.
func (f *planFlags) stated(c *cobra.Command, files []string) commandline.Stated {
	_, reading := readingCommand()
	s := commandline.Stated{
		Flags: map[string][]string{}, Files: files, CacheDir: f.problem.CacheDir,
		Reading: func(flag string) bool { return reading.Flags().Lookup(flag) != nil },
	}
	c.Flags().Visit(func(flag *pflag.Flag) { s.Flags[flag.Name] = valuesOf(flag) })
	return s
}

func (o *outcome) render(w *terminal.Page) error {
	r, best := o.r, o.p.Choices[0]
	if r.Several.Labels > 0 {
		w.Fact("plan:", fmt.Sprintf("%s, within %v; %v", num.Count(r.Questions(), "question"), r.Budget, r.Several))
		w.Fact("charged as:", fmt.Sprintf("%d answers, %d for each question, whichever of its labels are asked",
			r.Queries, r.Several.PerQuestion(r.Reach(r.K))))
	} else {
		threshold := ""
		if r.Several.YesFrom != "" {
			threshold = "; " + r.Several.String()
		}
		w.Fact("plan:", fmt.Sprintf("%s of %d classes, within %v%s", num.Count(r.Queries, "label"), r.Classes, r.Budget, threshold))
	}
	promise := "promise nothing themselves"
	if o.report.PerTeacher != nil {
		promise = fmt.Sprintf("%s, each (%v, %v)-differentially private", o.report.Teachers,
			r.Each().Epsilon, r.Each().Delta)
	}
	w.Fact("teachers:", fmt.Sprintf("K = %d%s, %s; one record reaches at most %d (neighbours %s)", r.K,
		publicVotes(r.Several), promise, r.Reach(r.K), r.Neighbours))
	if err := renderNumbers(w, o.numbers, r.Queries); err != nil {
		return err
	}
	w.Fact("use:", best.Title())
	if best.Mechanism.Together().Most == 0 {
		w.Fact("one label:", best.Mechanism.PerAnswer().Short()+"-DP")
	}
	w.Fact("all labels:", fmt.Sprintf("%s-DP, by %s", best.Total.Short(), best.Rule))
	w.Fact("agreement:", expected(best, r.Votes))
	if worth := best.Worth.Sentence(best.Agreement); worth != "" {
		w.Fact("worth:", worth)
	}
	if best.Bound > 0 && best.Bound < 1 {
		w.Fact("at most:", fmt.Sprintf("%s is what any one table that is used for %s can give",
			num.PercentUp(best.Bound), num.All(r.Labels(), "label")))
	}
	for _, n := range o.report.Notes {
		w.Fact("note:", n)
	}
	for _, n := range o.report.Warnings {
		w.Fact("WARNING:", n)
	}
	w.Printf("\nWhat fits the budget, the best first:\n\n")
	header, rows := o.p.Table()
	if always := o.report.Always; always != nil {
		class := always.Class
		if always.Cost != nil {
			class += fmt.Sprintf(" (costs %.4g)", *always.Cost)
		}
		rows = append(rows, []string{"always " + class, "0", "0",
			strings.TrimSuffix(num.Percent(always.Agreement), " %"), "0", "0", "0"})
	}
	if err := w.Table(terminal.TextTable{Header: header, Rows: rows}); err != nil {
		return err
	}
	for _, x := range o.p.Refused {
		w.Hang("  ", "    ", fmt.Sprintf("not %s: %v", x.Name, x.Err))
	}
	w.Printf("\nCost of %s by the first, by every bound:\n\n", num.All(r.Labels(), "label"))
	rows = nil
	for _, b := range best.Bounds.Bounds {
		holds := "holds"
		if !b.Holds {
			holds = "does not hold"
		}
		rows = append(rows, []string{string(b.Method), fmt.Sprintf("%d %s", b.Count, b.Of),
			num.Outward(b.Cost.Epsilon, 6, true), num.Outward(b.Cost.Delta, 6, true), holds})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"bound", "composed", "ε", "δ", ""},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\nRun:\n\n")
	for _, args := range o.commands {
		w.Printf("%s\n", strings.Join(shellLines(args, w.Width), " \\\n"))
	}
	return nil
}

// shellLines breaks a command into lines of at most width columns, where its words allow it. A
// flag stays beside its value.
func shellLines(args []string, width int) (lines []string) {
	line := "  darrm"
	words := commandline.ShellWords(args[1:])
	for i := 0; i < len(words); i++ {
		unit := words[i]
		if strings.HasPrefix(unit, "--") && !strings.Contains(unit, "=") {
			i++
			unit += " " + words[i]
		}
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(unit)+len(` \`) > width {
			lines, line = append(lines, line), "   "
		}
		line += " " + unit
	}
	return append(lines, line)
}
