package frame

import (
	"flag"
	"regexp"
	"strings"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release/exitcode"
)

// elsewhere explains in the help how workers elsewhere get this program.
const elsewhere = `--runner names the runner: local (the default), flink, spark, universal or dataflow. With the local one
the workers are in this process, unless --environment_type is docker or process. Workers elsewhere need --temp and
--key-dir. They run this program too: the SDK sends them the file that --worker_binary names, which is this program,
built without cgo for the workers' system. Without that flag the SDK builds it with "go build" for linux/amd64, which
takes Go and this program's sources where it was built.`

// workerBinary is the command that builds that file.
const workerBinary = `CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -o worker ./cmd/%s`

// flagValue is a flag with its value, which stay on one line.
var flagValue = regexp.MustCompile(`(--[\w-]+) ([^-\s])`)

// writeHelp writes what the program does, its own flags with their explanations, and the SDK's by
// name.
func writeHelp(w *terminal.Page, program, about, example string) {
	w.Printf("Usage:\n")
	w.Hang("  ", "      ", program+" [flags]")
	const space = "␠" // no break
	lines := terminal.Fold(program+" "+flagValue.ReplaceAllString(example, "$1"+space+"$2"), w.Width-6)
	w.Printf("\nExample:\n  %s\n\n", strings.ReplaceAll(strings.Join(lines, " \\\n    "), space, " "))
	w.Text("", about)
	for _, g := range groups {
		w.Printf("\n%s:\n", g.Name())
		g.VisitAll(func(f *flag.Flag) {
			value, text := flag.UnquoteUsage(f)
			w.Printf("%s\n", strings.TrimRight("  --"+f.Name+" "+value, " "))
			if d := f.DefValue; d != "" && d != "0" && d != "0s" && d != "false" {
				text += " (default " + d + ")"
			}
			w.Hang("      ", "      ", text)
		})
	}
	w.Printf("\n")
	w.Text("", elsewhere)
	w.Printf("\n  "+workerBinary+"\n", program)
	w.Printf("\nFlags of Apache Beam's Go SDK, whose documentation explains them:\n")
	titles, names := darrmbeam.SDKFlags()
	for i, title := range titles {
		w.Hang("  ", "      ", title+": --"+strings.Join(names[i], " --"))
	}
	w.Printf("%s\n", exitcode.Status)
}
