package mutant

import (
	"encoding/json"
	"slices"
	"strings"
)

// Outcome is what became of the tests and examples of a run, by their names without subtests.
type Outcome struct {
	Passed, Failed []string
	// Skipped tests decide nothing: those of which a part was skipped and none passed are among them.
	Skipped []string
	Parts   map[string][]string // subtests that passed, by the whole test
	Seconds map[string]float64  // that the tests and subtests took
	Text    string              // what was printed
}

// Read reads the stream of go test -json or go tool test2json of one package. A line that is no
// event, as the compiler's are, is text. A test that began and did not end has failed.
func Read(stream []byte) Outcome {
	o := Outcome{Parts: map[string][]string{}, Seconds: map[string]float64{}}
	var text strings.Builder
	ends := map[string]string{}                             // of whole tests, "run" until there is one
	skipped, passed := map[string]bool{}, map[string]bool{} // of which a subtest did so
	for line := range strings.Lines(string(stream)) {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			text.WriteString(line)
			continue
		}
		text.WriteString(e.Output)
		whole, part, sub := strings.Cut(e.Test, "/")
		switch {
		case e.Test == "":
		case sub:
			skipped[whole] = skipped[whole] || e.Action == "skip"
			passed[whole] = passed[whole] || e.Action == "pass"
			if e.Action == "pass" && !strings.Contains(part, "/") {
				o.Parts[whole] = append(o.Parts[whole], e.Test)
				o.Seconds[e.Test] = e.Elapsed
			}
		case slices.Contains([]string{"run", "pass", "fail", "skip"}, e.Action):
			ends[whole] = e.Action
			o.Seconds[whole] = e.Elapsed
		}
	}
	for name, end := range ends {
		switch {
		case end == "skip", end == "pass" && skipped[name] && !passed[name]:
			o.Skipped = append(o.Skipped, name)
		case end == "pass":
			o.Passed = append(o.Passed, name)
		default:
			o.Failed = append(o.Failed, name)
		}
	}
	for _, names := range [][]string{o.Passed, o.Failed, o.Skipped} {
		slices.Sort(names)
	}
	o.Text = text.String()
	return o
}
