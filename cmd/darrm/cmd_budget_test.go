package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/ledger"
)

// The history says whose votes a charge was for, in both forms.
func TestHistoryShowsDraws(t *testing.T) {
	entries := []ledger.Entry{
		{Seq: 1, Kind: ledger.KindCharge, ID: "a", Count: 1, Relation: ledger.ReplaceOne, Ensemble: "wards", EnsembleDigest: "v7", Draw: &ledger.Draw{Name: "march", Votes: ledger.Digest{0xab}, Covers: true}},
		{
			Seq: 2, Kind: ledger.KindCharge, ID: "b", Count: 1, Relation: ledger.ReplaceOne, Ensemble: "wards", EnsembleDigest: "v7",
			Draw: &ledger.Draw{Name: "april", Votes: ledger.Digest{0xab}, Stated: true}, SameVotesAs: &ledger.DrawName{Ensemble: "wards", Name: "march"},
		},
		{Seq: 3, Kind: ledger.KindCharge, ID: "c", Count: 1, Relation: ledger.ReplaceOne},
	}
	var text bytes.Buffer
	if err := renderHistory(&terminal.Page{Writer: &text, Width: 200}, entries); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`; ensemble wards (v7); covers the draw march`,
		`; ensemble wards (v7); draw april; stated to be new, with the votes of the draw "march" of ensemble "wards"`,
	} {
		if line := strings.Split(text.String(), "\n")[i+2]; !strings.HasSuffix(strings.TrimRight(line, " "), want) {
			t.Errorf("line %q does not end in %q", line, want)
		}
	}
	if strings.Count(text.String(), "draw") != 3 {
		t.Errorf("a charge without a draw has one:\n%s", &text)
	}
	b, err := json.Marshal(historyJSON(entries))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"neighbours":"replace","count":1`, `"ensemble":"wards","ensemble_digest":"v7","draw":{"name":"march","votes_digest":"ab00`, `00","stated":false,"covers":true}`,
		`00","stated":true,"covers":false,"same_votes_as":{"ensemble":"wards","name":"march"}}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	if strings.Count(string(b), `"draw":`) != 2 {
		t.Errorf("a charge without a draw has one: %s", b)
	}
}

// What is shown of an amount errs on the safe side, and is the amount where that is short.
func TestSixDigits(t *testing.T) {
	for _, tt := range []struct{ decimal, up, down string }{
		{"0", "0", "0"}, {"100", "100", "100"}, {"1.49347", "1.49347", "1.49347"},
		{"98.50653", "98.5066", "98.5065"}, {"0.0010994501649670048", "0.00109946", "0.00109945"},
		{"0.100000000000000000000001", "0.100001", "0.1"}, {"0.099999999999999999999999", "0.1", "0.099999"},
	} {
		if up, down := sixDigits(tt.decimal, true), sixDigits(tt.decimal, false); up != tt.up || down != tt.down {
			t.Errorf("%s: %s and %s, want %s and %s", tt.decimal, up, down, tt.up, tt.down)
		}
	}
}
