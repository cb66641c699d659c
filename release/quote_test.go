package release

import (
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// What is shown of an amount errs on the safe side, and is the amount where that is short.
func TestSixDigits(t *testing.T) {
	for _, tt := range []struct{ decimal, up, down string }{
		{"0", "0", "0"}, {"100", "100", "100"}, {"1.49347", "1.49347", "1.49347"},
		{"98.50653", "98.5066", "98.5065"}, {"0.0010994501649670048", "0.00109946", "0.00109945"},
		{"0.100000000000000000000001", "0.100001", "0.1"},
		{"0.099999999999999999999999", "0.1", "0.099999"},
	} {
		if up, down := sixDigits(tt.decimal, true), sixDigits(tt.decimal, false); up != tt.up ||
			down != tt.down {
			t.Errorf("%s: %s and %s, want %s and %s", tt.decimal, up, down, tt.up, tt.down)
		}
	}
}

// A quote shows six digits of each amount, rounded up.
func TestQuoteRows(t *testing.T) {
	var q Quote
	q.PerAnswer, q.Together.Most = accountant.Cost{Epsilon: 0.12345611, Delta: 1.2345611e-5}, 3
	want := []string{"up to 3 labels", "0.123457", "1.23457e-05"}
	if rows := q.Rows(); !slices.Equal(rows[0], want) {
		t.Errorf("%q, want %q", rows[0], want)
	}
}
