package experiment

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
)

// recordFile is the name of the record in an experiment's folder. It is written last.
const recordFile = "record.json"

// resultFile holds the Result.
const resultFile = "results.json"

// Record states the origin of the files in an experiment's folder.
type Record struct {
	FormatVersion int               `json:"format_version"`
	Name          string            `json:"name"`
	Kind          string            `json:"kind"`
	Quick         bool              `json:"quick"`
	Version       string            `json:"version"` // of the program
	Solver        string            `json:"solver"`  // of linear programs; nothing rests on it
	Seed          uint64            `json:"seed"`
	Parameters    json.RawMessage   `json:"parameters"`
	Hash          string            `json:"hash"` // of all of the above and of Inputs
	Inputs        map[string]string `json:"inputs,omitempty"`
	Machine       machine           `json:"machine"`
	Started       time.Time         `json:"started"`
	Seconds       float64           `json:"seconds"` // the work, steps of earlier runs included
	Steps         []stepRecord      `json:"steps"`
	Outputs       map[string]string `json:"outputs"` // SHA-256 of every other file of the folder's top
}

// stepRecord is one part of the work.
type stepRecord struct {
	Name    string  `json:"name"`
	Hash    string  `json:"hash"`
	Seconds float64 `json:"seconds"` // when it was done
	Reused  bool    `json:"reused"`  // done by an earlier run
}

// machine describes the computer that an experiment ran on.
type machine struct {
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	CPUs      int    `json:"cpus"`
	Processor string `json:"processor,omitempty"`
	Go        string `json:"go"`
}

func thisMachine() machine {
	return machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Processor: processor(), Go: runtime.Version()}
}

// processor returns the processor's name where the system tells it, on Linux.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close() // only read from
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// hashOf returns the SHA-256 of the JSON forms of the values, in hexadecimal.
func hashOf(values ...any) (string, error) {
	h := sha256.New()
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d:", len(b)) // no two lists of values give the same bytes
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// maxOutput is the most that is read of a file of an experiment's folder: results of the
// largest built-in experiment are below a megabyte.
const maxOutput = 256 << 20

// HashFile returns the SHA-256, in hexadecimal, of a file of at most limit bytes.
func HashFile(ctx context.Context, path string, limit int64) (string, error) {
	f, err := readfile.Open(ctx, path, limit)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashFiles returns the hashes of files of at most limit bytes, by the names of their paths.
func HashFiles(ctx context.Context, paths map[string]string, limit int64) (map[string]string, error) {
	out := map[string]string{}
	for name, path := range paths {
		var err error
		if out[name], err = HashFile(ctx, path, limit); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readRecord returns the record and the result in an experiment's folder. Every file that
// the record names must be there as it was written, a regular file of at most 256 MiB; the
// error names the one that is not.
func readRecord(ctx context.Context, dir string) (Record, Result, error) {
	var rec Record
	var res Result
	data, err := readfile.Whole(ctx, filepath.Join(dir, recordFile), maxOutput)
	if err != nil {
		return rec, res, err
	}
	if err := jsonv2.Unmarshal(data, &rec, jsonv2.RejectUnknownMembers(true)); err != nil {
		return rec, res, fmt.Errorf("%s: %w", filepath.Join(dir, recordFile), err)
	}
	if rec.FormatVersion != formatVersion {
		return rec, res, fmt.Errorf("%s: format_version = %d, but it must be %d",
			filepath.Join(dir, recordFile), rec.FormatVersion, formatVersion)
	}
	for name, want := range rec.Outputs {
		if name != filepath.Base(name) || name == "." || name == ".." {
			return rec, res, fmt.Errorf("%s: output %q is not a file's name", filepath.Join(dir, recordFile),
				name)
		}
		got, err := HashFile(ctx, filepath.Join(dir, name), maxOutput)
		if err != nil {
			return rec, res, err
		}
		if got != want {
			return rec, res, fmt.Errorf("%s is not the file that was recorded", filepath.Join(dir, name))
		}
	}
	if _, ok := rec.Outputs[resultFile]; !ok {
		return rec, res, fmt.Errorf("%s names no %s", filepath.Join(dir, recordFile), resultFile)
	}
	if data, err = readfile.Whole(ctx, filepath.Join(dir, resultFile), maxOutput); err != nil {
		return rec, res, err
	}
	if err := json.Unmarshal(data, &res); err != nil {
		return rec, res, fmt.Errorf("%s: %w", filepath.Join(dir, resultFile), err)
	}
	return rec, res, nil
}

// write puts the outputs into the folder, the record last.
func (r *Run) write(record *Record) error {
	for _, t := range r.Result.Tables {
		var b bytes.Buffer
		if err := t.writeCSV(&b); err != nil {
			return err
		}
		r.File(t.Name+".csv", b.Bytes())
	}
	text, err := json.MarshalIndent(r.Result, "", " ")
	if err != nil {
		return err
	}
	r.File(resultFile, append(text, '\n'))
	// A record of other files must not stand beside these, even for a moment.
	path := filepath.Join(r.dir, recordFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return &OutputError{err}
	}
	record.Outputs = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if err := r.Err(); err != nil {
			return err
		}
		if err := replace(filepath.Join(r.dir, name), r.files[name]); err != nil {
			return err
		}
		if record.Outputs[name], err = HashFile(r, filepath.Join(r.dir, name), maxOutput); err != nil {
			return err
		}
	}
	record.Steps = r.recorded
	for _, s := range r.recorded {
		record.Seconds += s.Seconds
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(record); err != nil {
		return err
	}
	return replace(path, b.Bytes())
}

func replace(path string, data []byte) error {
	err := atomicfile.Replace(path, 0o666, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return &OutputError{err}
	}
	return nil
}
