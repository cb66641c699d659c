package report_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/learn/federated/report"
)

// What leaves is the messages in the order of their bytes, each as often as it came: a function of
// the set, whatever the order of arrival, of messages of one byte, of many, and of equal ones.
func TestShufflerReleasesASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, again [2][]string
		var sizes [2]int
		for k := range sent {
			sizes[k] = rapid.IntRange(1, 9).Draw(t, "size")
			sent[k] = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return string(rapid.SliceOfN(rapid.ByteMax(3), sizes[k], sizes[k]).Draw(t, "message"))
			}), 1, 40).Draw(t, "messages")
			again[k] = rapid.Permutation(sent[k]).Draw(t, "arrival")
		}
		release := func(sent [2][]string) (out [2]string) {
			s, err := report.NewShuffler(report.Expected{Reports: len(sent[0]), Size: sizes[0]},
				report.Expected{Reports: len(sent[1]), Size: sizes[1]})
			if err != nil {
				t.Fatal(err)
			}
			for k := range sent {
				for _, m := range sent[k] {
					if err := s.Accept(report.Stream(k), []byte(m)); err != nil {
						t.Fatal(err)
					}
				}
			}
			a, b, err := s.Release()
			if err != nil {
				t.Fatal(err)
			}
			return [2]string{string(a), string(b)}
		}
		got := release(sent)
		if other := release(again); other != got {
			t.Errorf("%q, and after another order of arrival %q", got, other)
		}
		for k := range sent {
			slices.Sort(sent[k])
			if want := strings.Join(sent[k], ""); got[k] != want {
				t.Errorf("%q, want %q", got[k], want)
			}
		}
	})
}

// Acceptance 5: nothing is released from a partial round, nor twice, nor after an abort.
func TestShufflerReleasesWholeRounds(t *testing.T) {
	full := report.Expected{Reports: 3, Size: 2}
	s, err := report.NewShuffler(full, report.Expected{Reports: 4, Minimum: 2, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	partial := func() {
		t.Helper()
		if a, b, err := s.Release(); a != nil || b != nil || !errors.Is(err, report.ErrPartialRound) {
			t.Errorf("%x, %x, %v", a, b, err)
		}
	}
	accept := func(to report.Stream, m ...byte) {
		t.Helper()
		if err := s.Accept(to, m); err != nil {
			t.Error(err)
		}
	}
	partial()
	accept(report.Gradients, 1, 2)
	accept(report.Gradients, 3, 4)
	accept(report.Differences, 1)
	partial()
	accept(report.Differences, 2)
	partial()
	accept(report.Gradients, 5, 6)
	for _, m := range [][]byte{{7, 8}, {7}, {7, 8, 9}, nil} {
		if s.Accept(report.Gradients, m) == nil {
			t.Errorf("%x accepted", m)
		}
	}
	if s.Accept(report.Stream(2), []byte{1}) == nil || s.Accept(report.Stream(-1), []byte{1}) == nil {
		t.Error("a third stream")
	}
	a, b, err := s.Release()
	if err != nil || len(a) != 6 || len(b) != 2 {
		t.Fatalf("%x, %x, %v", a, b, err)
	}
	whole := []string{string(a[:2]), string(a[2:4]), string(a[4:])}
	slices.Sort(whole)
	if !slices.Equal(whole, []string{"\x01\x02", "\x03\x04", "\x05\x06"}) {
		t.Errorf("messages %q", whole)
	}
	if a, b, err := s.Release(); err == nil || a != nil || b != nil {
		t.Error("released twice")
	}
	if s.Accept(report.Differences, []byte{1}) == nil {
		t.Error("accepted after the release")
	}
	if s, err = report.NewShuffler(full, report.Expected{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		accept(report.Gradients, 1, 2)
	}
	if s.Accept(report.Differences, nil) == nil {
		t.Error("a silent stream takes messages")
	}
	s.Abort()
	if a, _, err := s.Release(); err == nil || a != nil {
		t.Error("released after the abort")
	}
	for _, e := range []report.Expected{{}, {Reports: -1, Size: 1}, {Reports: 1},
		{Reports: 2, Size: 1, Minimum: 3}, {Reports: 2, Size: 1, Minimum: -1}} {
		if _, err := report.NewShuffler(e, report.Expected{}); err == nil {
			t.Errorf("%+v", e)
		}
	}
}
