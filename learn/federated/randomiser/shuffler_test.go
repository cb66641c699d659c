package randomiser_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/learn/federated/randomiser"
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
			s, err := randomiser.NewShuffler(randomiser.Expected{Reports: len(sent[0]), Size: sizes[0]},
				randomiser.Expected{Reports: len(sent[1]), Size: sizes[1]})
			if err != nil {
				t.Fatal(err)
			}
			for k := range sent {
				for _, m := range sent[k] {
					if err := s.Accept(randomiser.Stream(k), []byte(m)); err != nil {
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
	full := randomiser.Expected{Reports: 3, Size: 2}
	s, err := randomiser.NewShuffler(full, randomiser.Expected{Reports: 4, Minimum: 2, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	partial := func() {
		t.Helper()
		if a, b, err := s.Release(); a != nil || b != nil || !errors.Is(err, randomiser.ErrPartialRound) {
			t.Errorf("%x, %x, %v", a, b, err)
		}
	}
	accept := func(to randomiser.Stream, m ...byte) {
		t.Helper()
		if err := s.Accept(to, m); err != nil {
			t.Error(err)
		}
	}
	partial()
	accept(randomiser.Gradients, 1, 2)
	accept(randomiser.Gradients, 3, 4)
	accept(randomiser.Differences, 1)
	partial()
	accept(randomiser.Differences, 2)
	partial()
	accept(randomiser.Gradients, 5, 6)
	for _, m := range [][]byte{{7, 8}, {7}, {7, 8, 9}, nil} {
		if s.Accept(randomiser.Gradients, m) == nil {
			t.Errorf("%x accepted", m)
		}
	}
	if s.Accept(randomiser.Stream(2), []byte{1}) == nil || s.Accept(randomiser.Stream(-1), []byte{1}) == nil {
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
	if s.Accept(randomiser.Differences, []byte{1}) == nil {
		t.Error("accepted after the release")
	}
	if s, err = randomiser.NewShuffler(full, randomiser.Expected{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		accept(randomiser.Gradients, 1, 2)
	}
	if s.Accept(randomiser.Differences, nil) == nil {
		t.Error("a silent stream takes messages")
	}
	for _, e := range []randomiser.Expected{{}, {Reports: -1, Size: 1}, {Reports: 1},
		{Reports: 2, Size: 1, Minimum: 3}, {Reports: 2, Size: 1, Minimum: -1}} {
		if _, err := randomiser.NewShuffler(e, randomiser.Expected{}); err == nil {
			t.Errorf("%+v", e)
		}
	}
}
