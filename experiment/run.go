package experiment

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/lp"
)

// quickSuffix is added to a quick run's folder, so that it does not replace the full one.
const quickSuffix = "-quick"

// stepsFolder, in an experiment's folder, holds the steps' values.
const stepsFolder = "steps"

// build names the program: the hash of its file. It is part of every hash, so that what
// another program computed is computed again; a version alone may stand for several. Where
// the file cannot be read, nothing is reused.
var build = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err == nil {
		var hash string
		if hash, err = hashFile(context.Background(), path, math.MaxInt64); err == nil {
			return hash
		}
	}
	return rand.Text()
})

// An OutputError says that a file or folder of an experiment could not be written.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// ErrNoData says that an experiment's data are not there.
var ErrNoData = errors.New("data not found")

// Options says how to run. The zero value runs the whole experiment with seed 0.
type Options struct {
	// Seed of everything that is drawn. The same seed gives the same numbers.
	Seed uint64
	// Quick runs the definition's short form, if it has one.
	Quick bool
	// Data is the folder below which an experiment's own folder of data files lies.
	// Defaults to ".". Training experiments look there for the real files of their data
	// set and generate a stand-in where there are none.
	Data string
	// Version of the program. It is recorded.
	Version string
	// Solve finds an optimal noise function. Defaults to solve.Optimal.
	Solve func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)
	// SolverName is recorded. Defaults to lp.Backend().
	SolverName string
	// Progress, if not nil, is called before each step and after the last one, from the
	// goroutine of the caller.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	Experiment string
	Step       string // what is done next; "" at the end
	Done, Of   int    // steps
}

// Outcome is a finished run.
type Outcome struct {
	Dir    string // where its files are
	Record Record
	Result Result
	Reused bool // everything was there already
}

// run is an experiment at work.
type run struct {
	context.Context
	Options
	def    Definition
	dir    string
	record *Record
	result *Result
	of     int
	files  map[string][]byte // outputs, written at the end

	// broken, in tests only, changes what a step of a finished run found before it is told
	// and judged; nothing is worked out and nothing drawn then.
	broken func(step string, value any)
}

// Run runs the experiment into a folder of its own below outDir, called like the
// experiment, with "-quick" for a quick run. What is there already, made by the same
// program with the same parameters, is not done again. If ctx ends, steps that are done
// are kept, no record is written, and the error is ctx.Err().
//
// Where data are missing the error is ErrNoData; it says where they were looked for. What
// cannot be written is an OutputError.
func Run(ctx context.Context, def Definition, outDir string, o Options) (Outcome, error) {
	if def.full == nil {
		return Outcome{}, errors.New("experiment without a definition: use Load or Parse")
	}
	if o.Data == "" {
		o.Data = "."
	}
	if o.Solve == nil {
		o.Solve = solve.Optimal
	}
	if o.SolverName == "" {
		o.SolverName = lp.Backend()
	}
	p, folder := def.full, def.Name
	quick := o.Quick && def.quick != nil
	if quick {
		p, folder = def.quick, def.Name+quickSuffix
	}
	r := &run{Context: ctx, Options: o, def: def, dir: filepath.Join(outDir, folder), files: map[string][]byte{}, of: p.steps()}
	outcome, err := r.do(p, quick)
	if err != nil {
		return Outcome{}, fmt.Errorf("experiment %s: %w", def.Name, err)
	}
	return outcome, nil
}

func (r *run) do(p parameters, quick bool) (Outcome, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Outcome{}, err
	}
	r.record = &Record{
		FormatVersion: FormatVersion, Name: r.def.Name, Kind: r.def.Kind, Quick: quick,
		Version: r.Version, Solver: r.SolverName, Seed: r.Seed, Parameters: text,
		Machine: thisMachine(), Started: time.Now().UTC().Truncate(time.Second),
	}
	r.result = &Result{Name: r.def.Name, Kind: r.def.Kind, Title: r.def.Title, Source: r.def.Source, About: r.def.About, Quick: quick}
	if p, ok := p.(reader); ok {
		if r.record.Inputs, err = p.inputs(r, r.Data); err != nil {
			return Outcome{}, err
		}
	}
	if r.record.Hash, err = hashOf(build(), r.def.Name, r.def.Title, r.def.Source, r.def.About, quick, r.Version, r.SolverName, r.Seed, r.record.Parameters, r.record.Inputs); err != nil {
		return Outcome{}, err
	}
	if old, result, err := ReadRecord(r, r.dir); err == nil && old.Hash == r.record.Hash {
		r.report("", r.of)
		return Outcome{r.dir, old, result, true}, nil
	}
	if err := os.MkdirAll(filepath.Join(r.dir, stepsFolder), 0o777); err != nil {
		return Outcome{}, &OutputError{err}
	}
	if err := p.run(r); err != nil {
		return Outcome{}, err
	}
	if err := r.write(); err != nil {
		return Outcome{}, err
	}
	r.report("", r.of)
	return Outcome{r.dir, *r.record, *r.result, false}, nil
}

// write puts the outputs into the folder, the record last.
func (r *run) write() error {
	for _, t := range r.result.Tables {
		var b bytes.Buffer
		if err := t.WriteCSV(&b); err != nil {
			return err
		}
		r.files[t.Name+".csv"] = b.Bytes()
	}
	text, err := json.MarshalIndent(r.result, "", " ")
	if err != nil {
		return err
	}
	r.files[resultFile] = append(text, '\n')
	// A record of other files must not stand beside these, even for a moment.
	record := filepath.Join(r.dir, RecordFile)
	if err := os.Remove(record); err != nil && !errors.Is(err, os.ErrNotExist) {
		return &OutputError{err}
	}
	r.record.Outputs = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if err := r.Err(); err != nil {
			return err
		}
		path := filepath.Join(r.dir, name)
		err := atomicfile.Replace(path, 0o666, func(w io.Writer) error {
			_, err := w.Write(r.files[name])
			return err
		})
		if err != nil {
			return &OutputError{err}
		}
		if r.record.Outputs[name], err = hashFile(r, path, maxOutput); err != nil {
			return err
		}
	}
	for _, s := range r.record.Steps {
		r.record.Seconds += s.Seconds
	}
	return writeJSON(record, r.record)
}

func (r *run) report(step string, done int) {
	if r.Progress != nil {
		r.Progress(Progress{Experiment: r.def.Name, Step: step, Done: done, Of: r.of})
	}
}

func (r *run) claim(holds bool, text, evidence string, args ...any) {
	r.result.Claims = append(r.result.Claims, Claim{text, holds, fmt.Sprintf(evidence, args...)})
}

func (r *run) note(format string, args ...any) {
	r.result.Notes = append(r.result.Notes, fmt.Sprintf(format, args...))
}

func (r *run) table(t Table) { r.result.Tables = append(r.result.Tables, t) }

// stepFile is a step's value as it is kept.
type stepFile[T any] struct {
	Hash    string  `json:"hash"`
	Digest  string  `json:"digest"` // of the value: a damaged one is worked out again
	Seconds float64 `json:"seconds"`
	Value   T       `json:"value"`
}

// step returns what do computes, or what it computed in an earlier run with the same key,
// which must hold all that the value depends on besides the program. The value
// must survive JSON, and a fresh one goes through it too, so that both are the same.
func step[T any](r *run, name string, key any, do func() (T, error)) (T, error) {
	var zero T
	if err := r.Err(); err != nil {
		return zero, err
	}
	r.report(name, len(r.record.Steps))
	hash, err := hashOf(build(), r.Version, r.SolverName, r.def.Kind, name, key)
	if err != nil {
		return zero, err
	}
	path := filepath.Join(r.dir, stepsFolder, name+".json")
	if f, ok := readStep[T](r, path); ok && (f.Hash == hash || r.broken != nil) {
		r.record.Steps = append(r.record.Steps, StepRecord{name, hash, f.Seconds, true})
		if r.broken != nil {
			r.broken(name, &f.Value)
		}
		return f.Value, nil
	}
	start := time.Now()
	value, err := do()
	if err != nil {
		return zero, err
	}
	digest, err := hashOf(value)
	if err != nil {
		return zero, fmt.Errorf("step %s: %w", name, err)
	}
	f := stepFile[T]{hash, digest, time.Since(start).Seconds(), value}
	if err := writeJSON(path, f); err != nil {
		return zero, err
	}
	back, ok := readStep[T](r, path)
	if !ok {
		return zero, fmt.Errorf("step %s cannot be read back from %s", name, path)
	}
	r.record.Steps = append(r.record.Steps, StepRecord{name, hash, f.Seconds, false})
	return back.Value, nil
}

// readStep returns the step in a file, if there is a sound one.
func readStep[T any](ctx context.Context, path string) (f stepFile[T], ok bool) {
	data, err := readfile.Whole(ctx, path, maxOutput)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return f, false
	}
	digest, err := hashOf(f.Value)
	return f, err == nil && digest == f.Digest
}
