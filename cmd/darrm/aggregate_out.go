package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// answerWriter takes the answers of a release.
type answerWriter interface {
	write(*votes.Batch, []int) error
	// publish lets the answers be seen, all of them or none. note, if it is not nil, is
	// called before, with the digest of what will be seen; its error stops it.
	publish(note func(ledger.Digest) error) error
	abort()
}

func (f *aggregateFlags) labelOptions(classes []string) (votes.LabelOptions, error) {
	o := votes.LabelOptions{Classes: classes}
	var err error
	if o.Format, err = votes.ParseFormat(f.outFormat); err != nil {
		return o, usageError{err}
	}
	if o.Compression, err = votes.ParseCompression(f.outCompression); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// abstention is the name of an answer that names no class.
const abstention = "abstained"

// create starts the output. charged says that the answers will be paid for and noted in a
// ledger: then it comes before the charge, and finds what cannot be written.
func (f *aggregateFlags) create(a *app, classes []string, report *releaseReport, charged bool) (answerWriter, error) {
	if charged {
		if err := tryOut(f.out); err != nil {
			return nil, err
		}
	}
	if report.aggregator.Abstains() {
		classes = append(classes, abstention)
	}
	if a.json {
		return &jsonAnswers{app: a, path: f.out, classes: classes, report: report}, nil
	}
	o, err := f.labelOptions(classes)
	if err != nil {
		return nil, err
	}
	o.Simulated, o.Stdout = report.simulated, a.out
	w := &fileAnswers{path: f.out, stdout: a.out, abstained: len(classes) - 1}
	if w.path == "" {
		w.path = "-"
	}
	path := w.path
	if charged {
		if path, err = w.makeDraft(); err != nil {
			w.abort()
			return nil, outputError{err}
		}
	}
	w.file, err = votes.CreateLabels(path, o)
	if err == nil {
		return w, nil
	}
	w.abort()
	var system *fs.PathError
	if errors.As(err, &system) {
		return nil, outputError{err}
	}
	return nil, usageError{err}
}

// fileAnswers writes a file of labels. One that is noted in a ledger is completed in a
// directory that nobody else may read: its digest is known only then, and must be in the
// ledger before the labels can be seen.
type fileAnswers struct {
	path      string // "-" for stdout
	stdout    io.Writer
	file      *votes.LabelFile
	draft     string           // path of the file in that directory; "" where it is written to its place at once
	place     *atomicfile.File // where the draft goes; nil for stdout
	abstained int              // class of an abstention
}

// makeDraft makes the directory and returns where in it the labels go: under their own name,
// by which their form goes. It is beside the output, which needs the room in any case, or
// among the temporary files where there is no beside: a device, a pipe, stdout.
func (w *fileAnswers) makeDraft() (string, error) {
	base, name := "", "labels"
	if w.path != "-" {
		var err error
		if w.place, err = atomicfile.Create(w.path); err != nil {
			return "", err // before anything is answered
		}
		base, name = beside(w.path), filepath.Base(w.path)
	}
	dir, err := os.MkdirTemp(base, ".darrm-labels-*") // permissions 0700
	if err != nil {
		return "", err
	}
	w.draft = filepath.Join(dir, name)
	return w.draft, nil
}

func (w *fileAnswers) write(b *votes.Batch, answers []int) error {
	for i, c := range answers {
		if c == ensemble.Abstained {
			answers[i] = w.abstained
		}
	}
	if err := w.file.WriteBatch(b, answers); err != nil {
		return outputError{fmt.Errorf("%s: %w", w.path, err)}
	}
	return nil
}

func (w *fileAnswers) publish(note func(ledger.Digest) error) error {
	if err := w.file.Commit(); err != nil {
		return outputError{fmt.Errorf("%s: %w", w.path, err)}
	}
	if w.draft == "" {
		return nil
	}
	draft, err := os.Open(w.draft)
	if err != nil {
		return outputError{err}
	}
	defer draft.Close()
	if note != nil {
		digest := sha256.New()
		if _, err := io.Copy(digest, draft); err != nil {
			return outputError{err}
		}
		if err := note(ledger.Digest(digest.Sum(nil))); err != nil {
			return err
		}
		if _, err := draft.Seek(0, io.SeekStart); err != nil {
			return outputError{err}
		}
	}
	if err := w.copyOut(draft); err != nil {
		return outputError{fmt.Errorf("%s: %w", w.path, err)}
	}
	return nil
}

// copyOut puts the labels where they are wanted.
func (w *fileAnswers) copyOut(draft io.Reader) error {
	if w.place == nil {
		_, err := io.Copy(w.stdout, draft)
		return err
	}
	if _, err := io.Copy(w.place, draft); err != nil {
		return err
	}
	return w.place.Commit()
}

// abort gives up what was not published, and the draft of what was. What cannot be removed
// is paid for, and nobody else may read it.
func (w *fileAnswers) abort() {
	if w.file != nil {
		_ = w.file.Abort() // only what was given up already
	}
	if w.place != nil {
		_ = w.place.Abort()
	}
	if w.draft != "" {
		_ = os.RemoveAll(filepath.Dir(w.draft))
	}
}
