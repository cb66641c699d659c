package votes

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/tempfile"
	"github.com/darrm/darrm/votes/format"
)

// LabelOptions configure a LabelFile.
type LabelOptions struct {
	// Format and Compression default to what the file's name says.
	Format      Format
	Compression Compression
	// Classes are the classes' names in order. Defaults to "0" and "1".
	Classes []string
	// IDColumn is the name of the ids' column, as [Roles.IDName] has that of the votes. Defaults to
	// query, as does the name of the labels' column.
	IDColumn string
	// Labels are the labels of each question, where it has several: a row is a question then, with a class
	// for each of them, in columns of these names.
	Labels []string
	// Sets, of several labels, writes one column instead, of the labels that the question has: in CSV and
	// TSV their names with Separator between them, in JSON Lines a list. Other formats have none.
	Sets bool
	// Separator defaults to DefaultSeparator.
	Separator string
	// Simulated marks answers that are not private: their column is called
	// simulated_label, so that no one takes them for released ones.
	Simulated bool
	// Stdout is written for the path "-". Defaults to os.Stdout.
	Stdout io.Writer
	// TempDir is for what cannot be written at once: labels for stdout, which gets
	// nothing before Commit, and those of a .npy file, whose header holds their
	// number. Defaults to os.TempDir.
	TempDir string
}

// A LabelFile is a file of answers that is written piece by piece and gets its
// name by Commit: a reader sees all answers or none. It is not safe for concurrent
// use.
//
//	format   a row
//	csv      query,label (the header); tsv with tabs
//	jsonl    {"query":"q17","label":1}
//	npy      the label alone, in the order of the queries: the smallest integer
//	         type that holds the classes if all are integers, else text
//	parquet  query (text), label (64-bit integer or text)
//
// npy holds no ids. Simulated answers are records with the one field
// simulated_label there, so that they cannot be mistaken for released ones.
type LabelFile struct {
	enc    format.Encoder
	buf    *bufio.Writer
	packer io.WriteCloser   // compressor, may be nil
	file   *atomicfile.File // nil for stdout
	spool  *tempfile.File   // for stdout
	stdout io.Writer
	temp   []io.Closer // what goes with the end of the writing
	opts   LabelOptions
	id     []byte
	n      int64
	err    error // sticky
	done   bool
}

// CreateLabels starts a file of labels at path, or for stdout if path is "-". It
// must end in Commit or Abort:
//
//	f, err := votes.CreateLabels(path, opts)
//	if err != nil { … }
//	defer f.Abort() // does nothing after Commit
//	…
//	return f.Commit()
func CreateLabels(path string, o LabelOptions) (*LabelFile, error) {
	var err error
	// the form goes by it, and the folder may be a draft's that nobody named
	name := filepath.Base(path)
	if o.Format, o.Compression, err = byName(name, o.Format, o.Compression); err != nil {
		return nil, err
	}
	packing, err := o.Compression.linked()
	if err != nil {
		return nil, err
	}
	classes, err := newClassList(o.Classes, nil)
	if err != nil {
		return nil, err
	}
	f := &LabelFile{opts: o}
	var w io.Writer
	if path == "-" {
		if f.stdout = o.Stdout; f.stdout == nil {
			f.stdout = os.Stdout
		}
		if f.spool, err = f.newTemp(); err != nil {
			return nil, err
		}
		w = f.spool
	} else {
		if f.file, err = atomicfile.Create(path); err != nil {
			return nil, err
		}
		w = f.file
	}
	f.buf = bufio.NewWriterSize(w, 256<<10)
	w = f.buf
	if packing != nil {
		if f.packer, err = packing.NewWriter(w); err != nil {
			return nil, errors.Join(err, f.Abort())
		}
		w = f.packer
	}
	row := o.Format.row()
	columns, err := o.columns()
	switch {
	case err != nil:
	case row.encode == nil:
		err = fmt.Errorf("%s: labels are not written in the format %s", shownName(name), o.Format)
	default:
		f.enc, err = row.encode(f, w, labelsOf(o.IDColumn, classes, columns...))
	}
	if err == nil && o.Sets {
		f.enc, err = setsOf(f.enc, o)
	}
	if err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return f, nil
}

// newTemp makes a temporary file that goes with the end of the writing.
func (f *LabelFile) newTemp() (*tempfile.File, error) {
	t, err := tempfile.New(f.opts.TempDir)
	if err == nil {
		f.temp = append(f.temp, t)
	}
	return t, err
}

// simulatedColumn is the name of the column of answers that are not private.
const simulatedColumn = "simulated_label"

// Write writes one row. A class that is not in the list, and an id that would not
// be read back as it is, are errors. After an error it returns the same error
// again.
func (f *LabelFile) Write(id string, class int) error {
	f = handle.Made(f)
	if f.err == nil && idRule(id) == "" && len(f.opts.Labels) > 0 {
		f.err = errors.New("write labels: a question has several: want WriteBatch")
	}
	f.row(id, []int{class})
	return f.err
}

// WriteBatch writes the answers to a batch, one class per query: of several labels, a row for each question.
func (f *LabelFile) WriteBatch(b *Batch, answers []int) error {
	f = handle.Made(f)
	if f.err == nil && len(answers) != b.Len() {
		f.err = fmt.Errorf("write labels: %d queries and %d answers, want as many", b.Len(), len(answers))
	}
	labels := max(1, len(f.opts.Labels))
	for i := 0; i < len(answers) && f.err == nil; i += labels {
		id, ok := b.ID(i), true
		if labels > 1 {
			id, ok = strings.CutSuffix(id, labelIDSeparator+f.opts.Labels[0])
		}
		if !ok || len(answers)-i < labels {
			f.err = fmt.Errorf("write labels: query %s begins no question of %d labels", quote(b.ID(i)), labels)
			break
		}
		f.row(id, answers[i:i+labels])
	}
	return f.err
}

// row writes a row, unless there was an error.
func (f *LabelFile) row(id string, classes []int) {
	rule, n := idRule(id), cmp.Or(len(f.opts.Classes), 2)
	bad := slices.IndexFunc(classes, func(class int) bool { return class < 0 || class >= n })
	switch {
	case f.err != nil:
	case rule != "":
		f.err = errors.New("write labels: " + rule)
	case f.done || f.enc == nil:
		f.err = errors.New("write labels: the file is committed or aborted")
	case bad >= 0:
		f.err = fmt.Errorf("write labels: query %s has the class %d, want 0 to %d", quote(id), classes[bad], n-1)
	default:
		f.id = append(f.id[:0], id...)
		if err := f.enc.Row(f.id, classes); err != nil {
			f.err = fmt.Errorf("write labels: %w", err)
			return
		}
		f.n++
	}
}

// Rows returns how many rows have been written.
func (f *LabelFile) Rows() int64 { return handle.Made(f).n }

// Commit writes what is left and gives the file its name, or writes everything to
// stdout. After an error there is no file, and an older one is as it was; only
// stdout can have got a part, if it fails itself.
func (f *LabelFile) Commit() error {
	f = handle.Made(f)
	if f.done || f.enc == nil {
		return errors.New("commit labels: the file is committed or aborted")
	}
	err := f.err
	if err == nil {
		if err = f.enc.End(); err == nil && f.packer != nil {
			err = f.packer.Close()
		}
		if err == nil {
			err = f.buf.Flush()
		}
		if err != nil {
			err = fmt.Errorf("write labels: %w", err)
		}
	}
	if err != nil {
		return errors.Join(err, f.Abort())
	}
	if f.file != nil {
		err = f.file.Commit()
		f.file = nil
	} else if _, err = f.spool.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(f.stdout, f.spool)
	}
	return errors.Join(err, f.Abort())
}

// Abort gives up the file. After Commit or Abort it does nothing and returns nil.
func (f *LabelFile) Abort() error {
	f = handle.Made(f)
	var errs []error
	if f.file != nil {
		errs = append(errs, f.file.Abort())
	}
	for _, t := range f.temp {
		errs = append(errs, t.Close())
	}
	f.done, f.file, f.temp = true, nil, nil
	return errors.Join(errs...)
}

// separator returns what stands between the names in a cell with a set.
func (o *LabelOptions) separator() string { return cmp.Or(o.Separator, DefaultSeparator) }

// columns returns the names of the columns of labels.
func (o *LabelOptions) columns() ([]string, error) {
	mark := ""
	if o.Simulated {
		mark = "simulated_"
	}
	switch {
	case len(o.Labels) == 0 && o.Sets:
		return nil, check.Namedf("sets go with %s", pLabels)
	case len(o.Labels) == 0:
		return []string{mark + "label"}, nil
	}
	if err := CheckLabels(o.Labels, 0, nil); err != nil {
		return nil, err
	}
	if o.Sets {
		if len(o.Classes) > 2 {
			return nil, errors.New("an answer that abstains is in no set: want columns")
		}
		return []string{mark + "labels"}, checkSeparator(o.separator(), o.Labels)
	}
	columns := make([]string, len(o.Labels))
	for i, name := range o.Labels {
		columns[i] = mark + name
		// encodings of typed columns have such names for themselves
		if o.Format.row().start != nil && (strings.Contains(name, ",") || name == "-") {
			return nil, check.Namedf("%s: %s is no name of a column in the format %s", pLabels, quote(name), o.Format)
		}
	}
	return columns, nil
}

// setsOf returns the encoder of sets for that of one column.
func setsOf(enc format.Encoder, o LabelOptions) (format.Encoder, error) {
	switch e := enc.(type) {
	case *csvLabels:
		separator := o.separator()
		return setEncoder{enc, o.Labels, func(id []byte, names []string) error {
			return e.write(string(id), strings.Join(names, separator))
		}}, nil
	case *jsonLabels:
		return setEncoder{enc, o.Labels, e.set}, nil
	}
	return nil, check.Namedf("sets are written as CSV, TSV or JSON Lines, not in the format %s (%s)", o.Format,
		pLabelFormat)
}

// setEncoder writes the names of the labels that a question has in one cell.
type setEncoder struct {
	format.Encoder
	labels []string
	write  func(id []byte, names []string) error
}

// Row writes the labels whose class is the second.
func (e setEncoder) Row(id []byte, classes []int) error {
	var names []string
	for l, class := range classes {
		if class == 1 {
			names = append(names, e.labels[l])
		}
	}
	return e.write(id, names)
}
