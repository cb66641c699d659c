package lineartest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/ledger"
)

// The ledgers of histories are used by processes of this binary, which are killed: requests are
// lines on their standard input, what they are told are lines on their standard output.

const linearEnv = "DARRM_LINEARTEST"

// Child plays such a process, if this is one, and ends it. A package of tests that calls
// [Run] must have
//
//	var _ = lineartest.Child()
func Child() bool {
	location := os.Getenv(linearEnv)
	if location == "" {
		return false
	}
	os.Unsetenv(linearEnv)
	if err := serveLines(location); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

// Run judges histories of the store of the locations that newLocation returns. In every other
// one, all clients share the handle of one process, and with it commits. In the others there are
// two processes, which are killed again and again; kill, if not nil, ends something else at times.
func Run(t *testing.T, histories int, newLocation func(t *testing.T) string,
	kill func(t *testing.T)) {
	Judge(t, histories, 25, func(t *testing.T, i int) Store {
		location := newLocation(t)
		ledgersuite.Create(t, location, Room)
		children := []*lineServer{{location: location}, {location: location}}[i%2:]
		for _, c := range children {
			if err := c.start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.kill)
		}
		s := Store{Ask: func(ctx context.Context, client int, a Ask) (Told, error) {
			return children[client%len(children)].ask(ctx, a)
		}}
		if len(children) > 1 {
			s.Kill = func(context.Context) error {
				if kill != nil && rand.IntN(10) == 0 {
					kill(t)
					return nil
				}
				c := children[rand.IntN(2)]
				c.kill()
				return c.start()
			}
		}
		return s
	})
}

// lineServer is such a process, seen from outside.
type lineServer struct {
	location string

	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	waiting map[int]chan Told // closed without a word; nil once the process has ended
	asked   int
	killed  bool
	over    chan struct{}
}

func (s *lineServer) start() error {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), linearEnv+"="+s.location, "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd, s.in, s.waiting, s.killed, s.over = c, in, map[int]chan Told{}, false, make(chan struct{})
	if err := c.Start(); err != nil {
		return err
	}
	go s.read(c, out)
	return nil
}

// read tells those who wait, until the process ends. A line that a kill cut short says nothing.
func (s *lineServer) read(c *exec.Cmd, out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			break
		}
		var number int
		var told Told
		n, _ := fmt.Sscan(line, &number, &told.Verdict, &told.Seq, &told.Spent)
		s.mu.Lock()
		if n == 4 {
			s.waiting[number] <- told
		}
		close(s.waiting[number])
		delete(s.waiting, number)
		s.mu.Unlock()
	}
	s.mu.Lock()
	for _, w := range s.waiting {
		close(w)
	}
	s.waiting = nil
	s.mu.Unlock()
	_ = c.Wait() // ask tells whether it was killed
	close(s.over)
}

func (s *lineServer) kill() {
	s.mu.Lock()
	s.killed = true
	s.mu.Unlock()
	_ = s.cmd.Process.Kill()
	<-s.over
}

func (s *lineServer) ask(ctx context.Context, a Ask) (Told, error) {
	w := make(chan Told, 1)
	if err := s.send(a, w); err != nil {
		return Told{}, err
	}
	select {
	case told, ok := <-w:
		if ok {
			return told, nil
		}
		return Told{}, errNoWord
	case <-ctx.Done():
		return Told{}, ctx.Err()
	}
}

func (s *lineServer) send(a Ask, w chan Told) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.waiting != nil:
	case s.killed:
		return errNoWord
	default:
		return errEnded
	}
	s.asked++
	_, err := fmt.Fprintln(s.in, s.asked, a.Look, a.ID, a.Other)
	if err == nil {
		s.waiting[s.asked] = w
	}
	return err
}

// serveLines answers the lines of standard input, all that come at once with one handle.
func serveLines(location string) error {
	l, err := ledger.Open(context.Background(), location)
	if errors.Is(err, ledger.ErrUnavailable) {
		l, err = nil, nil // a database that starts again
	}
	if err != nil {
		return err
	}
	var mu sync.Mutex
	handle := func(failed *ledger.Ledger) (_ *ledger.Ledger, err error) {
		mu.Lock()
		defer mu.Unlock()
		if l == failed {
			l, err = ledger.Open(context.Background(), location)
		}
		return l, err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var number int
		var a Ask
		if _, err := fmt.Sscan(lines.Text(), &number, &a.Look, &a.ID, &a.Other); err != nil {
			return err
		}
		go func() {
			book, err := handle(nil)
			var told Told
			if err == nil {
				told, err = chargeOrLook(book, a)
			}
			switch {
			case err == nil:
				fmt.Printf("%d %d %d %d\n", number, told.Verdict, told.Seq, told.Spent)
				return
			case errors.Is(err, ledger.ErrBroken), errors.Is(err, ledger.ErrWrite):
				_, err = handle(book)
			}
			if err != nil && !errors.Is(err, ledger.ErrUnavailable) {
				fmt.Fprintln(os.Stderr, "a ledger that nobody damaged:", err)
				os.Exit(1)
			}
			fmt.Println(number)
		}()
	}
	return lines.Err()
}

// chargeOrLook asks a ledger. An error is none of the model's verdicts.
func chargeOrLook(l *ledger.Ledger, a Ask) (told Told, err error) {
	ctx := context.Background()
	if a.Look {
		spent, err := l.Spent(ctx)
		for spent != ledgersuite.Unit().Times(uint64(told.Spent)) && told.Spent <= Room {
			told.Spent++
		}
		return told, err
	}
	var receipt *ledger.Receipt
	if a.ID%2 == 0 {
		receipt, err = l.Charge(ctx, a.request())
	} else { // with its result
		var all []*ledger.Receipt
		if all, err = ledgersuite.ChargeDrawn(l, ctx, []ledger.Request{a.request()}); err == nil {
			receipt = all[0]
		}
	}
	var replayed *ledger.ReplayedError
	switch {
	case err == nil && (receipt.Redeem() == nil) == (a.ID%2 == 0):
		return Told{Verdict: Paid, Seq: receipt.Entry().Seq}, nil
	case errors.As(err, &replayed):
		return Told{Verdict: Replayed, Seq: replayed.Replays[0].Charge.Seq}, nil
	}
	if errors.Is(err, ledger.ErrAnswers) {
		return Told{Verdict: Exceeded}, nil
	}
	for v, is := range map[Verdict]error{Conflict: ledger.ErrConflict, Drawn: ledger.ErrDrawn,
		Unpaid: ledger.ErrUnpaid, Exceeded: ledger.ErrExceeded} {
		if errors.Is(err, is) {
			return Told{Verdict: v}, nil
		}
	}
	return told, err
}

// request is the charge of an id.
func (a Ask) request() ledger.Request {
	id := func(n uint8) string { return "id-" + strconv.Itoa(int(n)) }
	kind, draw := a.Kind()
	r := ledgersuite.Request(id(a.ID))
	switch {
	case kind == Opens:
		r = ledgersuite.Opening(r.ID, Answers)
	case kind == Takes:
		r = ledgersuite.Taking(id(openingOf(a.quota())), r.ID, 1)
	}
	switch {
	case a.Other && kind == Opens: // a quota has a count of 1
		r.Unit = ledgersuite.Unit().Times(2)
	case a.Other:
		r.Count = 2
	}
	if kind == Double || kind == Cover {
		r.Unit = ledgersuite.Unit().Times(2)
	}
	if First <= kind && kind <= Further {
		r.Ensemble, r.Draw = "teachers", ledgersuite.Draw("teachers", fmt.Sprint("draw-", draw), 1+int(draw))
		r.Draw.Covers = kind == Cover
	}
	if kind == Further {
		r.Unit, r.PaidBy = ledger.Cost{}, id(coverOf(draw))
	}
	return r
}
