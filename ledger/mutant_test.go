package ledger

import (
	"runtime"
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

type planted struct {
	name, file, old, new, killer string
	tracer                       bool // killed with the tracer of one platform
}

// Planted mutants: each is one change to the source that breaks a guarantee, and
// the test that must fail for it. They are compiled by way of go test -overlay, so
// the tree is not touched. They are planted if long; every day each has its place. The mutants of a caller
// (release before charge, refund after a crash) are in TestCallerMutantsDie.
func TestMutantsDie(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceDetector {
		t.Skip("compiles the package several times; the race detector adds nothing")
	}
	for _, p := range []planted{
		{"the count is ignored", "request.go", "return r.Unit.Times(r.Count)", "return r.Unit", "TestCountMatters", false},
		{"the receipt comes before the write", "group.go", "err := l.write(s, g.entries)\n", "g.finish(nil)\n\tg.waiting = nil\n\terr := l.write(s, g.entries)\n", "TestFailedSyncAndFullDisk", true},
		{"what the group spends is not counted", "ledger.go", "spent := s.now.spent.Plus(s.group.spent)", "spent := s.now.spent", "TestGroup", false},
		{"what the group has is not looked at", "ledger.go", "pasts{s.book, s.group.recent, call}", "pasts{s.book, call}", "TestGroupIsASequence", false},
		{"a share is not judged", "share.go", "if r.Share != nil && !spent", "if false && !spent", "TestShares", false},
		{"a share is judged before the charge", "share.go", "spent.Plus(r.total()).Within", "spent.Within", "TestShares", false},
		{"what the group's clients spend is not counted", "share.go", ".Plus(s.group.clients[r.Client])", "", "TestShares", false},
		{"what a call's clients spend is not counted", "share.go", ".Plus(call[r.Client])", "", "TestShares", false},
		{"a charge of many is one of its client's share", "share.go", "s[e.Client].Plus(e.Total())", "s[e.Client].Plus(e.Unit)", "TestShares", false},
		{"what others charged is not of a share", "readon.go", "\t\t\tc.clients.add(e)\n", "", "TestShares", false},
		{"what a handle charged is not of a share", "session.go", "\t\ts.clients.add(e)\n", "", "TestShares", false},
		{"an id is any client's", "ledger.go", "\t\t{e.Client != r.Client, \"client\"},\n", "", "TestShares", false},
		{"the caller's share", "request.go", "r.Share = &share", "_ = share", "TestShareIsCopied", false},
		{"a share of nobody", "request.go", "if r.Share != nil && r.Client == \"\" {", "if false {", "TestClientRefused", false},
		{"the client is not stored", "entry.go", "\t\tj.Client = e.Client\n", "", "TestClientIsInTheEntry", false},
		{"a group is about one request twice", "group.go", "return !slices.ContainsFunc(j.ids", "return true || slices.ContainsFunc(j.ids", "TestGroupReplay", false},
		{"a refused one of a group has a receipt", "group.go", "\t\tj.err = err\n\t\tg.waiting", "\t\tg.waiting", "TestGroup", false},
		{"a refusal by what is not on disk stands", "group.go", "if err != nil {\n\t\t\tj.err = err\n\t\t}\n\t\tj.finish", "if err != nil && j.err == nil {\n\t\t\tj.err = err\n\t\t}\n\t\tj.finish", "TestGroupFails", false},
		{"who gives up is not told of the charge", "group.go", "if l.queue.withdraw(j) {\n\t\t\t\treturn nil, ctx.Err()", "if l.queue.withdraw(j) || true {\n\t\t\t\treturn nil, ctx.Err()", "TestGroupGivesUp", false},
		{"who gave up is charged", "group.go", "return nil, ctx.Err()\n\t\t\t}\n\t\t\tgone", "l.queue.push(&job{ctx: context.Background(), ids: ids, judge: judge, done: make(chan struct{})})\n\t\t\t\treturn nil, ctx.Err()\n\t\t\t}\n\t\t\tgone", "TestGroupGivesUp", false},
		{"the count is not recorded", "entry.go", "return e.Unit.Times(e.Count)", "return e.Unit", "TestCountMatters", false},
		{"delta is not compared", "amount.go", " && !b.limit.delta.less(c.delta)", "", "TestCountMatters", false},
		{"costs round down", "amount.go", "num.Decimal(delta), true)", "num.Decimal(delta), false)", "TestCostKnownValues", false},
		{"budgets round up", "amount.go", "num.Decimal(delta), false)", "num.Decimal(delta), true)", "TestCostKnownValues", false},
		{"sums wrap around", "amount.go", "return maxAmount\n\t}\n\treturn amount{hi, lo}\n}\n\nfunc (a amount) less", "return amount{hi, lo}\n\t}\n\treturn amount{hi, lo}\n}\n\nfunc (a amount) less", "TestCountMatters", false},
		{"a replay is charged again", "ledger.go", "if replays != nil {", "if false {", "TestReplay", false},
		{"the receipt of a replay admits an answer", "receipt.go", "\tr.used.Store(true) // who", "\t// who", "TestReplayIsNoted|TestAgainstModel", false},
		{"another request has the receipt", "ledger.go", "replay := &Replay{Charge: *e}", "replay := &Replay{Charge: *e, Receipt: spentReceipt(*e)}", "TestReplayIsNoted", false},
		{"a second result is accepted", "ledger.go", "case before.Result != result:", "case false:", "TestReplay|TestReplayIsNoted", false},
		{"a failed handle goes on", "ledger.go", " || errors.Is(err, ErrWrite) {", " {", "TestFailedSyncAndFullDisk", true},
		{"the chain is not checked", "head.go", "case e.Previous != s.head.Hash:", "case false:", "TestForgedRecords|TestEveryByteOfRecordsCounts", false},
		{"the lock is left to the last who has the file", "lock_unix.go", "err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)", "err := error(nil)", "TestLockOfInheritedFile", true},
		{"waits without bound", "lock.go", "make(chan struct{}, 64)", "make(chan struct{}, 1000)", "TestAbandonedWaits", false},
		{"ids that act on a terminal", "request.go", "unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp", "unicode.Cc", "TestRequestRefused|TestCanonicalJSON", false},
		{"one of the paid pays", "rules.go", "case payer.paidBy != \"\":", "case false:", "TestPaidByAnotherCharge|TestRules", false},
		{"another relation is charged", "ledger.go", "if r.Relation != s.genesis.relation {", "if false {", "TestRelation", false},
		{"a draw with other votes", "rules.go", "case before.draw.Votes != c.draw.Votes:", "case false:", "TestRules", false},
		{"a draw is answered twice", "rules.go", " && c.paidBy == \"\" && !c.draw.Covers {", " && false {", "TestRules", false},
		{"a draw of any ensemble", "rules.go", "key{index, c.ensemble, d.Name}", "key{index, \"\", d.Name}", "TestRules", false},
		{"the first answer pays for the second", "rules.go", "!payer.draw.Covers || ", "", "TestRules", false},
		{"the cover of any draw pays", "rules.go", " || payer.draw.Name != c.draw.Name)", ")", "TestRules", false},
		{"the training pays for fresh teachers", "rules.go", "c.draw != nil && (payer.draw == nil || !payer", "c.draw != nil && payer.draw != nil && (!payer", "TestRules", false},
		{"a draw pays for frozen teachers", "rules.go", "case c.draw == nil && payer.draw != nil:", "case false:", "TestRules", false},
		{"another ensemble pays", "rules.go", "case payer.ensemble != c.ensemble:", "case false:", "TestRules", false},
		{"no digest of votes", "draw.go", "if d.Votes == (Digest{}) {", "if false {", "TestDrawRefused", false},
		{"a cover that somebody pays", "draw.go", "if d.Covers && paidBy != \"\" {", "if false {", "TestDrawRefused", false},
		{"the caller's draw", "request.go", "r.Draw = &draw", "_ = draw", "TestDrawIsCopied", false},
		{"other teachers under one name", "rules.go", "case c.teachers != before.teachers:", "case false:", "TestRules", false},
		{"nothing stated of the teachers", "rules.go", "if c.ensemble == \"\" {", "if c.ensemble == \"\" || c.teachers == \"\" {", "TestRules", false},
		{"a replay by other teachers", "ledger.go", "if err := c.sameTeachers(earlier); err != nil {", "if replay, err := s.earlier(r); replay != nil || err != nil {\n\t\treturn replay, err\n\t}\n\tif err := c.sameTeachers(earlier); err != nil {", "TestReplayOfDraw", false},
		{"a replay with other votes", "ledger.go", "e.Draw != nil && r.Draw != nil && e.Draw.Votes != r.Draw.Votes", "false", "TestReplayOfDraw", false},
		{"a replay of another draw", "ledger.go", "{!sameDraw(e.Draw, r.Draw), \"draw\"},", "", "TestReplayOfDraw", false},
		{"a secret that others read", "secret.go", "mode&0o077 != 0", "false", "TestSecret", false},
		{"a secret that others write", "secret.go", "mode&0o077 != 0", "mode&0o044 != 0", "TestSecret", false},
		{"another ledger's secret", "votehash.go", "if s.fingerprint() != l.genesis.secret {", "if false {", "TestSecret", false},
		{"counts pass for votes", "votehash.go", "h.add('c', counts)", "h.add('v', counts)", "TestVoteHashOfMultiset", false},
		{"rows are not told apart", "votehash.go", "binary.AppendVarint(append(h.row[:0], kind), int64(len(values)))", "append(h.row[:0], kind)", "TestVoteHashIsStable", false},
		{"the sum loses its carry", "votehash.go", "bits.Add64(h.sum[i], x[i], carry)", "bits.Add64(h.sum[i], x[i], 0*carry)", "TestVoteHashIsStable", false},
		{"only whether a row occurs counts", "votehash.go", "h.sum[i], carry = bits.Add64(h.sum[i], x[i], carry)", "h.sum[i], carry = h.sum[i]^x[i], bits.RotateLeft64(carry, 0)", "TestVoteHashOfMultiset", false},
		{"merged rows are not counted", "votehash.go", "h.rows += other.rows", "", "TestVoteHashOfMultiset", false},
		{"a full disk is no failure of the ledger", "ledger.go", "return writeError(fmt.Errorf(\"%s: nothing may be released on its account: %w\", l.Path(), err))", "return fmt.Errorf(\"%s: nothing may be released on its account: %w\", l.Path(), err)", "TestFullDisk", true},
		{"only the new charge is compared", "ledger.go", "!spent.Plus(asked).Within", "!asked.Within", "TestChargeUntilExceeded", false},
		{"nobody waits for the lock", "lock.go", "if err := lockFile(ctx, f, exclusive); err != nil {", "if err := error(nil); err != nil {", "TestGoroutines|TestWaitEndsWithContext", false},
		{"no sync of the ledger", "filestore.go", "if err := t.file.Sync(); err != nil {\n\t\treturn err\n\t}\n", "", "TestPowerFailure", true},
		{"the anchor is not written", "filestore.go", "if err := t.SetAnchor(after); err != nil {", "if err := error(nil); err != nil {", "TestRollback|TestReplacedWhileWriting", false},
		{"the anchor is not brought level", "filestore.go", "if err := t.level(before); err != nil {\n\t\treturn err\n\t}\n", "", "TestKilledThenPowerFailure", true},
		{"the anchor of a killed process is taken to be on disk", "filestore.go", " && bytes.Equal(t.store.forced, anchor)", "", "TestKilledThenPowerFailure", true},
		{"what a killed process left is taken to be on disk", "session.go", "if err := tx.Sync(); err != nil {\n\t\t\treturn nil, writeError(err)\n\t\t}", "", "TestKilledThenPowerFailure", true},
		{"what was cut short is removed, but not for good", "filestore.go", "errors.Join(t.file.Truncate(at), t.file.Sync())", "t.file.Truncate(at)", "TestPowerFailureOverTornCommit", true},
		{"what was cut short is not removed", "filestore.go", "errors.Join(t.file.Truncate(at), t.file.Sync())", "error(nil)", "TestTornCommit", false},
		{"a replaced file is charged", "filestore.go", "\tif !same {", "\tif !same && false {", "TestReplacedWhileWriting", false},
		{"an older copy is adopted beside its anchor", "ledger.go", "a.commit >= c.now.commit {", "false {", "TestAdopt", false},
		{"older copies are accepted", "chain.go", "case a.commit > c.now.commit:", "case a.commit > c.now.commit:\n\t\treturn nil\n\tcase false:", "TestRollback", false},
		{"a missing anchor is accepted", "chain.go", "case a == nil && c.now.commit == 0 && c.rest == nil:", "case a == nil && c.rest == nil:", "TestAdopt", false},
		{"what a crash left is refunded", "chain.go", "case a.state == c.now && !(atomic && c.rest != nil), a.state == c.before && c.rest == nil && !atomic:", "case a.state == c.now, a.state == c.before && c.rest == nil && !atomic:\n\t\tc.now = a.state", "TestKilledAtEveryWrite|TestAgainstModel", true},
		{"damage is taken for a write cut short", "chain.go", "case c.rest != nil:\n", "case c.rest != nil:\n\t\treturn nil\n\tcase c.rest != nil:\n", "TestEveryBitFlipped", false},
		{"a tail that no crash leaves is accepted", "chain.go", "a.state == c.before && c.rest == nil && !atomic:", "a.state == c.before && !atomic:", "TestTornCommit", false},
		{"a commit needs no end", "readon.go", "case err == io.EOF && len(list) > first:", "case err == io.EOF && len(list) > first:\n\t\t\treturn list, next, nil\n\t\tcase false:", "TestTornCommit|TestForgedRecords", false},
		{"an open handle believes any file", "chain.go", "case err == nil && bytes.Equal(line, c.line):", "case err == nil && line != nil:", "TestForkUnderAHandle", false},
		{"an entry that changed is believed", "chain.go", "if err != nil || e.Seq != c.seq || e.ID != c.id {", "if err != nil {", "TestChangedUnderAHandle", false},
		{"errors of the disk are damage", "chain.go", "\treturn nil, err\n}\n\n// entryAt", "\tif err != io.EOF {\n\t\terr = badLine(l.at, err)\n\t}\n\treturn nil, err\n}\n\n// entryAt", "TestSystemErrorIsNotDamage", false},
		{"a piece is judged without its end", "readon.go", "for _, end := range p.ends {", "for _, end := range p.ends[:min(len(p.ends), 1)] {", "TestLongLedger", false},
		{"another relation is read", "readon.go", "e.Kind == KindCharge && e.Relation != c.genesis.relation", "false", "TestForgedRelation", false},
		{"draws are lost when a ledger is opened again", "readon.go", "c.book.add(e.charged(p.entries[i].at))", "a := e.charged(p.entries[i].at)\n\t\t\ta.draw = nil\n\t\t\tc.book.add(a)", "TestAgainstModel|TestFormat3", false},
		{"what another charge paid need not exist", "rules.go", "case payer == nil:\n\t\twhy = \"is not in the ledger\"", "case payer == nil:", "TestPaidByAnotherCharge|TestAgainstModel", false},
		{"a draw with other votes than its cover", "rules.go", "key{byDrawCover, c.ensemble, c.draw.Name}", "key{byDraw, c.ensemble, c.draw.Name}", "TestRules", false},
		{"who paid is not verified", "rules.go", "\treturn c.obey(b)\n}", "\treturn nil\n}", "TestFileFollowsTheRules", false},
		{"equal votes of another draw of the ensemble", "draw.go", "p.draws(func", "p.first(key{byID, \"\", \"\"})\n\tpasts{}.draws(func", "TestRules", false},
		{"equal votes cast anew", "draw.go", "d.Query || d.CastAnew ||", "d.Query ||", "TestRules", false},
		{"a draw that is there is tried again", "draw.go", "\n\t\tp.first(key{byDraw, r.Ensemble, d.Name}) != nil || p.first(key{byDrawCover, r.Ensemble, d.Name}) != nil {", " false {", "TestRules", false},
		{"one digest for equal votes", "votehash.go", "h.row = append(binary.AppendUvarint(h.row, uint64(len(s))), s...)", "_ = s", "TestVoteHashIsOfOneDraw", false},
		{"names run together in the digest", "votehash.go", "append(binary.AppendUvarint(h.row, uint64(len(s))), s...)", "append(h.row, s...)", "TestVoteHashIsOfOneDraw", false},
		{"one key for two ledgers", "votehash.go", "\th.Write(id[:])\n", "", "TestVoteHashIsStable", false},
		{"the statement is stored", "draw.go", "return &Draw{Name: d.Name, Votes: d.Votes, Query: d.Query, Covers: d.Covers}", "return &Draw{Name: d.Name, Votes: d.Votes, Query: d.Query || d.CastAnew, Covers: d.Covers}", "TestDrawErrors", false},
		{"a digest of another draw is taken", "draw.go", "d.Query || d.cast != nil && d.cast.hash().digest(ensemble, d.Name) == d.Votes", "d.Query || d.cast != nil", "TestDrawRefused", false},
		{"a digest alone is taken", "draw.go", "d.Query || d.cast != nil && d.cast", "d.Query || d.cast == nil || d.cast", "TestDrawRefused", false},
		{"queries are tried", "rules.go", "c.draw != nil && !c.draw.Query && c.paidBy", "c.draw != nil && c.paidBy", "TestRules", false},
		{"the group's draws are not tried", "rules.go", "\t\tif !b.draws(yield) {\n\t\t\treturn false\n\t\t}\n", "\t\tif !b.draws(yield) {\n\t\t\treturn false\n\t\t}\n\t\tbreak\n", "TestRules", false},
		{"requests of one call are alone", "ledger.go", "call.add(e.charged(0))", "_ = call", "TestRules", false},
		{"the last of an index counts", "book.go", "; before == 0 {\n\t\t\tb.table", "; before == 0 || true {\n\t\t\tb.table", "TestRules|TestAgainstModel|TestBook", false},
		{"the last of a call counts", "recent.go", "if r.found[k] == nil {", "if true {", "TestRules|TestRecent", false},
		{"the last digest of an ensemble counts", "book.go", "if b.stated[k.ensemble] == nil {", "if true {", "TestBook", false},
		{"a draw is of any ensemble in memory", "book.go", " && b.names[p.ensemble] == k.ensemble", "", "TestBookIsAMap", false},
		{"a cover is an answer in memory", "book.go", "p.flags&isCover != 0 == (k.index == byDrawCover) && ", "", "TestBookIsAMap", false},
		{"who was paid for is forgotten", "book.go", "to = appendText(to, c.paidBy)", "to = appendText(to, \"\")", "TestBookIsAMap", false},
		{"places are lost when the table grows", "book.go", "\t\tb.table[at] = p\n", "\t\tif p.number%100 != 7 {\n\t\t\tb.table[at] = p\n\t\t}\n", "TestBook", false},
		{"keys with one hash are one", "book.go", "p.hash == hash && b.has(p.number, k)", "p.hash == hash", "TestOneHash", false},
		{"a new secret that others read", "secret.go", "atomicfile.WriteNew(path, 0o600", "atomicfile.WriteNew(path, 0o644", "TestSecret", false},
		{"damage is called no ledger", "session.go", " && s.anchor == nil && l.chain == nil {", " {", "TestNotALedger", false},
		{"damage under a handle is called no ledger", "session.go", " && l.chain == nil {", " {", "TestNotALedger", false},
	} {
		m := mutant.Mutant{Name: p.name, File: p.file, Old: p.old, New: p.new, Killer: p.killer}
		m.CheckPlace(t)
		if !long || p.tracer && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
			continue
		}
		t.Run(p.name, func(t *testing.T) { m.MustDie(t) })
	}
}
