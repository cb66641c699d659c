package darrmbeam

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// Limits and defaults of a Job.
const (
	DefaultShardRows = 1 << 16
	MaxShardRows     = 1 << 24 // a shard is held in a worker's memory
	DefaultAttempts  = 3
	MaxAttempts      = 100
)

// Job is a release of private labels for files of votes.
type Job struct {
	Engine
	// Votes are paths or patterns, local or of a file system known to Beam (gs://…). They
	// must be readable by the workers. Required.
	Votes []string
	Read  ReadOptions
	// Table is the JSON of a noise function, or of a table of many classes or many answers, as darrm solve
	// --out writes it, with shares and costs or without. It is certified here and by every worker. A table
	// with masses for each label of a question is refused: a query here is a question of its own. Required.
	Table []byte
	// AcceptConstant pays for labels of a table for stated shares or costs that tell no more than always the
	// same answer; else such a table is refused.
	AcceptConstant bool
	// TableFile is the file that Table was read from. The job refuses to write there. Defaults to
	// no file.
	TableFile string
	// Out gets the labels, query,label, in the order of the votes. Required.
	Out string
	// ShardRows is the number of queries that are answered together. Defaults to DefaultShardRows.
	ShardRows int
	// Charge names the ledger that pays for the release. The rules and the ledger's entries are
	// those of darrm aggregate: the same input costs the same there and here, and one ledger
	// serves both.
	Charge Charge
	// Queries is how many labels one charge pays for, in all jobs that take of it; 0 for those of the
	// votes, and for a table for many answers, which has its number.
	Queries int
	// Stated holds the user's statements about the teachers beside the table. A table for other
	// teachers is refused. Where nothing is stated, the table's teachers are taken. Neighbours, the relation of
	// their promise, defaults to accountant.ReplaceOne.
	Stated ensemble.Stated
	// Force replaces a file at Out, and never one that the ledger knows as a request's result. Without
	// a ledger a new draw is a second release that nobody accounts for.
	Force bool
}

// Charge names the ledger that pays for a release, and the composition of its answers.
type Charge = release.Charge

// Report describes a release.
type Report struct {
	release.Summary
	Attempts int // of the second pipeline
	// Apart says how a table for stated shares or costs treats the classes, in sentences; nil of other tables.
	Apart  []string
	Digest ledger.Digest
}

// plan is a job under way.
type plan struct {
	shared
	job       *Job
	book      *ledger.Ledger   // nil where none is charged
	votes     *ledger.VoteHash // of all votes; nil where the ledger need not recognise them
	planned   release.Plan     // without the number of queries
	answers   []string         // their names
	apart     []string         // Report.Apart
	tasks     []fileTask
	shardRows int64
	queries   int64
	columns   votes.Roles         // of the first file
	draft     *release.LabelDraft // of the output; nil where nothing is released
}

// Run does the job. When it returns an error and no report, there is no output, and a file that was
// at Out is unchanged. An error after a charge states that the budget is spent. When it returns an
// error with a report, the labels are at Out, and a key or a temporary file could not be removed.
// Faults of the votes are [release.InputError]s; refusals of the ledger are its errors.
func Run(ctx context.Context, job Job) (report *Report, err error) {
	p, end, err := start(ctx, &job, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	return p.release(ctx)
}

// Quote returns the cost of the job. It reads and checks the votes by the first pipeline. It draws
// and charges nothing. Out may be "". Where the ledger would refuse the charge, the error is the
// ledger's.
func Quote(ctx context.Context, job Job) (quote *release.Quote, err error) {
	p, end, err := start(ctx, &job, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	summary, bill, err := p.price()
	if err != nil {
		return nil, err
	}
	return release.NewQuote(ctx, summary, p.book, bill)
}

// start does what comes before the charge. end must be called.
func start(ctx context.Context, job *Job, dry bool) (p *plan, end func() error, err error) {
	p = &plan{job: job, shardRows: int64(cmp.Or(job.ShardRows, DefaultShardRows))}
	job.Stated.Neighbours = cmp.Or(job.Stated.Neighbours, accountant.ReplaceOne)
	stop := func() error { return nil }
	end = func() error {
		if p.draft != nil {
			p.draft.Remove()
		}
		return stop()
	}
	if err = p.prepare(ctx, dry); err == nil {
		err = p.openLedger(ctx)
	}
	var coins *randsrc.Key
	if err == nil {
		coins, err = randsrc.NewKey()
	}
	if err == nil {
		stop, err = p.begin(ctx, &job.Engine, jobKeys{coins, p.votes}, "votes", p.checkPipeline)
	}
	if err == nil {
		err = p.collect(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return p, end, nil
}

// prepare checks the job, certifies its table, finds its files and begins the draft of the output.
func (p *plan) prepare(ctx context.Context, dry bool) (err error) {
	job := p.job
	if err := job.check(); err != nil {
		return err
	}
	switch {
	case job.Out == "-" || job.Out == "" && !dry:
		return usagef("out = %q, but it must be a file: what is written must be seen complete or "+
			"not at all", job.Out)
	case p.shardRows < 1 || p.shardRows > MaxShardRows:
		return check.Wantf("shard rows", p.shardRows, "between 1 and %d", MaxShardRows)
	}
	table, err := certify(ctx, job.Table)
	if err != nil {
		return err
	}
	if p.planned, err = table.Plan(job.Stated.Neighbours); err != nil {
		return err
	}
	if err := job.takes(ctx, table); err != nil {
		return err
	}
	if job.Queries != 0 {
		if p.planned, err = p.planned.ForLabels(job.Queries, job.Charge.Slack); err != nil {
			return err
		}
	}
	if err := job.Charge.Check(!math.IsInf(p.planned.Mechanism().Teachers().Epsilon, 1)); err != nil {
		return err
	}
	if err := release.Match(job.Stated, p.planned.Mechanism().Problem(), "the table"); err != nil {
		return err
	}
	k := p.planned.Mechanism().Setting().K
	read, err := job.Read.resolve(k)
	if err != nil {
		return &release.UsageError{Err: err}
	}
	if err := p.planned.Fits(k, len(read.Classes)); err != nil {
		return fmt.Errorf("classes = %q: %w", read.Classes, err)
	}
	if err := p.planned.Reads(read.Missing); err != nil {
		return err
	}
	p.apart = apart(table, read.Classes)
	p.answers, job.Charge.Same = p.planned.AnswerNames(read.Classes), read.Same
	names, err := expand(ctx, job.Votes, "votes", "its queries would be answered twice")
	if err != nil {
		return err
	}
	for i, name := range names {
		p.tasks = append(p.tasks, fileTask{Number: int64(i), Path: name})
	}
	if err := p.checkFiles(ctx, dry); err != nil || dry {
		return err
	}
	folder := ""
	if isLocal(job.Out) {
		folder = filepath.Dir(atomicfile.Target(job.Out))
	}
	p.draft, err = release.NewLabelDraft(folder, path.Base(filepath.ToSlash(job.Out)),
		votes.LabelOptions{Classes: p.answers})
	return err
}

// checkFiles refuses an output that would replace something, or cannot be written, before
// anything is paid. Of files that are not on this machine's disks only the names are
// compared.
func (p *plan) checkFiles(ctx context.Context, dry bool) error {
	job := p.job
	reads := []release.File{{Name: "--table", Path: job.TableFile}}
	for _, t := range p.tasks {
		reads = append(reads, release.File{Path: t.Path})
	}
	if err := release.CheckPaths(job.Out, "", job.Charge.Ledger, reads...); err != nil {
		return err
	}
	if job.Out == "" {
		return nil
	}
	if err := votes.CheckName(job.Out); err != nil {
		return &release.UsageError{Err: fmt.Errorf("--out: %w", err)}
	}
	if job.Charge.Ledger == "" && !job.Force && !dry {
		if err := checkOverwrite(ctx, job.Out); err != nil {
			return err
		}
	}
	return p.output().Check(job.Charge.Ledger != "")
}

// checkOverwrite is release.CheckOverwrite on any file system.
func checkOverwrite(ctx context.Context, path string) error {
	if isLocal(path) {
		return release.CheckOverwrite(path, false)
	}
	f, err := open(ctx, path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return errors.Join(release.Overwrites(path), f.Close())
}

// openLedger opens the ledger that is charged, and what recognises the votes in it.
func (p *plan) openLedger(ctx context.Context) (err error) {
	if p.book, err = p.job.Charge.Open(ctx); err != nil {
		return err
	}
	if p.job.Charge.NeedsVotes() {
		p.votes, err = p.book.VoteHash()
	}
	return err
}

// price returns the cost of the answers to all queries, and the ledger's bill, nil without ledger.
func (p *plan) price() (s release.Summary, bill *release.Bill, err error) {
	charge, priced := p.job.Charge, p.planned.WithQueries(int(p.queries))
	s = priced.Summary(p.columns, charge)
	if !p.job.Stated.OfTeachers() {
		s.Source = release.SourceTable
	}
	s.Classes, s.Same = p.answers, charge.Same
	if s.Totals, err = priced.Totals(charge.Slack); err != nil {
		return s, nil, err
	}
	if p.book == nil {
		return s, nil, s.CheckTotals(charge)
	}
	charge.Votes = p.votes
	bill, err = priced.Bill(charge)
	return s, bill, err
}

// release pays for the answers to all queries, draws them and publishes them.
func (p *plan) release(ctx context.Context) (*Report, error) {
	summary, bill, err := p.price()
	if err != nil {
		return nil, err
	}
	r := &Report{Summary: summary, Apart: p.apart}
	t := release.Transaction{Ledger: p.book, Bill: bill, Output: p.output(), Force: p.job.Force,
		Draw: func(ctx context.Context, _ *ledger.Receipt) (func(io.Writer) error, error) {
			if err := p.answer(ctx, r); err != nil {
				return nil, err
			}
			return p.draft.Encode, p.merge(ctx)
		}}
	out, err := t.Run(ctx)
	switch {
	case err != nil && out.Receipt != nil:
		return nil, fmt.Errorf(
			"nothing was released, but request %q is charged and cannot be repeated: %w",
			p.job.Charge.RequestID, err)
	case err != nil:
		return nil, err
	}
	r.Before, r.Again, r.Digest = out.Before, out.Again(), out.Digest
	if p.book != nil && p.planned.Together().Most > 0 {
		r.Summary.Charge, err = release.ChargeOf(ctx, p.book, p.job.Charge.RequestID)
	}
	return r, err
}

// answer runs the second pipeline until it succeeds.
func (p *plan) answer(ctx context.Context, r *Report) (err error) {
	r.Attempts, err = p.job.repeat(ctx, p.answerPipeline)
	if err != nil {
		return fmt.Errorf("answer the queries, attempt %d: %w", r.Attempts, err)
	}
	return nil
}

// output returns the destination of the labels.
func (p *plan) output() release.Output { return outputAt(p.job.Out) }

func outputAt(path string) release.Output {
	if isLocal(path) {
		return localOutput{release.FileOutput{Path: path}}
	}
	return remoteOutput(path)
}

// localOutput is a file of this machine.
type localOutput struct{ release.FileOutput }

// Check refuses a device and a pipe too: what is written there cannot be taken back.
func (o localOutput) Check(charged bool) error {
	if info, err := os.Stat(o.Path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &release.OutputError{Err: fmt.Errorf(
			"--out = %q, but it must be a file: what is written must be seen complete or not at all",
			o.Path)}
	}
	return o.FileOutput.Check(charged)
}

func (o localOutput) Write(ctx context.Context, encode func(io.Writer) error) error {
	if err := fault(outputShard, false); err != nil {
		return err
	}
	return o.FileOutput.Write(ctx, encode)
}

func (o localOutput) WriteNew(ctx context.Context, encode func(io.Writer) error) error {
	if err := fault(outputShard, false); err != nil {
		return err
	}
	return o.FileOutput.WriteNew(ctx, encode)
}

// remoteOutput is a path of a file system known to Beam.
type remoteOutput string

// Check looks at nothing: such file systems say what they do not take when it is written.
func (o remoteOutput) Check(bool) error { return nil }

func (o remoteOutput) Open(ctx context.Context) (io.ReadCloser, error) {
	return open(ctx, string(o))
}

// Write removes what it wrote after an error, since an object store shows what is closed.
func (o remoteOutput) Write(ctx context.Context, encode func(io.Writer) error) error {
	if err := fault(outputShard, false); err != nil {
		return err
	}
	w, err := create(ctx, string(o))
	if err != nil {
		return err
	}
	if err := errors.Join(encode(w), w.Close()); err != nil {
		return errors.Join(err, remove(context.WithoutCancel(ctx), string(o))) // an interruption, too
	}
	return nil
}

// merge writes the labels of all shards into the draft, and fails unless they are all there.
func (p *plan) merge(ctx context.Context) error {
	for shard := int64(0); shard*p.shardRows < p.queries; shard++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.mergeShard(ctx, shard); err != nil {
			return fmt.Errorf("%s: %w", shardName(shard), err)
		}
	}
	if err := p.draft.Commit(); err != nil {
		return &release.OutputError{Err: fmt.Errorf("--out: %w", err)}
	}
	return nil
}

func (p *plan) mergeShard(ctx context.Context, shard int64) error {
	b, err := p.get(ctx, shardName(shard))
	if err != nil {
		return &release.OutputError{Err: err}
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord, r.ReuseRecord = 2, true
	if head, err := r.Read(); err != nil || head[0] != "query" || head[1] != "label" {
		return fmt.Errorf("not a file of labels (%v)", err)
	}
	rows, want := int64(0), shardRows(shard, p.shardRows, p.queries)
	for ; ; rows++ {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		label, err := strconv.Atoi(row[1])
		if err != nil {
			return err
		}
		if err := p.draft.Write(row[0], label); err != nil {
			return &release.OutputError{Err: fmt.Errorf("--out: %w", err)}
		}
	}
	if rows != want {
		return fmt.Errorf("%d answers, but there are %d queries", rows, want)
	}
	return nil
}
