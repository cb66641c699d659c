package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// answerWriter takes the answers of a release.
type answerWriter interface {
	write(*votes.Batch, []int) error
	// publish lets the answers be seen, all of them or none. note is called before, with the
	// digest of what will be seen; its error stops it.
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
		if err := release.CheckOut(f.out); err != nil {
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
	w := &fileAnswers{path: f.out, abstained: len(classes) - 1}
	if w.path == "" {
		w.path = "-"
	}
	path := w.path
	if charged {
		if w.draft, err = release.NewDraft(w.path, a.out); err != nil {
			return nil, err
		}
		path = w.draft.Path()
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

// fileAnswers writes a file of labels: to its place at once, or as a draft where it is
// noted in a ledger before it can be seen.
type fileAnswers struct {
	path      string // "-" for stdout
	file      *votes.LabelFile
	draft     *release.Draft // nil where it is written to its place at once
	abstained int            // class of an abstention
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
	if w.draft == nil {
		return nil
	}
	return w.draft.Publish(note)
}

// abort gives up what was not published.
func (w *fileAnswers) abort() {
	if w.file != nil {
		_ = w.file.Abort() // only what was given up already
	}
	if w.draft != nil {
		w.draft.Abort()
	}
}
