package darrm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/votes"
)

// What the README's program, with a ledger in a file, takes from elsewhere, and how large it is at
// most. Solvers take gonum, tables strict JSON, names of classes Unicode's normal form; Parquet,
// compression, databases and what the commands need are linked by those who import them.
var (
	modules = []string{"github.com/go-json-experiment/json", "golang.org/x/sync", "golang.org/x/sys",
		"golang.org/x/text", "gonum.org/v1/gonum"}
	largest int64 = 6_650_000 // bytes, stripped, for linux/amd64
)

func TestWeight(t *testing.T) {
	const program = "./examples/first"
	list := exec.Command("go", "list", "-tags=", "-deps", "-f",
		"{{if not .Standard}}{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}{{end}}", program)
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))); !slices.Equal(got,
		modules) {
		t.Errorf("it links %q, not %q", got, modules)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the size is that of another system")
	}
	bin := filepath.Join(t.TempDir(), "first")
	build := exec.Command("go", "build", "-tags=", "-ldflags=-s -w", "-o", bin, program)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d modules", info.Size(), len(modules))
	if info.Size() > largest {
		t.Errorf("it has %d bytes, more than %d", info.Size(), largest)
	}
}

// A program that does not link a compression says which import does.
func TestCompressionIsLinkedByImport(t *testing.T) {
	o := votes.Options{Name: "votes.csv", Compression: votes.CompressionGzip}
	_, err := votes.NewReader(t.Context(), bytes.NewReader([]byte("\x1f\x8b")), o)
	if err == nil || !strings.Contains(err.Error(), "imports votes/compress") {
		t.Errorf("%v", err)
	}
	_, err = votes.CreateLabels(filepath.Join(t.TempDir(), "labels.csv.zst"),
		votes.LabelOptions{Classes: []string{"0", "1"}})
	if err == nil || !strings.Contains(err.Error(), "imports votes/compress") {
		t.Errorf("%v", err)
	}
}
