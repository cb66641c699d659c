package training

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/release"
)

// prepareFlags hold the public rules that turn rows of a table into records.
type prepareFlags struct {
	File       string `flag:"prepare" help:"file of the rules below for many columns (TOML, made by darrm train describe)"`
	Columns    []string
	AllBut     []string `flag:"all-but" help:"columns that are no features, separated by commas; '' is the one without a name"`
	Scale      []string `flag:"scale" help:"COLUMN=LOW:HIGH: public range of a number, which is cut to it and mapped to [-1,1]; of several columns as COLUMN,COLUMN…=LOW:HIGH"`
	Categories []string `flag:"categories" help:"COLUMN=WORD,WORD…: a feature for each word; other words have none of them. Of the response: the words of 0 and of 1"`
	Fill       []string `flag:"fill" help:"COLUMN=VALUE: what stands in for a blank cell, or the word missing for a feature of its own; of several columns as COLUMN,COLUMN…=VALUE"`
	center     string
}

func (f *prepareFlags) register(c *cobra.Command) {
	cli.Register(c, f)
	cli.TakesFile(c, "prepare", "toml")
	c.Flags().StringSliceVar(&f.Columns, "columns", nil,
		"columns of the table that are features (default: all but the response)")
	cli.Enum(c, &f.center, "center",
		"number of a range that becomes 0: its \"middle\", or \"zero\" to keep 0 at 0 where the range has it, for "+
			"tables most of whose cells are 0, such as counts of words (default middle)", "middle", prepare.Zero)
	cli.ExcludeEach(c, "the file names the columns", "prepare", "columns", "all-but")
	cli.Exclude(c, "", "columns", "all-but")
}

// stated reports whether there is a rule.
func (f *prepareFlags) stated() bool {
	return f.File != "" || f.Columns != nil || f.AllBut != nil || f.Scale != nil ||
		f.Categories != nil || f.Fill != nil || f.center != ""
}

// onlyTables refuses rules for files without named columns.
func (f *recordFlags) onlyTables(path string) error {
	switch {
	case f.isTable(path):
	case f.Response != "":
		return cli.Usagef("--response goes with tables: %s is read as %s (--data-format)", path, f.formatOf(path))
	case f.stated():
		return cli.Usagef("--prepare, --columns, --all-but, --scale, --categories, --fill and --center go with "+
			"tables: %s is read as %s (--data-format)", path, f.formatOf(path))
	}
	return nil
}

// rules returns the rules of the file and of the flags.
func (f *recordFlags) rules(c *cobra.Command, a *cli.App) (r prepare.Rules, err error) {
	if f.File != "" {
		if r, err = readRules(c, a, f.File); err != nil {
			return r, err
		}
	}
	if f.Columns != nil || f.AllBut != nil {
		r.Only = f.Columns
		for _, given := range f.AllBut {
			names := []string{""} // of the column without a name
			if given != "" {
				if names, err = list(given); err != nil {
					return r, cli.Usagef("--all-but = %q, but it must be COLUMN,COLUMN…", given)
				}
			}
			r.AllBut = append(r.AllBut, names...)
		}
	}
	if f.Response != "" {
		r.Response = f.Response
	}
	r.Weight = f.weights
	if r.Center = f.center; r.Center == "middle" {
		r.Center = ""
	}
	return r, f.prepareFlags.add(&r)
}

func readRules(c *cobra.Command, a *cli.App, path string) (r prepare.Rules, err error) {
	in, err := a.Open(c.Context(), path, prepare.MaxFile)
	if err != nil {
		return r, err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err == nil {
		r, err = prepare.ParseFile(b)
	}
	if err != nil {
		err = release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	return r, err
}

// add adds the rules of the flags.
func (f *prepareFlags) add(r *prepare.Rules) error {
	for _, rule := range []struct {
		flag, form string
		values     []string
		set        func(c *prepare.Column, value string) (twice bool, err error)
	}{
		{"scale", "COLUMN=LOW:HIGH", f.Scale, setScale},
		{"categories", "COLUMN=WORD,WORD…", f.Categories, setCategories},
		{"fill", "COLUMN=VALUE", f.Fill, func(c *prepare.Column, value string) (bool, error) {
			twice := c.Fill != nil
			c.Fill = &value
			return twice, nil
		}},
	} {
		for _, given := range rule.values {
			names, value, ok := strings.Cut(given, "=")
			columns := []string{names}
			var err error
			if rule.flag != "categories" { // a list of several columns would be a list of one's words
				columns, err = list(names)
			}
			if !ok || names == "" || err != nil {
				return cli.Usagef("--%s = %q, but it must be %s", rule.flag, given, rule.form)
			}
			for _, name := range columns {
				var wrong error
				err := r.Add(name, func(c *prepare.Column) (twice bool) {
					twice, wrong = rule.set(c, value)
					return twice
				})
				if wrong != nil && rule.flag == "scale" && strings.Contains(value, "=") {
					return cli.Usagef("--scale = %q, but each range has a --scale of its own", given)
				}
				if wrong != nil {
					return cli.Usagef("--%s = %q, but it must be %s", rule.flag, given, rule.form)
				}
				if err != nil {
					return cli.Usagef("--%s: %w", rule.flag, err)
				}
			}
		}
	}
	return nil
}

func setScale(c *prepare.Column, value string) (twice bool, err error) {
	low, high, ok := strings.Cut(value, ":")
	var r prepare.Range
	for i, end := range []string{low, high} {
		if r[i], err = data.ParseNumber(end); err != nil || !ok {
			return false, cli.Usagef("no range")
		}
	}
	twice, c.Scale = c.Scale != nil, &r
	return twice, nil
}

func setCategories(c *prepare.Column, value string) (twice bool, err error) {
	twice = c.Categories != nil
	c.Categories, err = list(value)
	return twice, err
}

// list reads words with commas between them, of which those with commas are in quotes.
func list(s string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(s))
	r.TrimLeadingSpace = true
	return r.Read()
}

// earlyTable is a table that was opened for the names of its columns.
type earlyTable struct {
	path    string
	table   *data.Table
	prepare *prepare.Map
	close   func() error
}

// openEarly opens a table for its columns, which are public.
func (f *recordFlags) openEarly(c *cobra.Command, a *cli.App, path string, o reading) (*prepare.Map, error) {
	if err := f.onlyHeaders(path); err != nil {
		return nil, err
	}
	rules, err := f.rules(c, a)
	if err != nil {
		return nil, err
	}
	if rules.Response == "" && o.responses && o.prepare == nil {
		return nil, cli.Usagef("--response must be given: %s names no column of responses", f.File)
	}
	if o.columns != nil {
		rules.Only = o.columns
	}
	in, err := f.openRecords(c, a, path)
	if err != nil {
		return nil, err
	}
	e := &earlyTable{path: path, prepare: o.prepare, close: in.Close}
	if e.table, err = f.table(in, path); err == nil && e.prepare == nil {
		e.prepare, err = rules.Map(e.table)
	}
	if err != nil {
		in.Close()
		return nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	f.early = e
	return e.prepare, nil
}

// needsBound names the columns that leave records without a bound.
func needsBound(m *prepare.Map) error {
	var names, plain []string
	for _, column := range m.Features {
		if column.Scale == nil && column.Categories == nil {
			names, plain = append(names, fmt.Sprintf("%q", column.Name)), append(plain, column.Name)
		}
	}
	once := ""
	if most := 100; len(plain) > most {
		once = " (of many columns: --prepare)"
	} else if len(plain) > 1 {
		var b strings.Builder
		w := csv.NewWriter(&b) // as list reads it
		if w.Write(plain) == nil {
			w.Flush()
			once = "; of all of them at once, --scale '" + strings.TrimSuffix(b.String(), "\n") + "=LOW:HIGH'"
		}
	}
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return cli.Usagef("--scale or --categories must be given for %s, or --radius: a record needs a "+
		"public bound%s", strings.Join(names, ", "), once)
}

// needsRange names the response of a linear task, which has no range.
func needsRange(m *prepare.Map) error {
	return cli.Usagef("--scale must be given for the response %q: a linear model of numbers needs "+
		"their public range", m.Response.Name)
}
