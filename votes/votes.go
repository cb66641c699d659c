// Package votes reads files of teachers' votes, as many queries as there are, and
// writes files of answers: K teachers answer each query with one of C classes,
// and the mechanisms of this module need the number of votes per class.
//
// [Open] and [NewReader] make one stream of files, patterns, stdin or readers. A
// [Reader] yields a [Batch] of consecutive queries at a time; its memory does not
// grow with the files. [Process] sends the batches through a function on several
// goroutines, and the results in order to a writer. A [LabelFile] shows nothing
// before Commit.
//
//	symbol   Go name        meaning
//	N        Batch.Len …    number of queries
//	K        Reader.K       number of teachers, the same for every query
//	C        Batch.Classes  number of classes, 2 unless Options.Classes says otherwise
//	n_c      Batch.Counts   number of teachers that answer class c, Σ n_c = K
//	L        Batch.Ones     n_1, with two classes: teachers that answer 1
//
// # Files
//
// CSV and TSV as in RFC 4180 in UTF-8, with or without a byte order mark, lines
// ended by LF or CRLF but not both, where a CSV without a comma in its first row has semicolons or
// tabs between its cells; JSON Lines; NumPy's .npy (versions 1 to 3) and
// .npz. Text and .npy also inside gzip or zstd. Parquet with flat columns, where the program
// imports votes/parquet; [Formats] lists what a program reads. The file's name decides its
// format, or Options.Format does.
//
//	query,t1,t2,t3,label      wide: one column per teacher
//	q17,0,1,1,1
//
//	query,zeros,ones,label    counts: how many teachers gave which answer
//	q17,1,2,1
//
//	query,teacher,vote        long: one row per vote
//	q17,t1,0
//
//	{"query":"q17","votes":[0,1,1],"label":1}
//	{"query":"q17","t1":0,"t2":1,"t3":1,"label":1}
//
// The columns query and label and a header are optional; see [Options]. Columns of
// Parquet are like those of CSV with a header. A vote is the name of a class. In
// formats that have types, a number stands for its decimal text (1.0 for 1) if it is
// exactly an integer, a boolean for 0 or 1, and null or NaN for a missing vote. So does -1 where it
// is no class, in every format.
//
// Which columns are votes must be said: by names with one stem and numbers (t1, t2, t3),
// by Options.VoteColumns, or by Options.K; [Options] has the rule, and [Reader.Columns] returns the
// roles that were found. Teachers are in the order of their numbers, else in that of the list, else
// in that of the first file. Options.KeepVotes keeps every teacher's vote in that order, so the
// same votes give the same Batch.Votes whatever the format, the order of named columns and the
// division into files. Counts have no votes of single teachers.
//
// An array is a matrix without names, so somebody has to say what its dimensions
// mean: N×K is LayoutWide, K×N is LayoutTeachers, N×C is LayoutCounts. Nothing is
// taken from the shape, where K and N could be either. In .npz the ids and true
// labels are arrays of their own, named as columns are.
//
// # Strictness
//
// A vote that is read wrongly can change what is released and to whom a privacy
// claim applies, so nothing is guessed: a missing vote (see [MissingPolicy]), a row
// of another width, a blank line between rows, a repeated query, a column without a stated role,
// and any text that is no class is a [*ParseError] that names the place. The classes are given,
// never collected from the votes: which of them occur is private.
//
// # Damaged files
//
// The holder of the votes is trusted, so a file is expected to be what its producer
// wrote. One that is damaged or cut off is a [*ParseError]; a panic of the library
// that reads Parquet is one, too. A row of CSV or JSON Lines is at most 1 MiB long.
// Pickles are refused and never run. A stream that must be sought in is copied to a
// temporary file of at most 16 GiB, and only if it begins as its format does.
package votes

import (
	"context"
	"io"
	"runtime"

	"github.com/darrm/darrm/internal/textrows"
)

// How it works: a decoder cuts a file into tasks, one after the other, and several goroutines do
// the tasks. A task turns rows into records of cells, and fileInfo.add turns every
// record into counts, whatever the format. Next puts the batches in order, numbers
// the queries and looks for repeated ids. So the result, errors included, depends
// neither on the number of workers nor on where the cuts fall.
//
//	format        decoder                     a row means what … says
//	CSV, TSV      csv.go, fast in csvfast.go  encoding/csv
//	JSON Lines    jsonl.go, jsonline.go       jsontext
//	npy, npz      npy.go, npz.go              NumPy Enhancement Proposal 1, archive/zip
//	typed columns columns.go                  the package that registers the format, such as votes/parquet

// ProcessOptions configure Process.
type ProcessOptions struct {
	// Workers is the number of goroutines that call work. Defaults to GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after every batch that sink has taken, from
	// the goroutine that called Process.
	Progress func(Progress)
}

// Process sends every batch of r through work, on several goroutines at once, and
// the results through sink, one after the other in the order of the stream, on
// the caller's goroutine. What must be drawn or counted in order belongs into
// sink. Two batches per worker and a few more are under way at most, so
// memory is bounded.
//
// work may change the batch; neither may keep it or its slices. The context of
// work ends with that of r, and on the first error, which Process returns; no
// batch reaches sink after one that failed. Process waits for the calls of work
// that are under way, so they should look at their context if they take long.
// Afterwards r is at its end; closing it is left to the caller.
func Process[T any](r *Reader, o ProcessOptions, work func(context.Context, *Batch) (T, error),
	sink func(*Batch, T) error) error {
	if err := checkWorkers(o.Workers); err != nil {
		return err
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	type job struct {
		batch  *Batch
		result T
		err    error
		at     Progress
	}
	// Not of r.ctx, which ends with the stream, while batches are still under way.
	ctx, cancel := context.WithCancel(r.caller)
	p := textrows.InOrder(ctx, o.Workers, func() (job, error) {
		b, err := r.Next()
		return job{batch: b, at: r.Progress()}, err
	}, func(j job) job {
		if j.err = ctx.Err(); j.err == nil {
			j.result, j.err = work(ctx, j.batch)
		}
		return j
	}, func(err error) job { return job{err: err} })
	defer func() {
		cancel()
		r.cancel() // lets a stuck Next return
		<-p.Done
	}()
	for {
		j, err := p.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = j.err
		}
		if err == nil {
			err = sink(j.batch, j.result)
		}
		if err != nil {
			return err
		}
		j.batch.Release()
		if o.Progress != nil {
			o.Progress(j.at)
		}
	}
}
