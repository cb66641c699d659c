package randsrctest

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
)

func TestSequence(t *testing.T) {
	s := &Sequence{Words: []uint64{5, 7}, Bits: []bool{true}}
	for _, want := range []uint64{5, 7} {
		if got, err := s.Uint53(); got != want || err != nil {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
	if _, err := s.Uint53(); !errors.Is(err, ErrExhausted) {
		t.Errorf("third word: %v", err)
	}
	if b, err := s.Bit(); !b || err != nil {
		t.Errorf("bit: %t, %v", b, err)
	}
	if _, err := s.Bit(); !errors.Is(err, ErrExhausted) {
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

func TestCounter(t *testing.T) {
	c := &Counter{Step: randsrc.One53 - 1} // counts down from 2⁵³
	for i, want := range []uint64{0, randsrc.One53 - 1, randsrc.One53 - 2} {
		if got, err := c.Uint53(); got != want || err != nil {
			t.Errorf("word %d: %d, %v; want %d", i, got, err, want)
		}
	}
	for i := range 4 {
		if b, err := c.Bit(); b != (i%2 == 1) || err != nil {
			t.Errorf("bit %d: %t, %v", i, b, err)
		}
	}
}
