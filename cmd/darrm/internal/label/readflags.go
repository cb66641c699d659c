package label

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// readFlags hold the format and the layout of files of votes.
type readFlags struct {
	classes, voteColumns, queryIDs string
	class                          []string // instead of classes, one by one
	classesFrom                    string   // a file of them
	numClasses                     int      // instead of names
	labels                         string   // of a question
	numLabels                      int      // instead of their names
	same                           []string
	options                        votes.Options
}

func (f *readFlags) register(c *cobra.Command) {
	fl := c.Flags()
	read := formats(false)
	cli.Enum(c, &f.options.Format, "format", check.Alternatives(read)+"; auto goes by the name",
		append([]votes.Format{votes.FormatAuto}, read...)...)
	cli.Enum(c, &f.options.Compression, "compression",
		"\"none\", \"gzip\" or \"zstd\"; auto goes by the name (.gz, .zst)", votes.Compressions()...)
	cli.Enum(c, &f.options.Layout, "layout",
		"\"wide\": a column of votes per teacher; \"counts\": a column of counts per class; "+
			"\"long\": a row per vote, with --id-column, --teacher-column and --vote-column; "+
			"\"teachers\": a row of votes per teacher. Arrays (.npy, .npz) have no default, the "+
			"rest is wide", votes.Layouts()...)
	cli.Enum(c, &f.options.Header, "header",
		"whether the first row names the columns: \"auto\", \"yes\" or \"no\"", votes.HeaderModes()...)
	f.options.Separator = votes.DefaultSeparator
	cli.Register(c, &f.options, "id-column", "label-column", "votes-column", "vote-column", "teacher-column", "separator")
	fl.StringVar(&f.voteColumns, "vote-columns", "",
		"names or positions of the columns of votes in the teachers' order (counts: in the classes' "+
			"order), separated by commas; others are not read. Needed where neither their names (t1,t2,…) "+
			"nor --K say which they are")
	fl.StringVar(&f.queryIDs, "query-ids", "",
		"in the layout long, a file of all queries' ids, with or without votes: a CSV with "+
			"--id-column, or one id per line. A release and a plan are for these queries, and need --K")
	cli.TakesFile(c, "query-ids", "csv", "txt")
	f.registerVotes(c, "number of teachers, and of columns of votes beside id and label "+
		"(default: that of the table or the file)")
	f.registerLabels(c, "names of several yes/no labels, in order, separated by commas; a vote is a set of them: cells such as cat|dog, in the "+
		"layout long a row for each, in arrays a last dimension. From the task, never from the votes")
}

// registerLabels registers the flags of several labels of a question.
func (f *readFlags) registerLabels(c *cobra.Command, usage string) {
	fl := c.Flags()
	fl.StringVar(&f.labels, "labels", "", usage)
	fl.IntVar(&f.numLabels, "num-labels", 0,
		"number of labels, instead of --labels, where their names are the numbers from 0")
	cli.Register(c, &f.options, "most-yes", "yes-from")
	cli.Exclude(c, "the labels are stated once", labelFlags...)
	for _, name := range labelFlags {
		for _, class := range classFlags {
			cli.Exclude(c, "each label is a question of two classes, no and yes", name, class)
		}
	}
}

// labelFlags are the flags that state several labels of a question; one of them is given.
var labelFlags = []string{"labels", "num-labels"}

// prepareLabels checks the flags of registerLabels.
func (f *readFlags) prepareLabels(c *cobra.Command) error {
	o := &f.options
	if o.Labels = nil; !c.Flags().Changed("separator") {
		o.Separator = ""
	}
	if c.Flags().Changed("yes-from") && o.YesFrom == "" {
		return cli.Usagef("--yes-from must not be empty")
	}
	switch {
	case c.Flags().Changed("labels"):
		names, err := votes.ParseColumns(f.labels)
		if err != nil || len(names) < 2 {
			return &release.UsageError{Err: check.Want("labels", strconv.Quote(f.labels),
				"the names of at least two labels, in order, separated by commas; --num-labels is for those that are numbers")}
		}
		o.Labels = names
	case c.Flags().Changed("num-labels"):
		if f.numLabels < 2 || f.numLabels > check.MaxClasses {
			return &release.UsageError{Err: check.Wantf("num-labels", f.numLabels, "between 2 and %d", check.MaxClasses)}
		}
		o.Labels = votes.IntegerClasses(f.numLabels)
	default:
		return cli.Refuse(c, "goes with --labels", "most-yes", "separator")
	}
	if c.Flags().Changed("most-yes") && o.MostYes < 1 { // 0 would be all
		return &release.UsageError{Err: check.Wantf("most-yes", o.MostYes, "between 1 and the number of labels, %d",
			len(o.Labels))}
	}
	if c.Flags().Changed("separator") && o.Separator == "" {
		return cli.Usagef("--separator must not be empty")
	}
	return nil
}

// several returns what the flags state of several labels of a question, for teachers whose number may not be known yet.
func (f *readFlags) several() ensemble.Several { return release.SeveralOf(f.options) }

// classNames are the names of the classes of a label, which shares and costs are stated by: those of --classes, or of
// each label of a question with several.
func (f *readFlags) classNames() []string {
	return classNames(f.several(), f.options.Classes)
}

// tell states in r what the flags say of votes.
func (f *readFlags) tell(r *choose.Request) {
	r.K, r.Classes, r.Names = f.options.K, len(f.options.Classes), f.classNames()
	r.Missing, r.Several, r.Many.Labels = f.abstain(), f.several(), f.options.Labels
}

func classNames(s ensemble.Several, classes []string) []string {
	if s.Labels > 0 {
		return []string{"no", "yes"}
	}
	return classes
}

// registerVotes registers the flags of votes inside or outside of files: classes, missing votes,
// number of teachers.
func (f *readFlags) registerVotes(c *cobra.Command, usageK string) {
	fl := c.Flags()
	fl.StringVar(&f.classes, "classes", "0,1",
		"what a vote can be, in order, separated by commas; from the task, never from the votes")
	fl.StringArrayVar(&f.class, "class", nil,
		"one of the classes, where a name has a comma: repeated, in order, instead of --classes")
	fl.StringVar(&f.classesFrom, "classes-from", "",
		"a file of the classes' names, one per line, in order, instead of --classes; from the task too")
	cli.TakesFile(c, "classes-from", "txt")
	fl.StringArrayVar(&f.same, "same", nil,
		"CLASS=SPELLING: another spelling of a class in votes; =SPELLING: a spelling of a missing vote; repeated")
	fl.IntVar(&f.numClasses, "num-classes", 2,
		"number of classes, instead of --classes, where their names are the numbers from 0")
	cli.Enum(c, &f.options.Missing, "missing",
		"what a missing vote is: an \"error\"; no vote, \"abstain\", with --mechanism "+
			strings.Join(ensemble.MissingNames(), ", ")+
			" (default permute-and-flip); a fair \"coin\" over the classes, which is private if "+
			"silence is "+
			"part of the teacher's (ε,Δ) or depends on no data; or, with --labels, \"no\" to all of them",
		votes.MissingPolicies()...)
	cli.Exclude(c, "the classes are stated once", classFlags...)
	fl.IntVar(&f.options.K, "K", 0, usageK)
}

// classFlags are the flags that state the classes; one of them is given.
var classFlags = []string{"classes", "class", "classes-from", "num-classes"}

// statesClasses reports whether the classes are stated.
func statesClasses(c *cobra.Command) bool {
	return slices.ContainsFunc(classFlags, c.Flags().Changed)
}

// statesLabels reports whether several labels of a question are stated.
func statesLabels(c *cobra.Command) bool { return slices.ContainsFunc(labelFlags, c.Flags().Changed) }

// valuesOf returns the values of a flag that was given, of one that is repeated all of them.
func valuesOf(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok && f.Value.Type() == "stringArray" {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// prepare checks the flags, for the files of votes in paths.
func (f *readFlags) prepare(c *cobra.Command, paths []string) error {
	if f.classesFrom != "" {
		from, err := os.Stat(f.classesFrom)
		for _, path := range paths {
			if votes, err2 := os.Stat(path); err == nil && err2 == nil && os.SameFile(from, votes) {
				return cli.Usagef("--classes-from = %q is a file of votes: the classes come from the task, "+
					"never from the votes", f.classesFrom)
			}
		}
	}
	if err := f.prepareVotes(c); err != nil {
		return err
	}
	o := &f.options
	for flag, column := range map[string]*string{"id-column": &o.IDColumn, "label-column": &o.LabelColumn} {
		if c.Flags().Changed(flag) && *column == "" {
			*column = votes.Nameless
		}
	}
	var err error
	o.VoteColumns, err = votes.ParseColumns(f.voteColumns)
	if err = cmp.Or(err, o.CheckSeveral()); err != nil {
		return &release.UsageError{Err: err}
	}
	return f.readQueryIDs()
}

// readQueryIDs reads the ids of the layout long.
func (f *readFlags) readQueryIDs() error {
	if f.queryIDs == "" {
		return nil
	}
	if f.options.Layout != votes.LayoutLong {
		return cli.Usagef("--query-ids goes with --layout long")
	}
	in, err := os.Open(f.queryIDs)
	if err != nil {
		return &release.InputError{Err: err}
	}
	defer in.Close() // only read from
	if f.options.QueryIDs, err = votes.ReadQueryIDs(in, f.queryIDs, f.options.IDColumn); err != nil {
		return &release.InputError{Err: err}
	}
	return nil
}

// prepareVotes checks the flags of registerVotes.
func (f *readFlags) prepareVotes(c *cobra.Command) error {
	o := &f.options
	if c.Flags().Changed("num-classes") {
		if err := check.Classes(f.numClasses); err != nil {
			return &release.UsageError{Err: fmt.Errorf("--num-classes: %w", err)}
		}
		f.classes = strings.Join(votes.IntegerClasses(f.numClasses), ",")
	}
	switch {
	case f.classesFrom != "":
		in, err := os.Open(f.classesFrom)
		if err != nil {
			return &release.InputError{Err: err}
		}
		defer in.Close() // only read from
		if o.Classes, err = votes.ReadClasses(in, f.classesFrom); err != nil {
			return &release.InputError{Err: err}
		}
	case f.class != nil:
		o.Classes = f.class
	default:
		var err error
		if o.Classes, err = votes.ParseClasses(f.classes); err != nil {
			return &release.UsageError{Err: err}
		}
	}
	o.Same = nil
	for _, text := range f.same {
		s, err := votes.ParseSpelling(text)
		if err != nil {
			return &release.UsageError{Err: err}
		}
		o.Same = append(o.Same, s)
	}
	if err := f.prepareLabels(c); err != nil || len(o.Labels) > 0 {
		return err
	}
	if err := votes.CheckClasses(o.Classes, o.Same); err != nil {
		return &release.UsageError{Err: err}
	}
	return nil
}

// abstain reports whether a missing vote is none.
func (f *readFlags) abstain() bool { return f.options.Missing == votes.MissingAbstain }

// each passes the batches of the files to take, after begin. Missing votes have classes where they are a coin.
func (f *readFlags) each(ctx context.Context, a *cli.App, paths []string, begin func(*votes.Reader) error,
	take func(*votes.Batch) error) error {
	r, err := f.open(ctx, a.In, paths)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := begin(r); err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	show := bar.Rows("reading")
	for b, err := range r.Batches() {
		if err != nil {
			return release.Unreadable(ctx, err)
		}
		for i, missing := range b.Missing {
			if f.options.Missing != votes.MissingCoin {
				break
			}
			if err := ensemble.Complete(b.First+int64(i), b.Row(i), missing); err != nil {
				return err
			}
		}
		if err := take(b); err != nil {
			return err
		}
		b.Release()
		show(r.Progress())
	}
	return nil
}

// open opens the files as one stream.
func (f *readFlags) open(ctx context.Context, stdin io.Reader,
	paths []string) (*votes.Reader, error) {
	o := f.options
	o.Stdin = stdin
	r, err := votes.Open(ctx, o, paths...)
	return r, release.Unreadable(ctx, err)
}

// formats returns the formats in which votes are read, or labels are written.
func formats(labels bool) (list []votes.Format) {
	for _, f := range votes.Formats() {
		if f.Labels || !labels {
			list = append(list, f.Name)
		}
	}
	return list
}

// formatsSentence lists the formats of files of votes for a command's help.
func formatsSentence() string {
	var titles []string
	for _, f := range votes.Formats() {
		titles = append(titles, f.Title)
	}
	return "Files are " + enumerate(titles, "or") + ", plain or compressed; arrays need --layout."
}

// enumerate joins two or more words as a sentence does: "a, b or c".
func enumerate(words []string, or string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + or + " " + words[last]
}

// publicVotes says how many public votes each label has beside those of the teachers; "" for none.
func publicVotes(s ensemble.Several) string {
	switch no, yes := s.Public(); {
	case yes > 0:
		return fmt.Sprintf(" and %d public votes for yes", yes)
	case no > 0:
		return fmt.Sprintf(" and %d public votes for no", no)
	}
	return ""
}
