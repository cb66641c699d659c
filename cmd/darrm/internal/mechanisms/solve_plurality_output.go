package mechanisms

import (
	"bytes"
	"io"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// pluralityFiles are the files that solve writes for many classes, "" for none.
type pluralityFiles struct{ out, plot, plotGap string }

// table reports whether the table goes to a file.
func (f pluralityFiles) table() bool { return f.out != "" && f.out != "-" }

// pluralityOutput is an encoded table. Encoding takes seconds for large tables, so it is done
// before an interruption.
type pluralityOutput struct {
	table   *plurality.Table
	encoded []byte // nil where nothing asks for it
	stdout  []byte
	picture []byte // of --plot
	gaps    []solve.Progress
	unsaved error // the cache could not store the table
}

// prepare encodes the table and its picture. origin describes how the table was obtained.
func (f pluralityFiles) prepare(a *cli.App, t *plurality.Table,
	origin string) (*pluralityOutput, error) {
	o := &pluralityOutput{table: t}
	toStdout := a.JSON || f.out == "-"
	if toStdout || f.table() {
		var b bytes.Buffer
		if err := t.Encode(&b); err != nil {
			return nil, err
		}
		o.encoded = b.Bytes()
	}
	if f.plot != "" {
		sheet, err := marginPicture(t)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		format, _ := figure.Format(f.plot)
		if err := sheet.Encode(&b, format); err != nil {
			return nil, err
		}
		o.picture = b.Bytes()
	}
	if toStdout {
		o.stdout = o.encoded
		return o, nil
	}
	var b bytes.Buffer
	w := &terminal.Page{Writer: &b, Width: terminal.Width(a.Out)}
	if err := renderPlurality(w, t); err != nil {
		return nil, err
	}
	w.Text("  ", origin)
	o.stdout = b.Bytes()
	return o, nil
}

// deliver writes the files and the result. After an interruption it leaves stdout empty if a file
// has the table.
func (o *pluralityOutput) deliver(a *cli.App, to pluralityFiles, interrupted bool) error {
	raw := func(data []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}
	}
	if to.table() {
		if err := a.Deliver(to.out, raw(o.encoded)); err != nil {
			return err
		}
	}
	if to.plot != "" {
		if err := a.DeliverTo("plot", to.plot, raw(o.picture)); err != nil {
			return err
		}
	}
	switch {
	case to.plotGap != "" && len(o.gaps) == 0:
		a.Say("darrm: --plot-gap: nothing was drawn, since nothing was searched for (--no-cache " +
			"solves again)")
	case to.plotGap != "":
		sheet, err := gapPicture(o.table, o.gaps)
		if err != nil {
			return err
		}
		if err := picture.DeliverPlotTo(a, "plot-gap", to.plotGap, sheet); err != nil {
			return err
		}
	}
	if interrupted && to.table() {
		return nil
	}
	return a.Deliver("", raw(o.stdout))
}
