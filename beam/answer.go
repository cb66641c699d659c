package darrmbeam

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

func init() {
	beam.RegisterDoFn(&readVotes{})
	beam.RegisterDoFn(&answerShard{})
}

// voteBlock is some consecutive queries.
type voteBlock struct {
	First int64    // number of the first, over all files
	IDs   []string // empty: the ids are the numbers
	// Votes are the teachers that voted for class 1, …, C-1, of one query after the other: the
	// others voted for class 0. Where votes may be missing they begin with class 0.
	Votes []int64
}

// firstClass is the first class whose votes a block lists.
func firstClass(missing bool) int {
	if missing {
		return 0
	}
	return 1
}

// readVotes reads a file and passes its queries on by shard. A file that is not what the
// first pipeline read fails; nothing of it goes further, because a runner drops the output
// of a bundle that fails, and the answers wait behind a GroupByKey for all files.
type readVotes struct {
	worker
	Read      ReadOptions
	K         int
	ShardRows int64
}

func (f *readVotes) ProcessElement(ctx context.Context, task fileTask,
	emit func(int64, voteBlock)) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return settled(f.read(ctx, task, emit), lastingInput)
}

func (f *readVotes) read(ctx context.Context, task fileTask, emit func(int64, voteBlock)) error {
	opts, err := f.Read.resolve(f.K)
	if err != nil {
		return err
	}
	next := task.First
	pin := f.keys.Pin()
	_, err = readFile(ctx, task.Path, opts, func(info fileInfo, b *votes.Batch) error {
		release.PinVotes(pin, b)
		for i := 0; i < b.Len(); {
			shard := next / f.ShardRows
			n := int(min(int64(b.Len()-i), (shard+1)*f.ShardRows-next))
			block := voteBlock{First: next}
			for j := range n {
				for _, n := range b.Row(i + j)[firstClass(opts.Missing == votes.MissingAbstain):] {
					block.Votes = append(block.Votes, int64(n))
				}
			}
			if info.ids {
				block.IDs = b.IDs[i : i+n]
			}
			emit(shard, block)
			next += int64(n)
			i += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rows := next - task.First; rows != task.Rows || !hmac.Equal(pin.Sum(nil), task.Pin) {
		return fmt.Errorf("%s %w while it was being answered (%d queries, %d before): the answers "+
			"would be to other votes than those that were checked and paid for", task.Path, errChanged, rows,
			task.Rows)
	}
	return nil
}

// answerShard answers the queries of a shard and writes them to a file of the temporary
// directory, in order. It gives the same file whenever it is run.
type answerShard struct {
	worker
	Table              []byte // the JSON of the table; certified here again
	Read               ReadOptions
	Queries, ShardRows int64
	Neighbours         accountant.Relation

	plan    release.Plan
	missing bool // votes may be missing
	coins   randsrc.Coins
}

func (f *answerShard) Setup(ctx context.Context) (err error) {
	t, err := certify(ctx, f.Table)
	if err != nil {
		return err
	}
	if f.plan, err = t.Plan(f.Neighbours); err != nil {
		return err
	}
	opts, err := f.Read.resolve(f.plan.Mechanism().Setting().K)
	if err != nil {
		return err
	}
	f.missing = opts.Missing == votes.MissingAbstain
	err = f.worker.Setup(ctx)
	f.coins = randsrc.KeyedCoins(f.keys.coins, "") // the key is one job's, and so one release's
	return err
}

// certificates remembers what this process has certified: certifying a table for hundreds
// of teachers takes seconds, and a worker makes many DoFns.
var certificates memo.Of[[32]byte, release.Table] // by the SHA-256 of the JSON

// certify certifies a table, once per process.
func certify(ctx context.Context, table []byte) (release.Table, error) {
	return certificates.Get(sha256.Sum256(table), func() (release.Table, error) {
		return release.ReadTable(ctx, bytes.NewReader(table))
	})
}

// shardClasses are the names of the answers in a shard: their numbers.
func shardClasses(p release.Plan) []string {
	return votes.IntegerClasses(len(p.AnswerNames(make([]string, p.Mechanism().Setting().Classes))))
}

func shardName(shard int64) string { return fmt.Sprintf("labels-%08d.csv", shard) }

// shardRows returns how many queries a shard has.
func shardRows(shard, perShard, queries int64) int64 {
	return min(perShard, queries-shard*perShard)
}

// fault is the hook by which tests make a worker fail, before a shard is answered or after it, and
// the starting process, with outputShard, once the labels are noted and before they are written.
var fault = func(shard int64, behind bool) error { return nil }

const outputShard = -1

func (f *answerShard) ProcessElement(ctx context.Context, shard int64,
	blocks func(*voteBlock) bool) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := fault(shard, false); err != nil {
		return err
	}
	var all []voteBlock
	var b voteBlock
	for blocks(&b) {
		all = append(all, b)
		b = voteBlock{}
	}
	content, err := f.answer(ctx, shard, all)
	if err != nil {
		return settled(err, lasting)
	}
	if err := f.leave(ctx, shardName(shard), content); err != nil {
		return err
	}
	return fault(shard, true)
}

// answer returns the shard's labels as CSV. Every query of the shard must be there, with one set of
// votes. One that came twice, because a bundle was run twice and both tries finished, is there
// once, however each try cut its blocks.
func (f *answerShard) answer(ctx context.Context, shard int64, blocks []voteBlock) ([]byte, error) {
	type row struct {
		id    string
		votes []int64
	}
	first := shard * f.ShardRows
	rows := make([]row, shardRows(shard, f.ShardRows, f.Queries))
	s := f.plan.Mechanism().Setting()
	listed := firstClass(f.missing)
	others := s.Classes - listed
	for _, b := range blocks {
		queries := int64(len(b.Votes) / others)
		if len(b.Votes)%others != 0 || len(b.IDs) != 0 && int64(len(b.IDs)) != queries {
			return nil, fmt.Errorf("shard %d: %d ids and %d numbers of votes of %d classes", shard,
				len(b.IDs), len(b.Votes), s.Classes)
		}
		at := b.First - first
		if at < 0 || at+queries > int64(len(rows)) {
			return nil, fmt.Errorf("shard %d: queries %d to %d are not its own", shard, b.First,
				b.First+queries-1)
		}
		for i := range queries {
			r := row{strconv.FormatInt(b.First+i, 10), b.Votes[i*int64(others):][:others]}
			if len(b.IDs) != 0 {
				r.id = b.IDs[i]
			}
			if was := rows[at+i]; was.votes != nil && (was.id != r.id || !slices.Equal(was.votes, r.votes)) {
				return nil, fmt.Errorf("shard %d: query %d appears twice, with different votes", shard, b.First+i)
			}
			rows[at+i] = r
		}
	}
	var out bytes.Buffer
	names := shardClasses(f.plan)
	w, err := votes.NewLabelWriter(&out, names)
	if err != nil {
		return nil, err
	}
	counts := make([]int, s.Classes)
	for i, r := range rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.votes == nil {
			return nil, fmt.Errorf("shard %d: query %d is lost", shard, first+int64(i))
		}
		counts[0] = s.K // less the others, where all vote; else it is among the votes
		for c, n := range r.votes {
			counts[listed+c] = int(n)
			if listed > 0 {
				counts[0] -= int(n)
			}
		}
		class, err := f.plan.Mechanism().Answer(f.coins, r.id, counts)
		if err != nil {
			return nil, err
		}
		if class == ensemble.Abstained {
			class = len(names) - 1
		}
		if err := w.Write(r.id, class); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// answerPipeline builds the second pipeline.
func (j *plan) answerPipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, j.tasks))
	read := &readVotes{Read: j.job.Read, K: j.planned.Mechanism().Setting().K, ShardRows: j.shardRows,
		worker: j.worker()}
	shards := beam.GroupByKey(s, beam.ParDo(s.Scope("read"), read, files))
	answer := &answerShard{Table: j.job.Table, Read: j.job.Read, Queries: j.queries,
		ShardRows: j.shardRows, Neighbours: j.job.Stated.Neighbours, worker: j.worker()}
	beam.ParDo0(s.Scope("answer"), answer, shards)
	return p
}

func inputf(format string, args ...any) error {
	return &release.InputError{Err: fmt.Errorf(format, args...)}
}
