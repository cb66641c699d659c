package darrmbeam

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// RoundJob is one round of darrm federated for more reports than one machine takes: it shuffles the
// files of the silos' reports and adds the reports up to the next round, as darrm federated shuffle
// and aggregate do. The runner is the shuffler: its workers, storage and operators are trusted as
// such.
type RoundJob struct {
	Engine
	// Plan and Round are what the files of the plan and of the round hold. Required.
	Plan, Round []byte
	// PlanFile and RoundFile are where these were read, so that nothing is written there. Default to
	// nowhere.
	PlanFile, RoundFile string
	// Reports are paths or patterns of the silos' files, local or of a file system known to Beam.
	// Nothing depends on their names or order. Required.
	Reports []string
	// Book is the record of the shuffler's releases, in a local folder. Required.
	Book rounds.Book
	// Out gets the next round. Required. Where it is there already it stays, and something else is not
	// replaced.
	Out string
	// Shuffled gets the shuffled reports, which are public, by the same rule. Defaults to nowhere.
	Shuffled string
}

// RoundReport describes a round that was run.
type RoundReport struct {
	Asked, Next *rounds.Round // the round, and what follows
	Silos       int           // whose reports came
	Missing     []int         // silos, from 0, whose did not
	Reports     [2]int        // by stream
	Attempts    int           // of the second pipeline
	Unchanged   bool          // Out had the next round already
}

// roundPlan is a round under way.
type roundPlan struct {
	shared
	job   *RoundJob
	asked asked
	files []reportFile
	mix   *rounds.Mix
	cells cellStarts
}

// RunRound does the job, in this order:
//
//  1. the plan is priced again, and a job key is drawn;
//  2. a first pipeline reads every file of reports, checks each report, counts how they begin, and
//     pins what it read;
//  3. the silos are counted: fewer reports than the price is for are rounds.ErrPartialRound;
//  4. a second pipeline reads the files again, compares them with the pins, puts the reports in the
//     order of their bytes, cell by cell, and adds each block of places up;
//  5. the book is asked: another set of reports for this round is rounds.ErrReleased. Only then are
//     the outputs written. The key is destroyed.
//
// # Work that is done twice
//
// A report's name is its stream, its silo and its number in the silo's file, and its place is its
// rank among all. So a bundle that is run again sends every report where it went before; a report
// that comes twice is there once, and two with one name, or one that is missing, are an error. A
// block that an earlier try wrote must be the same, byte for byte. Out and Shuffled are functions
// of the set of reports, the same as those of darrm federated shuffle and aggregate, bit for bit: a
// round that is done again leaves what was published.
//
// Errors of the input are [release.InputError]s.
func RunRound(ctx context.Context, job RoundJob) (_ *RoundReport, err error) {
	p := &roundPlan{job: &job}
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	key, err := randsrc.NewKey()
	if err != nil {
		return nil, err
	}
	end, err := p.begin(ctx, &job.Engine, jobKeys{coins: key}, "reports", p.checkPipeline)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return nil, err
	}
	if err := p.collect(ctx); err != nil {
		return nil, err
	}
	r := &RoundReport{Asked: p.asked.round, Silos: len(p.files), Missing: p.mix.Missing(),
		Reports: p.mix.Counts()}
	if r.Attempts, err = job.repeat(ctx, p.mixPipeline); err != nil {
		return nil, fmt.Errorf("shuffle the reports, attempt %d: %w", r.Attempts, err)
	}
	return r, p.publish(ctx, r)
}

// prepare checks the job and finds its files.
func (p *roundPlan) prepare(ctx context.Context) (err error) {
	job := p.job
	if err := job.check(); err != nil {
		return err
	}
	if job.Book.Folder == "" {
		return usagef("--book is missing: a folder where the shuffler remembers which rounds it released")
	}
	if p.asked, err = readAsked(job.Plan, job.Round); err != nil {
		return err
	}
	names, err := expand(ctx, job.Reports, "reports", "its reports would count twice")
	if err != nil {
		return err
	}
	reads := []release.File{{Name: "--plan", Path: job.PlanFile},
		{Name: "--round", Path: job.RoundFile}, {Name: "--shuffled", Path: job.Shuffled, Written: true}}
	for i, name := range names {
		p.files = append(p.files, reportFile{Number: int64(i), Path: name})
		reads = append(reads, release.File{Name: "--reports", Path: name})
	}
	if err := release.CheckPaths(job.Out, "", "", reads...); err != nil {
		return err
	}
	if job.Out == "" || job.Out == "-" || job.Shuffled == "-" {
		return usagef("out = %q, shuffled = %q, but they must be files: what is written must be seen "+
			"complete or not at all", job.Out, job.Shuffled)
	}
	if job.Shuffled != "" {
		if err := outputAt(job.Shuffled).Check(false); err != nil {
			return err
		}
	}
	return outputAt(job.Out).Check(false)
}

// publish works the next round out, writes into the book, and then the outputs.
func (p *roundPlan) publish(ctx context.Context, r *RoundReport) (err error) {
	digest := sha256.New() // of the shuffled reports
	digest.Write(p.mix.Head())
	if r.Next, err = p.mix.Aggregate(ctx, func(of randomiser.Stream, block int) ([]float64, error) {
		messages, sum, err := p.block(ctx, of, block)
		digest.Write(messages)
		return sum, err
	}); err != nil {
		return err
	}
	next, err := r.Next.Encode()
	if err != nil {
		return err
	}
	if err := p.mix.Release(p.job.Book, [32]byte(digest.Sum(nil))); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what is in the book is published
	if out := p.job.Shuffled; out != "" {
		if _, err := release.WriteOnce(ctx, fmt.Sprintf("--shuffled = %q", out), outputAt(out),
			func(w io.Writer) error { return p.writeShuffled(ctx, w) }); err != nil {
			return err
		}
	}
	r.Unchanged, err = release.WriteOnce(ctx, fmt.Sprintf("--out = %q", p.job.Out),
		outputAt(p.job.Out), func(w io.Writer) error { _, err := w.Write(next); return err })
	return err
}

// block returns a block's reports and their sum.
func (p *roundPlan) block(ctx context.Context, of randomiser.Stream,
	block int) (messages []byte, sum []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b, err := p.get(ctx, blockName(of, block))
	if err != nil {
		return nil, nil, &release.OutputError{Err: err}
	}
	n := p.mix.BlockReports(of, block) * p.asked.size()
	if len(b) < n || (len(b)-n)%8 != 0 {
		return nil, nil, fmt.Errorf("%s has %d bytes", blockName(of, block), len(b))
	}
	for rest := b[n:]; len(rest) > 0; rest = rest[8:] {
		sum = append(sum, math.Float64frombits(binary.LittleEndian.Uint64(rest)))
	}
	return b[:n], sum, nil
}

func (p *roundPlan) writeShuffled(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(p.mix.Head()); err != nil {
		return err
	}
	for k := range p.mix.Counts() {
		for i := range p.mix.Blocks(randomiser.Stream(k)) {
			messages, _, err := p.block(ctx, randomiser.Stream(k), i)
			if err == nil {
				_, err = w.Write(messages)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *roundPlan) roundWorker() roundWorker {
	return roundWorker{worker: p.worker(), Plan: p.job.Plan, Round: p.job.Round}
}

// checkPipeline builds the first pipeline.
func (p *roundPlan) checkPipeline() *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, p.files)) // else one worker reads all
	beam.ParDo0(s.Scope("check"), &checkReports{p.roundWorker()}, files)
	return pipeline
}

// mixPipeline builds the second pipeline.
func (p *roundPlan) mixPipeline() *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, p.files))
	var silos []int
	for _, f := range p.files {
		silos = append(silos, int(f.Silo))
	}
	cells := beam.ParDo(s.Scope("read"), &readReports{p.roundWorker()}, files)
	sorted := beam.ParDo(s.Scope("order"), &orderCell{Size: int64(p.asked.size()), Starts: p.cells,
		Key: p.keyAt}, beam.GroupByKey(s, cells))
	beam.ParDo0(s.Scope("add up"), &sumBlock{roundWorker: p.roundWorker(), Silos: silos}, beam.GroupByKey(s, sorted))
	return pipeline
}
