// Package lineartest judges histories of ledgers and of servers by linearisability: whatever clients
// ask of a ledger at once, and whatever is killed meanwhile, there is an order of all requests, each
// at one moment between its call and its return, in which a ledger that does one thing after the
// other says the same. The order is found, or excluded, by the checker porcupine. A package of tests
// that calls [Run] must have
//
//	var _ = lineartest.Child()
//
// It stands apart from ledgertest, so that whoever wants a ledger for tests needs no checker.
package lineartest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Ask is one request. The id decides all of a charge but Other, so that two of one id are the
// same request or a conflict.
type Ask struct {
	Look  bool  // what is spent
	Plain bool  // not of a draw: the id is one of the kind Plain
	ID    uint8 // below Ids
	Other bool  // with another content
}

// Told is the outcome of an Ask.
type Told struct {
	Verdict
	Seq   uint64 // of the charge: Paid, Replayed
	Class uint8  // of the answer, if it is one
	Spent int    // a look's
}

// Verdict is a ledger's decision on a charge.
type Verdict uint8

// The verdicts. Held is Paid or Replayed: the asker does not know, because an earlier try of his
// ended without a word.
const (
	Paid Verdict = iota
	Replayed
	Held
	Conflict
	Drawn
	Unpaid
	Exceeded
)

func (v Verdict) String() string {
	return [...]string{"paid", "replayed", "paid or replayed", "conflict", "drawn", "unpaid",
		"exceeded"}[v]
}

// Ids and Draws are how many there are in a history, and Room is the budget in answers: less than
// all that is asked.
const (
	Ids   = 140
	Draws = 10
	Room  = 70
)

// Quotas is the number of quotas that answers are taken of, and Answers the number that each has:
// fewer than are asked for.
const (
	Quotas  = 4
	Answers = 3
)

// Kind is the kind of charge that an id stands for.
type Kind uint8

// The kinds of charges: without a draw, of 1 or 2; the first answer to a draw; the cover of a
// draw; and a further answer to it, paid by the cover; a quota of answers; and an answer of one.
const (
	Plain Kind = iota
	Double
	First
	Cover
	Further
	Opens
	Takes
	kinds
)

// Kind returns what the id asks for, and of which draw.
func (a Ask) Kind() (k Kind, draw uint8) {
	if a.Plain {
		return Plain, 0
	}
	return Kind(a.ID % uint8(kinds)), a.ID / uint8(kinds) % Draws
}

// coverOf is the id that pays for further answers to a draw.
func coverOf(draw uint8) uint8 { return uint8(kinds)*draw + uint8(Cover) }

// quota is the number of the quota of which an id takes answers.
func (a Ask) quota() uint8 { return a.ID / uint8(kinds) % Quotas }

// openingOf is the id that opens a quota. Nobody takes answers of others.
func openingOf(quota uint8) uint8 { return uint8(kinds)*quota + uint8(Opens) }

// takes is the number of answers of a quota that are asked for.
func (a Ask) takes() int {
	if k, _ := a.Kind(); k != Takes {
		return 0
	}
	if a.Other {
		return 2
	}
	return 1
}

func (a Ask) cost() int {
	k, _ := a.Kind()
	cost := [...]int{Plain: 1, Double: 2, First: 1, Cover: 2, Further: 0, Opens: 1, Takes: 0}[k]
	if a.Other && !a.Plain {
		cost *= 2
	}
	return cost
}

// book is the ledger of the model.
type book struct {
	spent   int
	last    uint64      // number of the newest charge
	charges [Ids]charge // a number of 0 is none
	known   [Draws]bool // draws that were answered or covered
	taken   [Quotas]int
}

type charge struct {
	other bool
	Told
}

// step reports whether a ledger in the state b may answer a with t, and returns the state that
// follows.
func step(b book, a Ask, t Told) (bool, book) {
	kind, draw := a.Kind()
	switch had := b.charges[a.ID]; {
	case a.Look:
		return t.Spent == b.spent, b
	case had.Seq != 0 && had.other != a.Other:
		return t.Verdict == Conflict, b
	case had.Seq != 0:
		return (t.Verdict == Replayed || t.Verdict == Held) && t.Seq == had.Seq && t.Class == had.Class, b
	case kind == First && b.known[draw]:
		return t.Verdict == Drawn, b
	case kind == Further && b.charges[coverOf(draw)].Seq == 0:
		return t.Verdict == Unpaid, b
	case kind == Takes && b.charges[openingOf(a.quota())].Seq == 0:
		return t.Verdict == Unpaid, b
	case kind == Takes && b.taken[a.quota()]+a.takes() > Answers:
		return t.Verdict == Exceeded, b
	case b.spent+a.cost() > Room:
		return t.Verdict == Exceeded, b
	}
	ok := (t.Verdict == Paid || t.Verdict == Held) && t.Seq > b.last
	b.spent, b.last, b.charges[a.ID] = b.spent+a.cost(), t.Seq, charge{a.Other, t}
	b.known[draw] = b.known[draw] || kind == First || kind == Cover
	b.taken[a.quota()] += a.takes()
	return ok, b
}

var model = porcupine.Model{
	Init: func() any { return book{} },
	Step: func(b, a, t any) (bool, any) { return step(b.(book), a.(Ask), t.(Told)) },
}

// Store is the ledger, or service, that the clients of a history ask.
type Store struct {
	// Ask asks by one of the clients, once. An error leaves it open whether that was done; the same is
	// then asked again.
	Ask func(ctx context.Context, client int, a Ask) (Told, error)
	// Kill ends something while clients ask, and starts it again; nil for nothing.
	Kill func(ctx context.Context) error
	// Plain leaves out draws: every id is a charge of 1, whatever its content.
	Plain bool
}

const (
	// Clients is the number of clients that ask at once.
	Clients = 12
	// betweenKills is the number of requests that get an outcome from one kill to the next.
	betweenKills = 10
)

// History lets clients ask, each so many times, and returns what they asked and were told. Who gets
// no word asks the same again, until there is one: that is one operation.
func (s Store) History(ctx context.Context, asks int, seed uint64) ([]porcupine.Operation, error) {
	ctx, stop := context.WithTimeout(ctx, historyTime)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lists := make([][]porcupine.Operation, Clients)
	start := time.Now()
	var asked, told atomic.Int32
	var clients, killer sync.WaitGroup
	for n := range Clients {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		clients.Go(func() {
			for range asks {
				a := s.ask(random, int(asked.Add(1)))
				o := porcupine.Operation{ClientId: n, Input: a, Call: int64(time.Since(start))}
				var err error
				if o.Output, err = s.untilTold(ctx, n, a); err != nil {
					cancel(err)
					return
				}
				o.Return = int64(time.Since(start))
				told.Add(1)
				lists[n] = append(lists[n], o)
			}
		})
	}
	if s.Kill != nil {
		over, end := context.WithCancel(ctx)
		killer.Go(func() {
			for over.Err() == nil {
				for before := told.Load(); told.Load() < before+betweenKills && over.Err() == nil; {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond))))
				if err := s.Kill(ctx); err != nil {
					cancel(err)
				}
			}
		})
		defer killer.Wait()
		defer end()
	}
	clients.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(lists...), nil
}

// ask draws a request: of ids that come up by and by, most of them of the newest, so that several
// ask for one id or one draw at once.
func (s Store) ask(random *rand.Rand, asked int) Ask {
	if random.IntN(5) == 0 {
		return Ask{Look: true}
	}
	known := min(Ids, 8+asked/3)
	a := Ask{Plain: s.Plain, ID: uint8(random.IntN(known)), Other: random.IntN(12) == 0}
	if random.IntN(4) > 0 {
		a.ID = uint8(max(0, known-1-random.IntN(10)))
	}
	return a
}

func (s Store) untilTold(ctx context.Context, client int, a Ask) (Told, error) {
	for again := false; ; again = true {
		told, err := s.Ask(ctx, client, a)
		if err == nil {
			if again && (told.Verdict == Paid || told.Verdict == Replayed) {
				told.Verdict = Held
			}
			return told, nil
		}
		if errors.Is(err, errEnded) {
			return told, err
		}
		select {
		case <-ctx.Done():
			return told, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// The longest that a history may take, and that the checker may look for an order. Seconds and
// milliseconds are usual.
const historyTime, judgeTime = 5 * time.Minute, 5 * time.Minute

// Linearisable describes why a history is not linearisable, "" where it is.
func Linearisable(history []porcupine.Operation) string {
	switch porcupine.CheckOperationsTimeout(model, history, judgeTime) {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return fmt.Sprintf("no order of %d requests was found or excluded in %v", len(history), judgeTime)
	}
	var b strings.Builder
	b.WriteString("no order of these requests explains what was told (call, return, client):\n")
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, o := range history {
		fmt.Fprintf(&b, "%10v %10v %d %+v: %+v\n", time.Duration(o.Call), time.Duration(o.Return),
			o.ClientId, o.Input, o.Output)
	}
	return b.String()
}

// Judge makes histories of stores, each of a new ledger, and fails where one is not linearisable or
// where some verdict never came up.
func Judge(t *testing.T, histories, asks int, newStore func(t *testing.T, i int) Store) {
	t.Helper()
	told := map[Verdict]int{}
	all := 0
	want := []Verdict{Paid, Replayed, Conflict, Exceeded}
	for i := range histories {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := newStore(t, i)
			history, err := s.History(t.Context(), asks, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if wrong := Linearisable(history); wrong != "" {
				t.Error(wrong)
			}
			for _, o := range history {
				if !o.Input.(Ask).Look {
					told[o.Output.(Told).Verdict]++
				}
				all++
			}
			if !s.Plain {
				want = append(want, Drawn, Unpaid)
			}
			if s.Kill != nil {
				want = append(want, Held)
			}
		})
	}
	t.Logf("%d histories of %d clients, %d requests: %v", histories, Clients, all, told)
	for _, v := range want {
		if told[v] == 0 && !t.Failed() {
			t.Errorf("nobody was told %q", v)
		}
	}
}

var (
	errNoWord = errors.New("no word")
	errEnded  = errors.New("a process ended that nobody killed")
)
