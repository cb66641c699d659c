package darrmbeam

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// Faults of the votes are found before anything is charged, are reported with their
// place, and leave nothing behind.
func TestBadVotes(t *testing.T) {
	rows := queries(90) // 30 in the first file, 60 in the second
	for _, tt := range []struct {
		name string
		do   func(job *Job)
		want string
	}{
		{"id in two files", func(j *Job) {
			writeVotes(t, j.Votes[1], append(queries(90)[30:], query{"q-7", 3}), true)
		}, `votes-b.csv: query 60, counted from 0: query id "q-7" is already query 7 in`},
		{"id in one file", func(j *Job) {
			writeVotes(t, j.Votes[1], append(queries(90)[30:], query{"q-31", 3}), true)
		}, `query id "q-31" is already query 1 in`},
		{"no vote", func(j *Job) { appendTo(t, j.Votes[1], "q,0,1,2,0,0,0,0,0,0,0,0\n") },
			"votes-b.csv:62: column 4"},
		{"missing vote", func(j *Job) { appendTo(t, j.Votes[0], "q,0,1,,0,0,0,0,0,0,0,0\n") },
			"votes-a.csv:32: column 4"},
		{"short row", func(j *Job) {
			appendTo(t, j.Votes[0], "q,0,1\n")
		}, "votes-a.csv:32: the row has 3 columns"},
		{"empty file", func(j *Job) { os.WriteFile(j.Votes[1], nil, 0o600) }, "the file is empty"},
		{"other K", func(j *Job) { os.WriteFile(j.Votes[1], []byte("query,t1,t2\nx,0,1\n"), 0o600) },
			"K = 11 teachers are expected"},
		{"a column more", func(j *Job) { rename(t, j, 1, ",t11\n", ",t11,y\n", "\n", ",1\n") },
			`("y"): 12 columns could be votes, but K = 11`},
		{"a column of another kind", func(j *Job) {
			rename(t, j, 1, ",t11\n", ",y\n")
		}, `("y"): named unlike the other 10`},
		{"other columns in another file", func(j *Job) { rename(t, j, 1, ",t11\n", ",t12\n") },
			"t10, t12 (11 columns)"},
		{"ids in one only", func(j *Job) { writeVotes(t, j.Votes[1], rows[30:], false) }, "query ids"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := newJob(t, rows, true)
			job.Charge = newCharge(t, 1e4, "fresh")
			tt.do(&job)
			_, err := Run(context.Background(), job)
			var input *release.InputError
			if !errors.As(err, &input) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			checkSpent(t, job.Charge, 0)
			checkNoOutput(t, job)
		})
	}
}

// rename replaces text in the header of a job's file of votes, and in its rows.
func rename(t testing.TB, j *Job, file int, old, new string, inRows ...string) {
	t.Helper()
	b, err := os.ReadFile(j.Votes[file])
	if err != nil {
		t.Fatal(err)
	}
	head, rows, _ := strings.Cut(string(b), "\n")
	head = strings.Replace(head+"\n", old, new, 1)
	rows = strings.NewReplacer(inRows...).Replace(rows)
	if err := os.WriteFile(j.Votes[file], []byte(head+rows), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The listed columns of votes are read, and the report names them.
func TestVoteColumns(t *testing.T) {
	rows := queries(90)
	job := newJob(t, rows, true)
	for i := range job.Votes {
		rename(t, &job, i, ",t11\n", ",last,y\n", "\n", ",1\n")
	}
	job.Read.VoteColumns = "t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,last"
	var s spy
	s.wrap(t, &job)
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Columns.String(),
		"votes: t1 … t10, last (11 columns); id: query; truth: none; not read: y"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	checkLabels(t, job.Out, rows, true, s.key)
}

func appendTo(t testing.TB, path, rows string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, rows...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Votes that change between the two pipelines are noticed, and nothing is released: the
// answers would be to votes that were not checked, and a retry could answer two
// versions of a query with the same coins.
func TestVotesThatChangeMeanwhile(t *testing.T) {
	for name, change := range map[string]func(rows []query) []query{
		"one vote":   func(rows []query) []query { rows[2].ones ^= 1; return rows },
		"a row more": func(rows []query) []query { return append(rows, query{"new", 1}) },
		"a row less": func(rows []query) []query { return rows[1:] },
		"two ids change": func(rows []query) []query {
			rows[0].id, rows[1].id = rows[1].id, rows[0].id
			return rows
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows := queries(90)
			job := newJob(t, rows, true)
			job.Attempts = 2
			setFault(t, func(shard int64, behind bool) error { t.Error("a shard was answered"); return nil })
			var s spy
			s.between = func(n int) error {
				if n == 1 {
					writeVotes(t, job.Votes[0], change(queries(90)[:30]), true)
				}
				return nil
			}
			s.wrap(t, &job)
			var input *release.InputError
			if _, err := Run(context.Background(), job); !errors.As(err, &input) ||
				!strings.Contains(err.Error(), "changed while it was being answered") {
				t.Errorf("error %v", err)
			}
			if s.ran != 2 { // another try would find the same
				t.Errorf("%d pipelines ran", s.ran)
			}
			checkNoOutput(t, job)
		})
	}
}

func TestBadJobs(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(j *Job)
		want string
	}{
		{"no runner", func(j *Job) { j.Run = nil }, "runner"},
		{"no output", func(j *Job) { j.Out = "" }, "out ="},
		{"stdout", func(j *Job) { j.Out = "-" }, "out ="},
		{"no votes", func(j *Job) { j.Votes = nil }, "no file"},
		{"stdin", func(j *Job) { j.Votes = []string{"-"} }, "must be in files"},
		{"no such file", func(j *Job) { j.Votes = []string{filepath.Join(t.TempDir(), "none.csv")} },
			"no such file"},
		{"pattern without files", func(j *Job) {
			j.Votes = []string{filepath.Join(t.TempDir(), "*.csv")}
		}, "matches no file"},
		{"a file twice", func(j *Job) {
			j.Votes = append(j.Votes, filepath.Join(filepath.Dir(j.Out), ".", "votes-a.csv"))
		}, "given twice"},
		{"a file twice by pattern", func(j *Job) {
			j.Votes = append(j.Votes, filepath.Join(filepath.Dir(j.Out), "*-b.csv"))
		}, "given twice"},
		{"shards", func(j *Job) { j.ShardRows = -1 }, "shard rows"},
		{"attempts", func(j *Job) { j.Attempts = MaxAttempts + 1 }, "attempts"},
		{"no table", func(j *Job) { j.Table = nil }, "not a noise-function table"},
		{"no ledger there", func(j *Job) {
			j.Charge = Charge{Ledger: filepath.Join(t.TempDir(), "l"), RequestID: "a", Teachers: "fresh",
				AcceptWeak: true}
		}, "there is no ledger"},
		{"header", func(j *Job) { j.Read.Header = "perhaps" }, "header"},
		{"vote columns", func(j *Job) { j.Read.VoteColumns = "\"t1" }, "vote columns"},
		{"layout", func(j *Job) { j.Read.Layout = "round" }, "layout"},
		{"key directory", func(j *Job) { j.KeyDir = filepath.Join(t.TempDir(), "none") }, "job key"},
	} {
		job := newJob(t, queries(9), true)
		var s spy
		s.wrap(t, &job)
		tt.do(&job)
		if _, err := Run(context.Background(), job); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if s.ran != 0 {
			t.Errorf("%s: a pipeline ran", tt.name)
		}
		job.KeyDir = ""
		checkClean(t, job)
	}
	// A table whose γ does not keep its promise is refused like everywhere.
	job := newJob(t, queries(9), true)
	job.Table = bytes.Replace(job.Table, []byte(`"m": 3`), []byte(`"m": 1`), 1)
	if _, err := Run(context.Background(), job); err == nil {
		t.Error("a table for another promise is accepted")
	}
}

// newKey draws a job's key and puts it where its workers find it.
func newKey(t testing.TB, dir string) (key *randsrc.Key, at keyAt, forget func() error) {
	t.Helper()
	key = must.Get(randsrc.NewKey())(t)
	at, forget, err := placeKey(t.Context(), dir, jobKeys{coins: key})
	if err != nil {
		t.Fatal(err)
	}
	beginWork(key.Fingerprint())
	t.Cleanup(func() { works.Delete(key.Fingerprint()) })
	return key, at, forget
}

// Two tries of a shard, one after the other and at the same time, leave one file. With fresh
// randomness in the place of the key's coins, which is the mistake to be caught, the
// second try is refused.
func TestTwoTriesOfAShard(t *testing.T) {
	ctx := context.Background()
	key, at, forget := newKey(t, "")
	defer forget()
	rows := queries(500)
	block := voteBlock{First: 0}
	for _, q := range rows {
		block.IDs, block.Votes = append(block.IDs, q.id), append(block.Votes, int64(q.ones))
	}
	dir := t.TempDir()
	try := func() error {
		f := &answerShard{Table: table(t), Queries: 500, ShardRows: 1000,
			Neighbours: accountant.ReplaceOne, worker: worker{Temp: dir, Key: at}}
		if err := f.Setup(ctx); err != nil {
			return err
		}
		// Blocks come cut, and in any order.
		blocks := []voteBlock{
			{First: 300, IDs: block.IDs[300:], Votes: block.Votes[300:]},
			{First: 0, IDs: block.IDs[:300], Votes: block.Votes[:300]},
		}
		return f.ProcessElement(ctx, 0, func(b *voteBlock) bool {
			if len(blocks) == 0 {
				return false
			}
			*b, blocks = blocks[0], blocks[1:]
			return true
		})
	}
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { errs <- try() }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := try(); err != nil {
		t.Error(err)
	}
	in := box{dir, jobKeys{coins: key}}
	plain := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(plain, must.Get(in.get(ctx, shardName(0)))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	checkLabels(t, plain, rows, true, key)

	m, fresh := mechanism(t), randsrc.SystemCoins()
	var b bytes.Buffer
	w, err := votes.NewLabelWriter(&b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range rows {
		class, err := m.Answer(fresh, q.id, []int{m.Setting().K - q.ones, q.ones})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(q.id, class); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	// 500 answers agree by chance with probability below 2⁻¹⁰⁰: those at l = 5 and 6 alone,
	// a sixth, are 1 with probability near a half.
	if err := in.put(ctx, shardName(0), b.Bytes()); !errors.Is(err, errOther) {
		t.Error("a second try with fresh randomness is accepted")
	}
	// Another key is such a second try, too.
	if err := forget(); err != nil {
		t.Fatal(err)
	}
	_, at, forget2 := newKey(t, "")
	defer forget2()
	f := &answerShard{Table: table(t), Queries: 500, ShardRows: 1000,
		Neighbours: accountant.ReplaceOne, worker: worker{Temp: dir, Key: at}}
	if err := f.Setup(ctx); err != nil {
		t.Fatal(err)
	}
	content, err := f.answer(ctx, 0, []voteBlock{block})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.put(ctx, shardName(0), content); !errors.Is(err, errOther) {
		t.Error("a second try with another key is accepted")
	}
}

// A shard with queries lost, twice as two or out of place is refused, however its blocks lie.
// Blocks that come twice, because two tries of a bundle both finished, change nothing, however each
// try cut them.
func TestShardMustBeComplete(t *testing.T) {
	_, at, forget := newKey(t, "")
	defer forget()
	f := &answerShard{Table: table(t), Queries: 25, ShardRows: 10, Neighbours: accountant.ReplaceOne,
		worker: worker{Key: at}}
	if err := f.Setup(context.Background()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		shard := rapid.Int64Range(0, 2).Draw(t, "shard")
		n := int(shardRows(shard, 10, 25))
		var blocks []voteBlock
		for at := 0; at < n; {
			m := rapid.IntRange(1, n-at).Draw(t, "cut")
			blocks = append(blocks, voteBlock{First: shard*10 + int64(at), Votes: make([]int64, m)})
			at += m
		}
		blocks = rapid.Permutation(blocks).Draw(t, "order")
		once, err := f.answer(context.Background(), shard, blocks)
		if err != nil {
			t.Fatal(err)
		}
		twice := append([]voteBlock{{First: shard * 10,
			Votes: make([]int64, rapid.IntRange(1, n).Draw(t, "second try"))}}, blocks...)
		if again, err := f.answer(context.Background(), shard,
			rapid.Permutation(twice).Draw(t, "other order")); err != nil || !bytes.Equal(once, again) {
			t.Fatalf("a second try: %v, %s, want %s", err, again, once)
		}
		i := rapid.IntRange(0, len(blocks)-1).Draw(t, "which")
		bad := append([]voteBlock(nil), blocks...)
		switch rapid.IntRange(0, 4).Draw(t, "fault") {
		case 0: // lost
			bad = append(bad[:i], bad[i+1:]...)
		case 1: // twice, as two
			bad = append(bad, voteBlock{First: bad[i].First, Votes: []int64{1}})
		case 2: // a query short
			bad[i].Votes = bad[i].Votes[1:]
		case 3: // out of place
			bad[i].First++
		case 4: // ids of other queries
			bad[i].IDs = make([]string, len(bad[i].Votes)+1)
		}
		if out, err := f.answer(context.Background(), shard, bad); err == nil {
			t.Fatalf("accepted: %s", out)
		}
	})
	// A count that no K teachers have.
	if _, err := f.answer(context.Background(), 2,
		[]voteBlock{{First: 20, Votes: []int64{0, 1, 12, 3, 4}}}); err == nil {
		t.Error("12 of 11 votes are accepted")
	}
}

// Neither pipeline holds the key, in any form that the SDK would write it in; what
// holds it is noticed.
func TestPipelinesDoNotHoldTheKey(t *testing.T) {
	ctx := context.Background()
	certified, err := certify(ctx, table(t))
	if err != nil {
		t.Fatal(err)
	}
	planned, err := certified.Plan(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", t.TempDir()} {
		key, at, forget := newKey(t, dir)
		defer forget()
		job := newJob(t, queries(9), true)
		job.Stated.Neighbours = accountant.ReplaceOne // which Run would fill in
		p := &plan{job: &job, shardRows: 5, queries: 9,
			shared: shared{box{job.Temp, jobKeys{coins: key}}, at}, planned: planned,
			tasks: []fileTask{{Path: job.Votes[0], Pin: make([]byte, 32)}}}
		if holds(t, p.checkPipeline(), key) || holds(t, p.answerPipeline(), key) {
			t.Error("a pipeline holds the key")
		}
		// The search finds a key where there is one.
		var sent bytes.Buffer
		if err := key.Send(&sent); err != nil {
			t.Fatal(err)
		}
		p.keyAt.Fingerprint = sent.Bytes()
		if !holds(t, p.answerPipeline(), key) {
			t.Error("mutant: a pipeline with the key passes")
		}
	}
}

// holds searches a pipeline as it is sent to a runner for the key.
func holds(t *testing.T, p *beam.Pipeline, key *randsrc.Key) bool {
	t.Helper()
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	env, err := graphx.CreateEnvironment(context.Background(), "beam:env:external:v1",
		func(context.Context) string { return "localhost:1" })
	if err != nil {
		t.Fatal(err)
	}
	model, err := graphx.Marshal(edges, &graphx.Options{Environment: env})
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	if err := key.Send(&sent); err != nil {
		t.Fatal(err)
	}
	secret := sent.Bytes()[sent.Len()-32:]
	return contains(b, secret, 4)
}

// contains searches b for 12 bytes of the secret, as they are, in hexadecimal and in
// base64, at any offset, and for those inside base64, some levels deep.
func contains(b, secret []byte, depth int) bool {
	for i := range 3 {
		part := secret[i : i+12]
		for _, form := range [][]byte{part, []byte(hex.EncodeToString(part)),
			[]byte(base64.StdEncoding.EncodeToString(part)),
			[]byte(base64.URLEncoding.EncodeToString(part))} {
			if bytes.Contains(b, form) {
				return true
			}
		}
	}
	if depth == 0 {
		return false
	}
	isBase64 := func(c byte) bool {
		return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' ||
			c == '/'
	}
	for at := 0; at < len(b); at++ {
		end := at
		for end < len(b) && isBase64(b[end]) {
			end++
		}
		// text before may belong to the alphabet
		for shift := 0; shift < 4 && end-at-shift >= 24; shift++ {
			run := b[at+shift : end]
			run = run[:len(run)/4*4]
			out := make([]byte, base64.StdEncoding.DecodedLen(len(run)))
			if n, err := base64.StdEncoding.Decode(out, run); err == nil &&
				contains(out[:n], secret, depth-1) {
				return true
			}
		}
		at = max(at, end)
	}
	return false
}

// A worker that finds another key than the one the job began with refuses it, and so
// does one that finds none, as late ones do.
func TestKeyInADirectory(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	key, at, forget := newKey(t, dir)
	got, err := at.find(ctx)
	if err != nil || got.coins.Fingerprint() != key.Fingerprint() {
		t.Fatalf("the key is not found: %v", err)
	}
	_, other, forgetOther := newKey(t, dir)
	swapped := keyAt{Fingerprint: at.Fingerprint, File: other.File}
	if _, err := swapped.find(ctx); err == nil || !strings.Contains(err.Error(), "not the key") {
		t.Errorf("another key: %v", err)
	}
	for _, f := range []func() error{forget, forgetOther} {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
	if _, err := at.find(ctx); err == nil || !strings.Contains(err.Error(), "over") {
		t.Errorf("after the job: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := (keyAt{}).find(ctx); err == nil {
		t.Error("no key is found")
	}
}

// The report of repeated ids is that of a plain search, whatever the order of the blocks.
func TestRepeatedIDs(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	key, at, forget := newKey(t, "")
	defer forget()
	find := &findRepeated{worker{Temp: dir, Key: at}}
	if err := find.Setup(ctx); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		n++
		ids := rapid.SliceOfN(rapid.SampledFrom(strings.Split("a b c d e f g h i j k l m n o p", " ")), 0,
			12).Draw(t, "ids")
		var blocks []idBlock
		first := map[string]int{}
		want := "null"
		for i, id := range ids {
			blocks = append(blocks, idBlock{File: int64(i / 5), Rows: []int64{int64(i % 5)},
				IDs: []string{id}})
			if f, ok := first[id]; !ok {
				first[id] = i
			} else if want == "null" {
				want = fmt.Sprintf(`{"ID":%q,"File":%d,"Row":%d,"FirstFile":%d,"FirstRow":%d}`, id, i/5, i%5,
					f/5, f%5)
			}
		}
		if len(blocks) > 0 {
			blocks = rapid.Permutation(blocks).Draw(t, "order")
		}
		if len(blocks) > 0 && rapid.Bool().Draw(t, "a bundle that finished twice") {
			blocks = append(blocks, blocks[0])
		}
		if err := find.ProcessElement(ctx, n, func(b *idBlock) bool {
			if len(blocks) == 0 {
				return false
			}
			*b, blocks = blocks[0], blocks[1:]
			return true
		}); err != nil {
			t.Fatal(err)
		}
		got, err := box{dir, jobKeys{coins: key}}.get(ctx, idsName(int(n)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Fatalf("ids %v: %s, want %s", ids, got, want)
		}
	})
}

// Prism's port is closed to the network, and open to this machine.
func TestLocalPortIsClosed(t *testing.T) {
	job := newJob(t, queries(9), true)
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	tried := dialAll(t, server.endpoint)
	t.Logf("tried %v", tried)
}

// An output needs all shards, each with all its answers and nothing else.
func TestMergeNeedsEveryAnswer(t *testing.T) {
	shard := func(from, to int) string {
		s := "query,label\n"
		for i := from; i < to; i++ {
			s += fmt.Sprintf("%d,%d\n", i, i%2)
		}
		return s
	}
	for name, shards := range map[string][]string{
		"":              {shard(0, 10), shard(10, 20), shard(20, 25)},
		"short":         {shard(0, 10), shard(10, 19), shard(20, 25)},
		"long":          {shard(0, 10), shard(10, 20), shard(20, 26)},
		"missing":       {shard(0, 10), shard(10, 20)},
		"no header":     {shard(0, 10), strings.TrimPrefix(shard(9, 20), "query,label\n"), shard(20, 25)},
		"no label":      {shard(0, 10), strings.Replace(shard(10, 20), "12,0", "12,", 1), shard(20, 25)},
		"another label": {shard(0, 10), strings.Replace(shard(10, 20), "12,0", "12,2", 1), shard(20, 25)},
		"cut short":     {shard(0, 10), strings.TrimSuffix(shard(10, 20), ",1\n"), shard(20, 25)},
	} {
		p := &plan{job: &Job{Out: filepath.Join(t.TempDir(), "labels.csv")},
			shared:    shared{box: box{t.TempDir(), jobKeys{coins: must.Get(randsrc.NewKey())(t)}}},
			shardRows: 10, queries: 25}
		p.draft = must.Get(release.NewLabelDraft(t.TempDir(), "labels.csv", votes.LabelOptions{}))(t)
		for i, s := range shards {
			if err := p.put(t.Context(), shardName(int64(i)), []byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		out := release.Transaction{Output: p.output(),
			Draw: func(ctx context.Context, _ *ledger.Receipt) (func(io.Writer) error, error) {
				return p.draft.Encode, p.merge(ctx)
			}}
		outcome, err := out.Run(context.Background())
		if outcome.Done() != (name == "") {
			t.Errorf("%s: done %t", name, outcome.Done())
		}
		b, rerr := os.ReadFile(p.job.Out)
		if name == "" {
			if err != nil || string(b) != shard(0, 25) {
				t.Errorf("complete: %v, %q", err, b)
			}
		} else if err == nil || rerr == nil {
			t.Errorf("%s: error %v, output %q", name, err, b)
		}
	}
}
