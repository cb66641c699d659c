package release

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, most of them of the answers on line, each with the test that must fail for it. Every day their
// places are looked for; if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a damaged ledger is not opened again", File: "online.go", Old: " && !errors.Is(err, ledger.ErrDamaged) {", New: " {", Killer: "TestOnlineReopensAfterDamage"},
		{Name: "the ledger is read whole at every failure", File: "online.go", Old: "if time.Since(o.tried) < time.Second {", New: "if false {", Killer: "TestOnlineNoticesABackup"},
		{Name: "the replay key is not in the digest", File: "online.go", Old: "[]byte(q.ID), replay, q.row())", New: "[]byte(q.ID), replay[:0], q.row())", Killer: "TestConflictsTellNoVotes"},
		{Name: "without a replay key it is the same query", File: "query.go", Old: "\t\trand.Read(unknown) // never", New: "\t\t_ = rand.Read // never", Killer: "TestWithoutReplayKeyOnce"},
		{Name: "a short replay key", File: "query.go", Old: "n < 32 || n > 64", New: "n > 64", Killer: "TestReplayKeyRefused"},
		{Name: "a replay key of any text", File: "query.go", Old: "strings.Trim(q.ReplayKey, \"0123456789abcdef\") != \"\"", New: "false", Killer: "TestReplayKeyRefused"},
		{Name: "what differs is told", File: "online.go", Old: "return &usedError{id, err}", New: "return err", Killer: "TestConflictsTellNoVotes"},
		{Name: "the client is not charged", File: "online.go", Old: "q.ID, digest, q.Client, q.Share, o.keyName", New: "q.ID, digest, \"\", nil, o.keyName", Killer: "TestShareOfThreeServers"},
		{Name: "the share is not judged", File: "bill.go", Old: "Client: c.Client, Share: c.Share,", New: "Client: c.Client,", Killer: "TestShareOfThreeServers"},
		{Name: "the training is of the first client", File: "bill.go", Old: "\tc.Client, c.Share = \"\", nil // it pays for what anybody asks\n\ttraining", New: "\ttraining", Killer: "TestTrainingIsOfNoClient"},
		{Name: "any service key is taken", File: "usedkey.go", Old: "case err == nil && k.name() != used:", New: "case false:", Killer: "TestKeyOfTheLedger"},
		{Name: "a missing service key is made", File: "usedkey.go", Old: "if used == \"\" || o.options.NewKey {", New: "if used == \"\" || o.options.NewKey || true {", Killer: "TestKeyOfTheLedger"},
		{Name: "the first key counts, not the latest", File: "usedkey.go", Old: "slices.Backward(entries)", New: "slices.All(entries)", Killer: "TestKeyOfTheLedger"},
		{Name: "only the latest entries are looked at", File: "usedkey.go", Old: "end -= min(end, keyPage) {", New: "end = 0 {", Killer: "TestUsedKeyIsFoundFarBack"},
		{Name: "the key of another mechanism", File: "usedkey.go", Old: "was != nil && reflect.DeepEqual(was, ours)", New: "was != nil && ours != nil && reflect.TypeOf(was) == reflect.TypeOf(ours)", Killer: "TestKeyOfTheLedger"},
		{Name: "the scope forgets the noise", File: "onlinescope.go", Old: "text(\"parameters\", s.Parameters)", New: "text(\"parameters\", \"\")", Killer: "TestOnlineScopeHasEveryField"},
		{Name: "the scope takes the title for the noise", File: "onlinescope.go", Old: "Parameters: m.Parameters()", New: "Parameters: m.Title()", Killer: "TestOnlineScopeIsOfTheExactNoise"},
		{Name: "a float of the scope is rounded", File: "onlinescope.go", Old: "number(\"delta\", math.Float64bits(s.PerAnswer.Delta))", New: "number(\"delta\", uint64(s.PerAnswer.Delta*1e12))", Killer: "TestOnlineScopeHasEveryField"},
		{Name: "teachers that nobody states are served", File: "promise.go", Old: "case !math.IsInf(p.Epsilon, 1):\n\t\treturn usagef(\"nothing", New: "case math.IsNaN(p.Epsilon):\n\t\treturn usagef(\"nothing", Killer: "TestOnlineNeedsTheTeachersStated"},
		{Name: "other teachers than those stated are served", File: "promise.go", Old: "\tcase s.Teachers():\n\t\treturn s.matchTeachers(p, source)\n", New: "\tcase s.Teachers():\n\t\treturn nil\n", Killer: "TestOnlineNeedsTheTeachersStated"},
		{Name: "receipts with a payer are not redeemed", File: "bill.go", Old: "\t\tif err := receipt.Redeem(); err != nil {", New: "\t\t_ = receipt\n\t\tif err := error(nil); err != nil {", Killer: "TestReceiptsAreUsedUp"},
		{Name: "votes that were answered meanwhile are refused", File: "bill.go", Old: "if errors.Is(err, ledger.ErrDrawn) { // another", New: "if false { // another", Killer: "TestDrawAnsweredMeanwhile"},
		{Name: "where ids end is not in the pin", File: "coins.go", Old: "binary.AppendUvarint(c.buf[:0], uint64(len(id)))", New: "c.buf[:0]", Killer: "TestPinKnowsWhereIDsEnd"},
		{Name: "the secret is dropped where the outcome of a charge is open", File: "transaction.go", Old: "asked, unpaid = err, errors.Is(err, ledger.ErrRefused)", New: "asked, unpaid = err, err != nil", Killer: "TestSecretOutlivesAnOpenOutcome"},
	})
}
