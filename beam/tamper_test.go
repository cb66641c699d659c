package darrmbeam

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/release"
)

// swap puts the content of one file into another one's place.
func swap(t testing.TB, from, to string) {
	t.Helper()
	write(t, to, must.Get(os.ReadFile(from))(t))
}

// flip changes a bit of a file, at a byte counted from its end.
func flip(t testing.TB, path string, fromEnd int) {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	b[len(b)-fromEnd] ^= 1
	write(t, path, b)
}

// behind calls do with the job's own directory behind the n-th pipeline, from 1.
func behind(t testing.TB, e *Engine, n int, do func(dir string)) {
	t.Helper()
	run, ran := e.Run, 0
	e.Run = func(ctx context.Context, p *beam.Pipeline) error {
		err := run(ctx, p)
		if ran++; ran == n {
			found := must.Get(filepath.Glob(filepath.Join(e.Temp, "darrm-beam-*")))(t)
			if len(found) != 1 {
				t.Fatalf("directories %q", found)
			}
			do(found[0])
		}
		return err
	}
}

// Who may write to the temporary directory, and has not the key, puts no label, number of queries
// or finding of his own there: not one bit, and no file of the same job in another one's place.
// What is found of the votes is found before the charge.
func TestTamperedFilesOfAJob(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	ids := func(dir string) []string { return must.Get(filepath.Glob(at(dir, "ids-*")))(t) }
	for name, tt := range map[string]struct {
		pipeline int
		do       func(dir string)
	}{
		"a label": {2, func(dir string) { flip(t, at(dir, shardName(1)), 34) }},
		"a seal":  {2, func(dir string) { flip(t, at(dir, shardName(1)), 1) }},
		"another shard": {2, func(dir string) {
			swap(t, at(dir, shardName(0)), at(dir, shardName(1)))
		}},
		"no seal": {2, func(dir string) {
			write(t, at(dir, shardName(1)), []byte("query,label\n"))
		}},
		"an empty shard":   {2, func(dir string) { write(t, at(dir, shardName(1)), nil) }},
		"a shard less":     {2, func(dir string) { os.Remove(at(dir, shardName(1))) }},
		"a number of rows": {1, func(dir string) { flip(t, at(dir, reportName(1)), 60) }},
		"another report": {1, func(dir string) {
			swap(t, at(dir, reportName(0)), at(dir, reportName(1)))
		}},
		"a report less":     {1, func(dir string) { os.Remove(at(dir, reportName(0))) }},
		"ids not searched":  {1, func(dir string) { os.Remove(ids(dir)[0]) }},
		"ids of none":       {1, func(dir string) { write(t, ids(dir)[0], []byte("null")) }},
		"other ids' result": {1, func(dir string) { swap(t, ids(dir)[0], ids(dir)[1]) }},
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, queries(300), true)
			job.ShardRows = 100
			job.Charge = newCharge(t, 1e4, "fresh")
			behind(t, &job.Engine, tt.pipeline, tt.do)
			r, err := Run(t.Context(), job)
			var output *release.OutputError
			if r != nil || !errors.As(err, &output) {
				t.Errorf("%+v, %v", r, err)
			}
			if spent := spentOf(t, job.Charge); (spent > 0) != (tt.pipeline == 2) {
				t.Errorf("%v is spent", spent)
			}
			checkNoOutput(t, job)
		})
	}
}

// A shard that somebody else left where a worker puts its own is an error at once.
func TestForgedShardIsNotTriedAgain(t *testing.T) {
	job := newJob(t, queries(300), true)
	behind(t, &job.Engine, 1, func(dir string) {
		write(t, filepath.Join(dir, shardName(0)), []byte("query,label\n"))
	})
	var s spy
	s.wrap(t, &job)
	if _, err := Run(t.Context(), job); err == nil ||
		!strings.Contains(err.Error(), errOther.Error()) || s.ran != 2 {
		t.Errorf("%d pipelines: %v", s.ran, err)
	}
	checkNoOutput(t, job)
}

// The same of a round: nothing is released, and the book does not know it.
func TestTamperedFilesOfARound(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	block := blockName(randomiser.Gradients, 0)
	for name, tt := range map[string]struct {
		pipeline int
		do       func(dir string)
	}{
		"a report": {2, func(dir string) { flip(t, at(dir, block), 1000) }},
		"a sum":    {2, func(dir string) { flip(t, at(dir, block), 33) }},
		"another stream": {2, func(dir string) {
			swap(t, at(dir, blockName(randomiser.Differences, 0)), at(dir, block))
		}},
		"another silo":   {1, func(dir string) { swap(t, at(dir, siloName(0)), at(dir, siloName(1))) }},
		"a silo's count": {1, func(dir string) { flip(t, at(dir, siloName(0)), 60) }},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{300, 1, 250, 40} })
			behind(t, &x.job.Engine, tt.pipeline, tt.do)
			var output *release.OutputError
			if _, err := RunRound(t.Context(), x.job); !errors.As(err, &output) {
				t.Errorf("%v", err)
			}
			x.checkNothing(t)
		})
	}
}

// A seal is of one name and one content, under one key.
func TestSeal(t *testing.T) {
	key, _, forget := newKey(t, "")
	defer forget()
	other, _, forgetOther := newKey(t, "")
	defer forgetOther()
	b := box{t.TempDir(), jobKeys{coins: key}}
	seals := [][]byte{
		b.seal("a", []byte("b")), b.seal("a", []byte("c")), b.seal("c", []byte("b")), b.seal("ab", nil),
		b.seal("", []byte("ab")),
		box{b.dir, jobKeys{coins: other}}.seal("a", []byte("b")),
	}
	for i, s := range seals {
		for _, r := range seals[:i] {
			if bytes.Equal(s, r) {
				t.Errorf("seal %d is another one's, too", i)
			}
		}
	}
	if !slices.Equal(seals[0], b.seal("a", []byte("b"))) {
		t.Error("a seal is not a function of what it seals")
	}
}
