package picture

import (
	"io"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/figure"
)

// CheckPlot refuses a value of --plot whose ending names no format; "" asks for no picture.
func CheckPlot(file string) error { return CheckPicture("plot", file) }

// CheckPicture checks the value of another flag as CheckPlot does.
func CheckPicture(flag, file string) error {
	if _, ok := figure.Format(file); file != "" && !ok {
		return cli.Usagef("%s = %q, but the name must end in "+figure.Formats, flag, file)
	}
	return nil
}

// Deliver draws a picture into the file of a flag, in the format of its name; no picture where the file is "".
func Deliver(a *cli.App, flag, file string, draw func() (figure.Sheet, error)) error {
	if file == "" {
		return nil
	}
	s, err := draw()
	if err != nil {
		return err
	}
	format, _ := figure.Format(file)
	return a.DeliverTo(flag, file, func(w io.Writer) error { return s.Encode(w, format) })
}
