package training

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/release"
)

// newDescribe makes the command that writes a file of rules to be filled in.
func newDescribe(a *cli.App) *cobra.Command {
	var f recordFlags
	var schema bool
	var out string
	c := &cobra.Command{
		Use:   "describe FILE --public-schema",
		Short: "Write a file of rules for the columns of a table, to be filled in",
		Long: `Write a file of rules for the columns of a table, for --prepare of the other commands:
which columns are features, the range of a number, the words of a category, what stands
in for a blank cell. Ranges and words are for you to fill in, from what is public
knowledge: the file is made of the names of the columns alone, and no cell is looked at.
With --no-header the names are the columns' numbers.

--public-schema states that these names are public. A model shows them.`,
		Example: `  darrm train describe people.csv --public-schema --response income -o prepare.toml
  darrm train convex --private people.csv --prepare prepare.toml --task logistic --set l2:10 --eps 1 --delta 1e-6`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.Require(c, "public-schema"); err != nil {
				return err
			}
			if !f.isTable(args[0]) {
				return cli.Usagef("%s is read as %s, which has no columns with names (--data-format)", args[0],
					f.formatOf(args[0]))
			}
			if err := f.onlyHeaders(args[0]); err != nil {
				return err
			}
			if err := cli.CheckFiles(out, release.File{Name: "FILE", Path: args[0]}); err != nil {
				return err
			}
			s, err := f.schema(c, a, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.DeliverJSON(out, s)
			}
			return a.Deliver(out, func(w io.Writer) error { return prepare.Describe(w, s, f.Response) })
		},
	}
	fl := c.Flags()
	fl.BoolVar(&schema, "public-schema", false,
		"states that the names and declared types of the columns are public")
	f.DataFormat = "auto"
	cli.Register(c, &f, "data-format", "response", "no-header")
	fl.Lookup("data-format").Usage = "one of " + strings.Join(tableFormats, ", ") + "; auto goes by the name"
	cli.OneOf(c, "data-format", append([]string{"auto"}, tableFormats...)...)
	fl.StringVarP(&out, "out", "o", "", "write the rules to this file instead of stdout")
	cli.TakesFile(c, "out", "toml")
	c.ValidArgsFunction = cli.CompleteFiles(cli.RecordFiles...)
	return c
}

// schema returns the names of a table's columns, or without a header their numbers, which the first
// row is counted for. It looks at no cell.
func (f *recordFlags) schema(c *cobra.Command, a *cli.App, path string) (prepare.Schema, error) {
	in, err := f.openRecords(c, a, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	t, err := f.table(in, path)
	if err != nil {
		return nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	var s prepare.Schema
	rules := prepare.Rules{Response: f.Response} // whose columns must be there
	for _, name := range t.Columns {
		s = append(s, prepare.SchemaColumn{Name: name, Type: prepare.TypeOf(t.Kinds[name])})
		if prepare.Identifier(name) {
			rules.AllBut = append(rules.AllBut, name)
		}
	}
	if _, err = rules.Map(t); err != nil {
		return nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	return s, nil
}
