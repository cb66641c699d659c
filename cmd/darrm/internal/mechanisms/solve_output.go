package mechanisms

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// table reports whether the table goes to a file.
func (f solveFiles) table() bool { return f.out != "" && f.out != "-" }

// solveOutput is an encoded table. Encoding takes seconds for large tables, so it is done
// before an interruption.
type solveOutput struct {
	table   release.Table
	encoded []byte // nil where nothing asks for it
	stdout  []byte
	picture []byte // of --plot
	undrawn error  // why there is no picture
	gaps    []solve.Progress
	unsaved error // the cache could not store the table
}

// prepare encodes the table and its picture. origin describes how the table was obtained.
func (f solveFiles) prepare(ctx context.Context, a *cli.App, t release.Table,
	origin string) (*solveOutput, error) {
	o := &solveOutput{table: t}
	toStdout := a.JSON || f.out == "-"
	var b bytes.Buffer
	if toStdout || f.table() {
		if err := o.table.Encode(&b); err != nil {
			return nil, err
		}
		o.encoded = b.Bytes()
	}
	if f.plot != "" {
		o.picture, o.undrawn = drawTable(ctx, t, f.plot)
	}
	if toStdout {
		o.stdout = o.encoded
		return o, nil
	}
	var page bytes.Buffer
	w := a.Page(&page)
	if err := render(w, t); err != nil {
		return nil, err
	}
	w.Text("  ", origin)
	o.stdout = page.Bytes()
	return o, nil
}

// drawTable returns the picture of a table in the format of a file's name.
func drawTable(ctx context.Context, t release.Table, file string) ([]byte, error) {
	var sheet figure.Sheet
	var err error
	switch {
	case t.Answers != nil:
		sheet, err = answersPicture(ctx, t.Answers)
	case t.Plurality != nil:
		sheet, err = marginPicture(t.Plurality)
	default:
		sheet, err = gammaPicture(t.Gamma)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	format, _ := figure.Format(file)
	err = sheet.Encode(&b, format)
	return b.Bytes(), err
}

// deliver writes the files and the result. After an interruption it leaves stdout empty if a file
// has the table.
func (o *solveOutput) deliver(a *cli.App, to solveFiles, interrupted bool) error {
	if to.table() {
		if err := a.Deliver(to.out, cli.Bytes(o.encoded)); err != nil {
			return err
		}
	}
	if to.plot != "" {
		if o.undrawn != nil {
			return o.undrawn
		}
		if err := a.DeliverTo("plot", to.plot, cli.Bytes(o.picture)); err != nil {
			return err
		}
	}
	if to.plotGap != "" && len(o.gaps) == 0 {
		a.Say("darrm: --plot-gap: nothing was drawn, since nothing was searched for (--no-cache " +
			"solves again)")
	} else if err := picture.Deliver(a, "plot-gap", to.plotGap, func() (figure.Sheet, error) {
		return gapPicture(o.table.Plurality, o.gaps)
	}); err != nil {
		return err
	}
	if interrupted && to.table() {
		return nil
	}
	return a.Deliver("", cli.Bytes(o.stdout))
}

// write delivers a table that nothing interrupted, and returns what the cache could not keep.
func (f solveFiles) write(c *cobra.Command, a *cli.App, t release.Table, origin string, unsaved error) error {
	made, err := f.prepare(c.Context(), a, t, origin)
	if err != nil {
		return err
	}
	if err := made.deliver(a, f, false); err != nil {
		return err
	}
	return unsaved
}
