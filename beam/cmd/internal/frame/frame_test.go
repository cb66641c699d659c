package frame

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

// ours is a group of flags, alone.
func ours(t *testing.T) (location *string, force *bool) {
	old := groups
	t.Cleanup(func() { groups = old })
	groups = nil
	g := Group("Ours")
	return g.String("ledger", "", "a `file`"), g.Bool("force", false, "a switch")
}

// The command's own flags are read beside the SDK's, and do not reach the options of a pipeline,
// which runners show.
func TestOwnFlagsStayHere(t *testing.T) {
	ledger, force := ours(t)
	rest, err := parse("x",
		strings.Fields("--ledger postgres://me:geheim@host/db --force -job_name spring --parallelism=3 "+
			"stray --force"))
	if err != nil || !slices.Equal(rest, []string{"stray", "--force"}) ||
		*ledger != "postgres://me:geheim@host/db" || !*force {
		t.Errorf("%q, %v, %q, %t", rest, err, *ledger, *force)
	}
	if !Set("ledger") || !Set("force") || Set("job_name") || Set("none") {
		t.Error("what is set is not told")
	}
	beam.PipelineOptions.LoadOptionsFromFlags(nil)
	options := beam.PipelineOptions.Export().Options
	if options["job_name"] != "spring" || options["parallelism"] != "3" {
		t.Errorf("the SDK's flags do not reach it: %q", options)
	}
	for name, value := range options {
		if name == "ledger" || name == "force" || strings.Contains(value, "geheim") {
			t.Errorf("the pipeline has --%s %s", name, value)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	ours(t)
	for args, want := range map[string]string{
		"--none": "not defined: --none", "--ledger": "needs an argument: --ledger",
		"--parallelism x": "for flag --parallelism",
	} {
		var usage *release.UsageError
		if _, err := parse("x", strings.Fields(args)); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if _, err := parse("x", []string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("%v", err)
	}
}

// The help explains the command's own flags, and names the SDK's behind them. Each of the SDK's is
// there, but those that no runner honours: a flag that a new SDK brings must be judged.
func TestHelp(t *testing.T) {
	ours(t)
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		writeHelp(&terminal.Page{Writer: &b, Width: width}, "x", "Do a thing.", "--ledger FILE")
		own, sdks, ok := strings.Cut(b.String(), "Flags of Apache Beam")
		if !ok || !strings.Contains(own, "  --ledger file\n      a file\n") ||
			!strings.Contains(own, "--worker_binary") {
			t.Fatalf("the help is\n%s", b.String())
		}
		refused := strings.Fields(
			"async dry_run execute_async template_location transform_name_mapping update " +
				"control_endpoint id logging_endpoint options semi_persist_dir worker")
		flag.CommandLine.VisitAll(func(f *flag.Flag) {
			listed := strings.Contains(strings.ReplaceAll(sdks, "\n", " ")+" ", " --"+f.Name+" ")
			if !strings.HasPrefix(f.Name, "test.") && listed == slices.Contains(refused, f.Name) {
				t.Errorf("--%s of the SDK: listed %t", f.Name, listed)
			}
			if f.Usage != "" && strings.Contains(b.String(), f.Usage) {
				t.Errorf("--%s of the SDK is explained", f.Name)
			}
		})
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(width, 80) {
				t.Errorf("%d columns at %d: %s", n, width, line)
			}
		}
	}
}
