package report_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated/report"
)

// shuffled returns the orders in which the messages 0…n-1 of both streams leave a round.
func shuffled(t testing.TB, coins stream.Coins, round, n int) (a, b []byte) {
	t.Helper()
	s, err := report.NewShuffler(coins, round, report.Expected{Reports: n, Size: 1}, report.Expected{Reports: n, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for _, to := range []report.Stream{report.Gradients, report.Differences} {
			if err := s.Accept(to, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a, b, err = s.Release(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// place numbers the 24 orders of four messages.
func place(order []byte) int {
	n := 0
	for i := range order {
		less := 0
		for _, v := range order[i+1:] {
			if v < order[i] {
				less++
			}
		}
		n = n*(len(order)-i) + less
	}
	return n
}

// Acceptance 5: all 24 orders are equally likely, and the streams' orders are independent. The first
// chi-square has 23 degrees of freedom and is above 49.7 with probability 0.1 %; the second, of
// pairs of orders, has 23² = 529 and is above 635 with about as much. An order that misses one
// of 24 values gives 10,000 and more; linked orders 240,000·23.
func TestShufflerOrders(t *testing.T) {
	const runs = 240_000
	coins := stream.Seeded(1)
	var orders [24]float64
	var pairs [24][24]float64
	for i := range runs {
		a, b := shuffled(t, coins, i, 4)
		orders[place(a)]++
		pairs[place(a)][place(b)]++
	}
	one, two := 0.0, 0.0
	for i := range 24 {
		one += math.Pow(orders[i]-runs/24., 2) / (runs / 24.)
		for j := range 24 {
			column := 0.0
			for k := range 24 {
				column += pairs[k][j]
			}
			want := orders[i] * column / runs
			two += math.Pow(pairs[i][j]-want, 2) / want
		}
	}
	if one > 49.7 || two > 635 {
		t.Errorf("chi-squares %g and %g", one, two)
	}
}

// Acceptance 5: nothing is released from a partial round, nor twice, nor after an abort.
func TestShufflerReleasesWholeRounds(t *testing.T) {
	full := report.Expected{Reports: 3, Size: 2}
	s, err := report.NewShuffler(stream.Seeded(1), 0, full, report.Expected{Reports: 4, Minimum: 2, Size: 1})
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
	if s, err = report.NewShuffler(stream.Seeded(1), 0, full, report.Expected{}); err != nil {
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
	for _, e := range []report.Expected{{}, {Reports: -1, Size: 1}, {Reports: 1}, {Reports: 2, Size: 1, Minimum: 3}, {Reports: 2, Size: 1, Minimum: -1}} {
		if _, err := report.NewShuffler(stream.Seeded(1), 0, e, report.Expected{}); err == nil {
			t.Errorf("%+v", e)
		}
	}
}

// What leaves depends on the messages alone as a set: the order of arrival moves nothing but
// which of the equally likely orders comes out.
func TestShufflerKeepsNoArrival(t *testing.T) {
	counts := map[byte]int{}
	for i := range 4000 {
		a, _ := shuffled(t, stream.Seeded(9), i, 10)
		counts[a[0]]++ // who arrived first leaves first a tenth of the time: 400 ± 19
	}
	for v, n := range counts {
		if n < 285 || n > 515 { // six standard deviations, ten values: below 1e-7
			t.Errorf("message %d leaves first %d times", v, n)
		}
	}
	a, b := shuffled(t, stream.Seeded(9), 1, 200)
	if bytes.Equal(a, b) {
		t.Error("both streams have one order")
	}
}
