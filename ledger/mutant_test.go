package ledger

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type mutant struct {
	name, file, old, new, killer string
	daily                        bool // not only if long
	tracer                       bool // killed with the tracer of one platform
}

// Planted mutants: each is one change to the source that breaks a guarantee, and
// the test that must fail for it. They are compiled by way of go test -overlay, so
// the tree is not touched. One runs every day, all if long. The mutants of a caller
// (release before charge, refund after a crash) are in TestCallerMutantsDie.
func TestMutantsDie(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceDetector {
		t.Skip("compiles the package several times; the race detector adds nothing")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	for _, m := range []mutant{
		{"the count is ignored", "request.go", "return r.Unit.Times(r.Count)", "return r.Unit", "TestCountMatters", false, false},
		{"the receipt comes before the write", "ledger.go", "if err := l.write(s, entries); err != nil {\n\t\t\treturn err\n\t\t}", "defer l.write(s, entries)", "TestFailedSyncAndFullDisk", true, true},
		{"the count is not recorded", "entry.go", "return e.Unit.Times(e.Count)", "return e.Unit", "TestCountMatters", false, false},
		{"only the new charge is compared", "ledger.go", "s.state.spent.Plus(asked).Within", "asked.Within", "TestChargeUntilExceeded", false, false},
		{"delta is not compared", "amount.go", " && !b.limit.delta.less(c.delta)", "", "TestCountMatters", false, false},
		{"costs round down", "amount.go", "return costOf(epsilon, delta, true)", "return costOf(epsilon, delta, false)", "TestCostKnownValues", false, false},
		{"budgets round up", "amount.go", "num.Decimal(delta), false)", "num.Decimal(delta), true)", "TestCostKnownValues", false, false},
		{"sums wrap around", "amount.go", "return maxAmount\n\t}\n\treturn amount{hi, lo}\n}\n\nfunc (a amount) less", "return amount{hi, lo}\n\t}\n\treturn amount{hi, lo}\n}\n\nfunc (a amount) less", "TestCountMatters", false, false},
		{"a replay is charged again", "ledger.go", "if replays != nil {", "if false {", "TestReplay", false, false},
		{"the receipt of a replay admits an answer", "receipt.go", "\tr.used.Store(true) // who", "\t// who", "TestReplayIsNoted|TestAgainstModel", false, false},
		{"another request has the receipt", "ledger.go", "replay := &Replay{Charge: *e}", "replay := &Replay{Charge: *e, Receipt: spentReceipt(*e)}", "TestReplayIsNoted", false, false},
		{"a second result is accepted", "ledger.go", "case before.Result != result:", "case false:", "TestReplay|TestReplayIsNoted", false, false},
		{"no sync of the database", "session.go", "PageSize: boltPageSize,", "PageSize: boltPageSize, NoSync: true,", "TestPowerFailure", false, true},
		{"no sync of the anchor", "anchor.go", "err = syncData(f)", "err = nil", "TestPowerFailure", false, true},
		{"one anchor slot for all", "anchor.go", "int64(a.commit%2) * slotSize", "0 * int64(a.commit%2)", "TestTornWrite", false, true},
		{"the anchor is not brought level", "session.go", "if err := l.levelAnchor(s); err != nil {\n\t\treturn next, err\n\t}", "", "TestKilledAtEveryWrite", false, true},
		{"a failed handle goes on", "ledger.go", "l.broken = err\n\t\treturn writeError", "return writeError", "TestFailedSyncAndFullDisk", false, true},
		{"old databases are accepted", "verify.go", "case a.commit+1 == s.state.commit:", "case a.commit > s.state.commit:\n\t\treturn nil\n\tcase a.commit+1 == s.state.commit:", "TestRollback", false, false},
		{"a missing anchor is accepted", "verify.go", "if s.state.commit == 0 {\n\t\t\treturn nil", "if true {\n\t\t\treturn nil", "TestAdopt", false, false},
		{"the chain is not checked", "head.go", "case e.Previous != s.head.Hash:", "case false:", "TestForgedRecords|TestEveryByteOfRecordsCounts", false, false},
		{"pages may be used twice", "boltfile.go", "if f.used[i] {", "if false {", "TestSharedPage", false, false},
		{"what another charge paid need not exist", "rules.go", "c.paidBy})\n\tif err != nil {", "c.paidBy})\n\tif err != nil || payer == nil {", "TestPaidByAnotherCharge|TestAgainstModel", false, false},
		{"who paid is not verified", "verify.go", "same, err := c.obey(b)", "same, err := e.SameVotesAs, error(nil)", "TestFileFollowsTheRules", false, false},
		{"what a crash left is refunded", "verify.go", "case a.commit+1 == s.state.commit:\n\t\treturn s.contains(a.head)", "case a.commit+1 == s.state.commit:\n\t\ts.state = a.state\n\t\treturn nil", "TestKilledAtEveryWrite|TestAgainstModel", false, true},
		{"what a killed process left is taken to be on disk", "session.go", "if err := syncData(f); err != nil {\n\t\t\treturn nil, writeError(err)\n\t\t}", "", "TestKilledThenPowerFailure", false, true},
		{"the anchor of a killed process is taken to be on disk", "session.go", " && s.anchor.durable", "", "TestKilledThenPowerFailure", false, true},
		{"the slot is marked before it is on disk", "anchor.go", "f.WriteAt(a.encode(), at)", "f.WriteAt(append(a.encode()[:markAt], durableMark, '\\n'), at)", "TestKilledThenPowerFailure", false, true},
		{"a replaced file is charged", "session.go", "err == nil && !same", "err == nil && !same && false", "TestReplacedWhileWriting", false, false},
		{"the lock is left to the last who has the file", "lock_unix.go", "err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)", "err := error(nil)", "TestLockOfInheritedFile", false, true},
		{"the lock stays with bbolt's map", "session.go", "damaged(\"writing failed: %v\", p), unlock(s.db)", "damaged(\"writing failed: %v\", p), s.db.Close()", "TestPanicGivesLockBack", false, false},
		{"waits without bound", "session.go", "make(chan struct{}, 64)", "make(chan struct{}, 1000)", "TestAbandonedWaits", false, false},
		{"errors of the disk are damage", "boltfile.go", "case err == io.EOF:", "default:", "TestSystemErrorIsNotDamage", false, false},
		{"any number of pages", "boltfile.go", "if f.pages > maxPages {", "if false {", "TestSparseFile", false, false},
		{"any length of a page", "boltfile.go", " || more > maxMore", "", "TestSparseFile", false, false},
		{"a freelist left to bbolt", "boltfile.go", "f.freelist < 2 || f.freelist >= f.pages", "false", "TestFreelistMustBeOnDisk", false, false},
		{"a ledger grows too large to be read", "session.go", "if s.file.pages > maxPages/2 {", "if false {", "TestFullLedger", false, false},
		{"ids that act on a terminal", "request.go", "unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp", "unicode.Cc", "TestRequestRefused|TestCanonicalJSON", false, false},
		{"one of the paid pays", "rules.go", "case payer.paidBy != \"\":", "case false:", "TestPaidByAnotherCharge|TestRules", false, false},
		{"another relation is charged", "ledger.go", "if r.Relation != s.genesis.relation {", "if false {", "TestRelation", false, false},
		{"another relation is read", "verify.go", "e.Kind == KindCharge && e.Relation != s.genesis.relation", "false", "TestForgedDraws", false, false},
		{"a draw with other votes", "rules.go", "case before.draw.Votes != c.draw.Votes:", "case false:", "TestRules", false, false},
		{"a draw with other votes than its cover", "rules.go", "indexKey{bucketCovers, name.key()}", "indexKey{bucketDraws, name.key()}", "TestRules", false, false},
		{"a draw is answered twice", "rules.go", " && c.paidBy == \"\" && !c.draw.Covers {", " && false {", "TestRules", true, false},
		{"a draw of any ensemble", "draw.go", "uint16(len(n.Ensemble)))) + n.Ensemble", "0))", "TestRules", false, false},
		{"names run together", "draw.go", "uint16(len(n.Ensemble))", "0", "TestRules", false, false},
		{"the first answer pays for the second", "rules.go", "!payer.draw.Covers || ", "", "TestRules", false, false},
		{"the cover of any draw pays", "rules.go", " || payer.draw.Name != c.draw.Name)", ")", "TestRules", false, false},
		{"the training pays for fresh teachers", "rules.go", "c.draw != nil && (payer.draw == nil || !payer", "c.draw != nil && payer.draw != nil && (!payer", "TestRules", false, false},
		{"a draw pays for frozen teachers", "rules.go", "case c.draw == nil && payer.draw != nil:", "case false:", "TestRules", false, false},
		{"another ensemble pays", "rules.go", "case payer.ensemble != c.ensemble:", "case false:", "TestRules", false, false},
		{"equal votes need no statement", "rules.go", "case !c.draw.Stated:", "case false:", "TestRules", false, false},
		{"equal votes of another ensemble", "rules.go", "case name == c.drawName():", "case name.Name == c.draw.Name:", "TestRules", false, false},
		{"equal votes are not noted", "verify.go", "if (same == nil) != (e.SameVotesAs == nil) || same != nil && *same != *e.SameVotesAs {", "if same != nil && false {", "TestForgedDraws", false, false},
		{"no digest of votes", "draw.go", "if d.Votes == (Digest{}) {", "if false {", "TestDrawRefused", false, false},
		{"a cover that somebody pays", "draw.go", "if d.Covers && paidBy != \"\" {", "if false {", "TestDrawRefused", false, false},
		{"the caller's draw", "request.go", "r.Draw = &draw", "_ = draw", "TestDrawIsCopied", false, false},
		{"other teachers under one name", "rules.go", "case c.teachers != before.teachers:", "case false:", "TestRules", false, false},
		{"nothing stated of the teachers", "rules.go", "if c.ensemble == \"\" {", "if c.ensemble == \"\" || c.teachers == \"\" {", "TestRules", false, false},
		{"a replay by other teachers", "ledger.go", "if err := c.sameTeachers(earlier); err != nil {", "if replay, err := s.earlier(r); replay != nil || err != nil {\n\t\treturn replay, err\n\t}\n\tif err := c.sameTeachers(earlier); err != nil {", "TestReplayOfDraw", false, false},
		{"a replay with other votes", "ledger.go", "e.Draw != nil && r.Draw != nil && e.Draw.Votes != r.Draw.Votes", "false", "TestReplayOfDraw", false, false},
		{"a replay of another draw", "ledger.go", "{!sameDraw(e.Draw, r.Draw), \"draw\"},", "", "TestReplayOfDraw", false, false},
		{"requests of one call are alone", "ledger.go", "earlier.book.add(e)", "", "TestRules", false, false},
		{"draws are not indexed", "session.go", "range e.keys() {", "range e.keys()[:1] {", "TestRules", false, false},
		{"the last of an index counts", "session.go", "if index.Get([]byte(k.key)) != nil {", "if false {", "TestRules|TestAgainstModel", false, false},
		{"indexes are not verified", "verify.go", "err != nil || first == nil || first.seq != seq", "err != nil || false && first.seq != seq", "TestForgedRecords", false, false},
		{"what an index lacks is not missed", "verify.go", "if n != len(want) {", "if false {", "TestForgedRecords", false, false},
		{"an index leads anywhere", "ledger.go", "if !slices.Contains(e.keys(), k) {", "if !slices.Contains(e.keys(), k) && false {", "TestIndexIsNotTrusted", false, false},
		{"format 1 is charged", "ledger.go", "if l.genesis.format == oldFormat {", "if false {", "TestFormat1", false, false},
		{"draws in format 1", "entry.go", "if r.Relation == \"\" && (r.Ensemble != \"\" || r.Draw != nil) {", "if false {", "TestFormat1HasNoDraws", false, false},
		{"a secret that others read", "secret.go", "mode&0o077 != 0", "false", "TestSecret", false, false},
		{"a secret that others write", "secret.go", "mode&0o077 != 0", "mode&0o044 != 0", "TestSecret", false, false},
		{"a new secret that others read", "secret.go", "os.O_EXCL, 0o600", "os.O_EXCL, 0o644", "TestSecret", false, false},
		{"another ledger's secret", "votehash.go", "if s.fingerprint() != l.genesis.secret {", "if false {", "TestSecret", false, false},
		{"counts pass for votes", "votehash.go", "h.add('c', counts)", "h.add('v', counts)", "TestVoteHashOfMultiset", false, false},
		{"rows are not told apart", "votehash.go", "binary.AppendVarint(append(h.row[:0], kind), int64(len(values)))", "append(h.row[:0], kind)", "TestVoteHashIsStable", false, false},
		{"the sum loses its carry", "votehash.go", "bits.Add64(h.sum[i], x[i], carry)", "bits.Add64(h.sum[i], x[i], 0*carry)", "TestVoteHashIsStable", false, false},
		{"only whether a row occurs counts", "votehash.go", "h.sum[i], carry = bits.Add64(h.sum[i], x[i], carry)", "h.sum[i], carry = h.sum[i]^x[i], bits.RotateLeft64(carry, 0)", "TestVoteHashOfMultiset", false, false},
		{"merged rows are not counted", "votehash.go", "h.rows += other.rows", "", "TestVoteHashOfMultiset", false, false},
		{"a full disk is no failure of the ledger", "ledger.go", "return writeError(fmt.Errorf(\"%s: nothing may be released on its account: %w\", l.path, err))", "return fmt.Errorf(\"%s: nothing may be released on its account: %w\", l.path, err)", "TestFullDisk", false, true},
		{"damage is called no ledger", "session.go", " && s.anchor == nil && l.known == nil {", " {", "TestNotALedger", false, false},
		{"damage under a handle is called no ledger", "session.go", " && l.known == nil {", " {", "TestNotALedger", false, false},
		{"what is in use is swept", "workdir.go", "; !ok || err != nil {\n\t\treturn", "; !ok && err != nil {\n\t\treturn", "TestSweep", false, false},
		{"any directory is swept", "workdir.go", " && strings.Trim(number, \"0123456789\") == \"\"", "", "TestSweep", false, false},
		{"an anchor in use is swept", "workdir.go", "err == nil && !ok {", "err == nil && !ok && false {", "TestSweep", false, false},
		{"anchors are not swept", "workdir.go", "\t\troot.Remove(name)\n", "", "TestSweep", false, false},
		{"nothing is swept", "workdir.go", "\t}\n\troot.Remove(name)\n", "\t}\n", "TestSweep", false, false},
		{"the anchor is not swept", "anchor.go", "\tsweepAnchors(path)\n", "", "TestChargeSweepsAnchor", false, false},
	} {
		if !m.daily && !long {
			continue
		}
		if m.tracer && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
			continue
		}
		t.Run(m.name, func(t *testing.T) { m.mustDie(t, goTool) })
	}
}

func (m *mutant) mustDie(t *testing.T, goTool string) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), m.old) != 1 {
		t.Fatalf("its place in %s is gone", m.file)
	}
	dir := t.TempDir()
	mutated := filepath.Join(dir, m.file)
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {here: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool, "test", "-vet=off", "-count=1", "-overlay", overlayFile, "-run", "^("+m.killer+")$", ".", "-rapid.nofailfile")
	cmd.Env = append(os.Environ(), "DARRM_LONG=") // the killers' short form
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		t.Errorf("%s does not notice", m.killer)
	case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "fatal error: "): // such as out of memory
		t.Errorf("no test failed, but:\n%s", out)
	}
}
