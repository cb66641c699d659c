package lineartest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// toy is a ledger in memory. A careless one looks and writes at two moments, so that what another
// client wrote between them is lost.
type toy struct {
	mu       sync.Mutex
	b        book
	careless bool
}

func (s *toy) ask(_ context.Context, _ int, a Ask) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.b
	if s.careless {
		s.mu.Unlock()
		time.Sleep(100 * time.Microsecond)
		s.mu.Lock()
	}
	for v := Paid; ; v++ {
		told := Told{Verdict: v, Spent: before.spent}
		switch v {
		case Paid:
			told.Seq = before.last + 1
		case Replayed:
			told.Seq = before.charges[a.ID].Seq
		}
		if ok, after := step(before, a, told); ok {
			if after != before {
				s.b = after
			}
			return told, nil
		}
	}
}

// The checker takes the histories of a ledger that does one thing after the other, and finds the
// lost updates of a careless one in each of 20.
func TestLostUpdateIsFound(t *testing.T) {
	for i := range 20 {
		for _, careless := range []bool{false, true} {
			s := toy{careless: careless}
			history, err := Store{Ask: s.ask}.History(t.Context(), 40, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if wrong := Linearisable(history); (wrong != "") != careless {
				t.Errorf("careless: %v: %s", careless, wrong)
			}
		}
	}
}

// What no ledger may tell.
func TestNotLinearisable(t *testing.T) {
	type op struct {
		call, end int64
		ask       Ask
		told      Told
	}
	paid := func(seq uint64) Told { return Told{Verdict: Paid, Seq: seq} }
	look, opens := Ask{Look: true}, Ask{ID: openingOf(0)}
	takes := func(n uint8, other bool) Ask {
		return Ask{ID: uint8(kinds)*Quotas*n + uint8(Takes), Other: other}
	}
	for name, c := range map[string]struct {
		ok  bool
		ops []op
	}{
		"a look at the same time sees a charge or not": {true,
			[]op{{0, 9, Ask{ID: 0}, paid(1)}, {1, 2, look, Told{}}, {3, 4, look, Told{Spent: 1}}}},
		"a charge is taken back": {false,
			[]op{{0, 9, Ask{ID: 0}, paid(1)}, {1, 2, look, Told{Spent: 1}}, {3, 4, look, Told{}}}},
		"a charge is not seen after it": {false,
			[]op{{0, 1, Ask{ID: 0}, paid(1)}, {2, 3, look, Told{}}}},
		"a charge is seen before it": {false,
			[]op{{0, 1, look, Told{Spent: 1}}, {2, 3, Ask{ID: 0}, paid(1)}}},
		"two charges of one id": {false,
			[]op{{0, 9, Ask{ID: 0}, paid(1)}, {0, 9, Ask{ID: 0}, paid(2)}}},
		"a replay of another charge": {false,
			[]op{{0, 1, Ask{ID: 0}, paid(1)}, {2, 3, Ask{ID: 0}, Told{Verdict: Replayed, Seq: 2}}}},
		"another answer": {false,
			[]op{{0, 1, Ask{ID: 0}, Told{Verdict: Paid, Seq: 1, Class: 1}},
				{2, 3, Ask{ID: 0}, Told{Verdict: Replayed, Seq: 1}}}},
		"no word, then a replay": {true,
			[]op{{0, 1, Ask{ID: 0}, Told{Verdict: Held, Seq: 1}}, {2, 3, look, Told{Spent: 1}}}},
		"two entries of one number": {false,
			[]op{{0, 9, Ask{ID: 0}, paid(1)}, {0, 9, Ask{ID: uint8(kinds)}, paid(1)}}},
		"a draw is answered twice": {false,
			[]op{{0, 9, Ask{ID: 2}, paid(1)}, {0, 9, Ask{ID: 2 + uint8(kinds)*Draws}, paid(2)}}},
		"a draw is paid for after its answer": {false,
			[]op{{0, 1, Ask{ID: 4}, paid(1)}, {2, 3, Ask{ID: 3}, paid(2)}}},
		"refused although there is room": {false,
			[]op{{0, 1, Ask{ID: 0}, Told{Verdict: Exceeded}}}},
		"all answers of a quota": {true, []op{{0, 1, opens, paid(1)}, {2, 9, takes(0, true), paid(2)},
			{2, 9, takes(1, false), paid(3)}, {10, 11, takes(2, false), Told{Verdict: Exceeded}}}},
		"more answers than a quota has": {false, []op{{0, 1, opens, paid(1)},
			{2, 9, takes(0, true), paid(2)}, {2, 9, takes(1, true), paid(3)}}},
		"an answer before its quota": {false,
			[]op{{0, 1, takes(0, false), paid(1)}, {2, 3, opens, paid(2)}}},
		"refused although an answer is left": {false, []op{{0, 1, opens, paid(1)},
			{2, 3, takes(0, true), paid(2)}, {4, 5, takes(1, false), Told{Verdict: Exceeded}}}},
		"an answer that costs": {false, []op{{0, 1, opens, paid(1)}, {2, 3, takes(0, false), paid(2)},
			{4, 5, look, Told{Spent: 2}}}},
	} {
		var history []porcupine.Operation
		for i, o := range c.ops {
			history = append(history, porcupine.Operation{ClientId: i, Input: o.ask, Call: o.call,
				Output: o.told, Return: o.end})
		}
		if wrong := Linearisable(history); (wrong == "") != c.ok {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
