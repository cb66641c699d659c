package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/release/exitcode"
)

// Every command that takes a ledger takes one in a database, and none shows its password.
func TestPostgres(t *testing.T) {
	s := pgtest.Start(t)
	dir := t.TempDir()
	book := strings.Replace(s.URL("ledger=patients&secret="+filepath.Join(dir, "secret")), "darrm@",
		"darrm:geheim@", 1)
	votes, err := filepath.Abs("../../testdata/mnist-5v8/votes.csv")
	if err != nil {
		t.Fatal(err)
	}
	run := func(want int, has string, args ...string) string {
		t.Helper()
		c := process(t, dir, args...)
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), has) {
			t.Errorf("%s: exit %d\n%s\nwant exitcode.Code %d and %q", args, got, out, want, has)
		}
		if strings.Contains(string(out), "geheim") {
			t.Errorf("%s shows the password:\n%s", args, out)
		}
		return string(out)
	}
	aggregate := func(id string) []string {
		return []string{"aggregate", votes, "--eps", "inf", "--affected", "1", "--label-eps", "0.001",
			"--out", id + ".csv", "--ledger", book, "--request-id", id}
	}
	run(3, "there is no ledger at postgres://darrm@", aggregate("march")...)
	run(0, "granted", "budget", "init", book, "--eps", "4", "--delta", "1e-6")
	run(6, "has a ledger", "budget", "init", book, "--eps", "4", "--delta", "1e-6")
	run(0, "", aggregate("march")...)
	if _, err := os.Stat(filepath.Join(dir, "march.csv")); err != nil {
		t.Error(err)
	}
	run(0, "", aggregate("march")...) // the same labels again
	run(7, "was used for something else", append(aggregate("march"), "--affected", "2")...)
	run(0, "2 entries", "budget", "show", book)
	run(0, `"ledger": "postgres://darrm@/postgres?host=/`, "budget", "show", book, "--json")
	run(0, "march", "budget", "history", book)
	out := run(0, "whole: 2 entries", "budget", "verify", book)
	_, head, _ := strings.Cut(out, "head: ")
	run(0, "whole", "budget", "verify", book, "--head", strings.TrimSpace(head))
	run(0, "ledger=patients", "budget", "report", book, "--out", "budget.html")
	s.Kill()
	run(8, "cannot be reached", "budget", "show", book)
	run(8, "cannot be reached", aggregate("april")...)
	checkAbsent(t, filepath.Join(dir, "april.csv"))
}

// A location of an unknown store, or without a ledger's name, is a wrong parameter.
func TestLedgerLocation(t *testing.T) {
	for _, book := range []string{"mysql://me:geheim@host/db", "postgres://me:geheim@host/db"} {
		code, said := exitOf(t, t.TempDir(), "budget", "show", book)
		if code != int(exitcode.Usage) || strings.Contains(said, "geheim") {
			t.Errorf("%s: exit %d, %s", book, code, said)
		}
	}
}
