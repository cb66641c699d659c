package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// Answers that pay for themselves name no table: the ledger keeps its name once, for the statement.
// A server whose solver finds another table repeats what the first one answered, answers what is new
// by the same table, and plans nothing.
func TestServersOfOneStatementHaveOneTable(t *testing.T) {
	for name, w := range map[string]way{"fresh": ways(t)["fresh"], "frozen": ways(t)["frozen"]} {
		t.Run(name, func(t *testing.T) {
			w.plan = constantPlan(t, 0.25)
			w.charge.Ledger, w.charge.AcceptWeak = newLedger(t, 100).Path(), true
			other := constantPlan(t, 0.5) // what another version finds
			said := Statement{K: 3, Classes: 2, Affected: 3, Neighbours: "replace-one", Prior: "default",
				Mechanism: "label-eps=0.3"}
			options := OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan), Statement: &said,
				Charge: w.charge, Key: filepath.Join(t.TempDir(), "key")}
			first := openOnline(t, options)
			q := Query{ID: "a", ReplayKey: strings.Repeat("5", 32), Votes: w.votes}
			was := mustAnswer(t, first, q)
			if strings.Contains(string(was.Charge.Event), `"table":`) {
				t.Errorf("an answer's entry names the table: %s", was.Charge.Event)
			}
			again := options
			again.Plan = other
			second := openOnline(t, again)
			if got := mustAnswer(t, second, q); !got.Replayed || got.Class != was.Class {
				t.Errorf("the other server answers %+v, first %+v", got, was)
			}
			if second.options.Plan.tableDigest() != w.plan.tableDigest() {
				t.Errorf("the second server answers by %v, the first by %v",
					second.options.Plan.tableDigest(), w.plan.tableDigest())
			}
			book := must.Get(w.charge.Open(t.Context()))(t)
			if p, _, found, err := FindPaid(t.Context(), book, said); !found || err != nil ||
				p.tableDigest() != w.plan.tableDigest() {
				t.Errorf("the table that answered is not found: %v, %v", found, err)
			}

			another := again
			changed := said
			changed.Prior = "mean 0.7"
			another.Statement = &changed
			if got := openOnline(t, another); got.options.Plan.tableDigest() != other.tableDigest() {
				t.Error("another statement has the same table")
			}
			cheaper := again
			cheaper.Stated.Delta = new(1e-9)
			var usage *UsageError
			if _, err := OpenOnline(t.Context(), cheaper); !errors.As(err, &usage) {
				t.Errorf("a kept table of another promise than is stated: %v", err)
			}

			// A table that is lost is an error, and the file of it brings it back.
			table := filepath.Join(w.charge.Ledger+ledger.KeptSuffix, w.plan.tableDigest().String()+".json")
			if err := os.Remove(table); err != nil {
				t.Fatal(err)
			}
			var lost *LedgerError
			if _, err := OpenOnline(t.Context(), again); !errors.As(err, &lost) {
				t.Errorf("without the table: %v", err)
			}
			if p, _, found, err := FindPaid(t.Context(), book, said); !errors.As(err, &lost) || found || p.check() == nil {
				t.Errorf("the plan of a lost table: %v, %v", found, err)
			}
			file := again
			file.Statement, file.Plan = nil, w.plan
			openOnline(t, file)
			if got := mustAnswer(t, openOnline(t, again), q); !got.Replayed || got.Class != was.Class {
				t.Errorf("once it is back: %+v, first %+v", got, was)
			}
		})
	}
}

// Of servers that begin at once, with tables of their own, none of which finds one that is kept, all
// answer by the one that is kept first.
func TestServersThatBeginAtOnceAgree(t *testing.T) {
	w := ways(t)["fresh"]
	book := newLedger(t, 100)
	said := Statement{K: 3, Classes: 2, Affected: 3, Neighbours: "replace-one", Prior: "default"}
	tables := make([]ledger.Digest, 8)
	var wait sync.WaitGroup
	for i := range tables {
		plan := constantPlan(t, float64(i%4)/8)
		wait.Go(func() {
			o := &Online{&online{options: OnlineOptions{Plan: plan, Stated: saidOf(plan), Book: book, Charge: w.charge}}}
			if err := o.keepName(t.Context(), &said); err != nil {
				t.Error(err)
			}
			tables[i] = o.options.Plan.tableDigest()
		})
	}
	wait.Wait()
	for _, d := range tables {
		if d != tables[0] {
			t.Fatalf("servers answer by several tables: %.8v", tables)
		}
	}
}
