package experiment

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/darrm/darrm/cache"
)

// quickSuffix is added to a quick run's folder, so that it does not replace the full one.
const quickSuffix = "-quick"

// stepsFolder, in an experiment's folder, is the cache of the steps' values.
const stepsFolder = "steps"

// build names the program: the hash of its file. It is part of every hash, so that what
// another program computed is computed again; a version alone may stand for several. Where
// the file cannot be read, nothing is reused.
var build = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err == nil {
		var hash string
		if hash, err = HashFile(context.Background(), path, math.MaxInt64); err == nil {
			return hash
		}
	}
	return rand.Text()
})

// An OutputError is the error for a file or folder of an experiment that could not be written.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// ErrNoData is the error for an experiment whose data are not there.
var ErrNoData = errors.New("data not found")

// Options sets the conditions of a run. The zero value runs the whole experiment with seed 0.
type Options struct {
	// Seed of everything that is drawn. The same seed gives the same numbers.
	Seed uint64
	// Quick runs the definition's short form, if it has one.
	Quick bool
	// Data is the folder below which an experiment's own folder of data files lies.
	// Defaults to ".". Training experiments look there for the real files of their data
	// set and generate a stand-in where there are none.
	Data string
	// Version of the program and name of its Solver of linear programs. They are recorded,
	// and what others computed is computed again.
	Version, Solver string
	// Progress, if not nil, is called before each step and after the last one, from the
	// goroutine of the caller.
	Progress func(Progress)
}

// Progress is the state of a run for people who wait.
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

// Run is a running experiment with its results so far.
type Run struct {
	context.Context
	Options
	Result Result
	Inputs map[string]string // hashes of the files that are read, nil if there are none

	def      Definition
	dir      string
	steps    *cache.Store
	recorded []stepRecord
	of       int
	files    map[string][]byte // outputs, written at the end

	// broken, in tests only, changes the result of a step of a finished run before it is reported
	// and judged. Nothing is computed and nothing drawn then.
	broken func(step string, value any)
}

// Run runs the experiment into a folder of its own below outDir, called like the
// experiment, with "-quick" for a quick run. What is there already, made by the same
// program with the same parameters, is not done again. If ctx ends, steps that are done
// are kept, no record is written, and the error is ctx.Err().
//
// Where data are missing the error is ErrNoData, with the places that were searched. For output
// that cannot be written it is an OutputError.
func (d Definition) Run(ctx context.Context, outDir string, o Options) (Outcome, error) {
	if d.full == nil {
		return Outcome{}, errors.New("experiment without a definition: use Catalog.Load or Parse")
	}
	if o.Data == "" {
		o.Data = "."
	}
	p, folder := d.full, d.Name
	quick := o.Quick && d.quick != nil
	if quick {
		p, folder = d.quick, d.Name+quickSuffix
	}
	r := d.NewRun(ctx, o)
	r.dir, r.of = filepath.Join(outDir, folder), p.Steps()
	r.Result.Quick = quick
	outcome, err := r.do(p)
	if err != nil {
		return Outcome{}, fmt.Errorf("experiment %s: %w", d.Name, err)
	}
	return outcome, nil
}

// NewRun returns the experiment at work before anything was found, without a folder: it can
// take no steps. Tests of kinds use it.
func (d Definition) NewRun(ctx context.Context, o Options) *Run {
	return &Run{Context: ctx, Options: o, def: d,
		Result: Result{Name: d.Name, Kind: d.Kind, Title: d.Title, Source: d.Source, About: d.About}}
}

func (r *Run) do(p Parameters) (Outcome, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Outcome{}, err
	}
	if p, ok := p.(inputs); ok {
		if r.Inputs, err = p.Inputs(r, r.Data); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrNoData, err)
		}
		if err != nil {
			return Outcome{}, err
		}
	}
	record := Record{
		FormatVersion: formatVersion, Name: r.def.Name, Kind: r.def.Kind, Quick: r.Result.Quick,
		Version: r.Version, Solver: r.Solver, Seed: r.Seed, Parameters: text, Inputs: r.Inputs,
		Machine: thisMachine(), Started: time.Now().UTC().Truncate(time.Second),
	}
	if record.Hash, err = hashOf(build(), r.def.Name, r.def.Title, r.def.Source, r.def.About,
		record.Quick, r.Version, r.Solver, r.Seed, record.Parameters, r.Inputs); err != nil {
		return Outcome{}, err
	}
	if old, result, err := readRecord(r, r.dir); err == nil && old.Hash == record.Hash {
		r.report("", r.of)
		return Outcome{r.dir, old, result, true}, nil
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return Outcome{}, &OutputError{err}
	}
	if r.steps, err = cache.Open(filepath.Join(r.dir, stepsFolder)); err != nil {
		return Outcome{}, &OutputError{err}
	}
	if err := p.Run(r); err != nil {
		return Outcome{}, err
	}
	if err := r.write(&record); err != nil {
		return Outcome{}, err
	}
	r.report("", r.of)
	return Outcome{r.dir, record, r.Result, false}, nil
}

func (r *Run) report(step string, done int) {
	if r.Progress != nil {
		r.Progress(Progress{Experiment: r.def.Name, Step: step, Done: done, Of: r.of})
	}
}

// NameData puts into the title which data were used, and reports whether they are real: files were read.
func (r *Run) NameData() bool {
	label := "generated stand-in"
	if r.Inputs != nil {
		label = "real data"
	}
	r.Result.Title += " (" + label + ")"
	return r.Inputs != nil
}

// Note adds a remark that a reader needs to understand the numbers.
func (r *Run) Note(format string, args ...any) {
	r.Result.Notes = append(r.Result.Notes, fmt.Sprintf(format, args...))
}

// Table adds a table. It becomes a CSV file of its name.
func (r *Run) Table(t Table) { r.Result.Tables = append(r.Result.Tables, t) }

// File adds a file to the experiment's folder.
func (r *Run) File(name string, data []byte) {
	if r.files == nil {
		r.files = map[string][]byte{}
	}
	r.files[name] = data
}

// stepValue is a step's value as it is kept.
type stepValue[T any] struct {
	Hash    string  `json:"hash"`
	Seconds float64 `json:"seconds"`
	Value   T       `json:"value"`
}

// Step returns the result of do, or that of an earlier run with the same key. The key must hold all
// that the value depends on besides the program. The value must survive JSON. A fresh one goes
// through it too, so that both are the same.
func Step[T any](r *Run, name string, key any, do func() (T, error)) (T, error) {
	var s stepValue[T]
	if err := r.Err(); err != nil {
		return s.Value, err
	}
	r.report(name, len(r.recorded))
	hash, err := hashOf(build(), r.Version, r.Solver, r.def.Kind, name, key)
	if err != nil {
		return s.Value, err
	}
	// An entry that is damaged, or another's, is worked out again.
	if data, err := r.steps.Get(name); err == nil && json.Unmarshal(data, &s) == nil &&
		(s.Hash == hash || r.broken != nil) {
		r.recorded = append(r.recorded, stepRecord{name, hash, s.Seconds, true})
		if r.broken != nil {
			r.broken(name, &s.Value)
		}
		return s.Value, nil
	}
	start := time.Now()
	value, err := do()
	if err != nil {
		return value, err
	}
	data, err := json.Marshal(stepValue[T]{hash, time.Since(start).Seconds(), value})
	if err != nil {
		return value, fmt.Errorf("step %s: %w", name, err)
	}
	if err := r.steps.Put(name, data); err != nil {
		return value, &OutputError{err}
	}
	s = stepValue[T]{}
	if err := json.Unmarshal(data, &s); err != nil {
		return value, fmt.Errorf("step %s cannot be read back: %w", name, err)
	}
	r.recorded = append(r.recorded, stepRecord{name, hash, s.Seconds, false})
	return s.Value, nil
}

// Replay reports and judges a finished run again, after change was applied to a pointer to each
// step's result. Nothing is worked out, drawn or written. Tests show by it that every
// claim can fail.
func (d Definition) Replay(ctx context.Context, out Outcome, o Options,
	change func(step string, value any)) (Result, error) {
	p := d.full
	if out.Result.Quick {
		p = d.quick
	}
	r := d.NewRun(ctx, o)
	r.Inputs, r.broken = out.Record.Inputs, change
	var err error
	if r.steps, err = cache.Open(filepath.Join(out.Dir, stepsFolder)); err != nil {
		return Result{}, err
	}
	err = p.Run(r)
	return r.Result, err
}
