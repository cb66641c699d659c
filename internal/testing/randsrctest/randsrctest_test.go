package randsrctest

import (
	"errors"
	"testing"
)

func TestSequence(t *testing.T) {
	s := &Sequence{Words: []uint64{5, 7}, Bits: []bool{true}}
	for _, want := range []uint64{5, 7} {
		if got, err := s.Uint53(); got != want || err != nil {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
	if _, err := s.Uint53(); !errors.Is(err, errExhausted) {
		t.Errorf("third word: %v", err)
	}
	if b, err := s.Bit(); !b || err != nil {
		t.Errorf("bit: %t, %v", b, err)
	}
	if _, err := s.Bit(); !errors.Is(err, errExhausted) {
		t.Errorf("second bit: %v", err)
	}
	if w, b := s.Used(); w != 2 || b != 1 {
		t.Errorf("used %d words and %d bits, want 2 and 1", w, b)
	}
	boom := errors.New("boom")
	if _, err := (&Sequence{Err: boom}).Uint53(); err != boom {
		t.Errorf("got %v, want the error of the sequence", err)
	}
}
