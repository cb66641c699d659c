package darrmbeam

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/learn/federated/report"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// RoundJob is one round of darrm federated for more reports than one machine takes: it shuffles the files
// of the silos' reports and adds the reports up to the next round, as darrm federated shuffle and aggregate
// do. The runner is the shuffler: its workers, storage and operators are trusted as such.
type RoundJob struct {
	Engine
	// Plan and Round are what the files of the plan and of the round hold. Required.
	Plan, Round []byte
	// PlanFile and RoundFile are where these were read, so that nothing is written there. Default to
	// nowhere.
	PlanFile, RoundFile string
	// Reports are paths or patterns of the silos' files, local or of a file system known to Beam. Nothing
	// depends on their names or order. Required.
	Reports []string
	// Book is the local folder where the shuffler remembers what it released (rounds.Book). Required.
	Book string
	// Out gets the next round. Required.
	Out string
	// Shuffled gets the shuffled reports, which are public. Defaults to nowhere.
	Shuffled string
}

// RoundReport is what a round says about itself.
type RoundReport struct {
	Asked, Next *rounds.Round // the round, and what follows
	Silos       int           // whose reports came
	Missing     []int         // silos, from 0, whose did not
	Reports     [2]int        // by stream
	Attempts    int           // of the second pipeline
}

// roundPlan is a round under way.
type roundPlan struct {
	shared
	job   *RoundJob
	asked asked
	files []reportFile
	mix   *rounds.Mix
}

// RunRound does the job, in this order:
//
//  1. the plan is priced again, and a rounds.MixKey is drawn;
//  2. a first pipeline reads every file of reports, checks each report, and pins what it read;
//  3. the silos are counted: fewer reports than the price is for are rounds.ErrPartialRound;
//  4. a second pipeline reads the files again, compares them with the pins, sends every report to its place, and
//     adds each block of places up;
//  5. the book is asked: another set of reports for this round is rounds.ErrReleased. Only then are the
//     outputs written. The key is destroyed.
//
// # Work that is done twice
//
// A report's name is its stream, its silo and its number in the silo's file, and its place is a function of
// the name and the key. So a bundle that is run again sends every report where it went before; a place that
// gets one report twice has it once, and one that gets two reports, or none, is an error. A block that
// an earlier try wrote must be the same, byte for byte. The next round is the one that darrm federated aggregate
// works out from Shuffled, bit for bit.
//
// Errors of the input are [*InputError]s.
func RunRound(ctx context.Context, job RoundJob) (_ *RoundReport, err error) {
	p := &roundPlan{job: &job}
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	key, err := rounds.NewMixKey()
	if err != nil {
		return nil, err
	}
	end, err := p.begin(ctx, &job.Engine, key, "reports", p.checkPipeline)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := p.collect(ctx); err != nil {
		return nil, err
	}
	r := &RoundReport{Asked: p.asked.round, Silos: len(p.files), Missing: p.mix.Missing(), Reports: p.mix.Counts()}
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
	if job.Book == "" {
		return errors.New("the job has no book: a folder where the shuffler remembers which rounds it released")
	}
	if p.asked, err = readAsked(job.Plan, job.Round); err != nil {
		return &InputError{err.Error()}
	}
	names, err := expand(ctx, job.Reports, "reports", "its reports would count twice")
	if err != nil {
		return err
	}
	reads := []release.File{{Flag: "plan", Path: job.PlanFile}, {Flag: "round", Path: job.RoundFile}, {Flag: "shuffled", Path: job.Shuffled, Written: true}}
	for i, name := range names {
		p.files = append(p.files, reportFile{Number: int64(i), Path: name})
		reads = append(reads, release.File{Flag: "reports", Path: name})
	}
	if err := release.CheckPaths(job.Out, "", "", reads...); err != nil {
		return err
	}
	if job.Out == "" || job.Out == "-" || job.Shuffled == "-" {
		return fmt.Errorf("out = %q, shuffled = %q, but they must be files: what is written must be seen complete or not at all", job.Out, job.Shuffled)
	}
	return cmp.Or(outputAt(job.Out).Check(false), p.shuffled(func(o release.Output) error { return o.Check(false) }))
}

// shuffled does something with the output of shuffled reports, if there is one.
func (p *roundPlan) shuffled(do func(release.Output) error) error {
	if p.job.Shuffled == "" {
		return nil
	}
	return do(outputAt(p.job.Shuffled))
}

// publish works the next round out, writes into the book, and then the outputs.
func (p *roundPlan) publish(ctx context.Context, r *RoundReport) error {
	c, err := p.contents(ctx)
	if err != nil {
		return err
	}
	if r.Next, err = p.mix.Aggregate(ctx, func(of report.Stream, block int) ([]float64, error) {
		_, sum, err := p.block(ctx, of, block)
		return sum, err
	}); err != nil {
		return err
	}
	next, err := r.Next.Encode()
	if err != nil {
		return err
	}
	head, err := p.mix.Release(rounds.Book(p.job.Book), c)
	if err != nil {
		return err
	}
	if err := p.shuffled(func(o release.Output) error {
		return o.Write(ctx, func(w io.Writer) error { return p.writeShuffled(ctx, head, w) })
	}); err != nil {
		return err
	}
	return outputAt(p.job.Out).Write(ctx, func(w io.Writer) error { _, err := w.Write(next); return err })
}

// contents reads the digests of the buckets.
func (p *roundPlan) contents(ctx context.Context) (*rounds.Contents, error) {
	c := new(rounds.Contents)
	for k := range c {
		for i := range c[k] {
			b, err := get(ctx, bucketPath(p.temp, report.Stream(k), i))
			if errors.Is(err, os.ErrNotExist) {
				continue // no report begins so; Release counts what is there
			}
			if err == nil {
				err = json.Unmarshal(b, &c[k][i])
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// block returns a block's reports and their sum.
func (p *roundPlan) block(ctx context.Context, of report.Stream, block int) (messages []byte, sum []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b, err := get(ctx, blockPath(p.temp, of, block))
	if err != nil {
		return nil, nil, err
	}
	n := p.mix.BlockReports(of, block) * p.asked.size()
	if len(b) < n || (len(b)-n)%8 != 0 {
		return nil, nil, fmt.Errorf("%s has %d bytes", blockPath(p.temp, of, block), len(b))
	}
	for rest := b[n:]; len(rest) > 0; rest = rest[8:] {
		sum = append(sum, math.Float64frombits(binary.LittleEndian.Uint64(rest)))
	}
	return b[:n], sum, nil
}

func (p *roundPlan) writeShuffled(ctx context.Context, head []byte, w io.Writer) error {
	if _, err := w.Write(head); err != nil {
		return err
	}
	for k := range p.mix.Counts() {
		for i := range p.mix.Blocks(report.Stream(k)) {
			messages, _, err := p.block(ctx, report.Stream(k), i)
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

// checkPipeline builds the first pipeline.
func (p *roundPlan) checkPipeline() *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, p.files)) // else one worker reads all
	beam.ParDo0(s.Scope("check"), &checkReports{Plan: p.job.Plan, Round: p.job.Round, Temp: p.temp, Key: p.keyAt}, files)
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
	read := &placeReports{Plan: p.job.Plan, Round: p.job.Round, Silos: silos, Key: p.keyAt}
	blocks, buckets := beam.ParDo2(s.Scope("place"), read, files)
	beam.ParDo0(s.Scope("add up"), &sumBlock{Plan: p.job.Plan, Round: p.job.Round, Silos: silos, Temp: p.temp}, beam.GroupByKey(s, blocks))
	beam.ParDo0(s.Scope("digest"), &hashBucket{Plan: p.job.Plan, Round: p.job.Round, Temp: p.temp}, beam.GroupByKey(s, buckets))
	return pipeline
}
