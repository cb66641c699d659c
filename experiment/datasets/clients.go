package datasets

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// ClientFeatures is the dimension of CreditClients.
const ClientFeatures = 32

const months = 6 // of payments, bills and amounts paid

// clientFiles are the names that the credit card file has.
var clientFiles = []string{"uci-credit-card.csv", "default-of-credit-card-clients.csv"}

// readClients takes n clients.
func readClients(r io.Reader, n int, seed uint64) (*data.Records, error) {
	var x, y []float64
	err := eachClient(r, func(_ int, v []float64, label float64) error {
		if len(y) == maxPoints {
			return fmt.Errorf("more than %d rows", maxPoints)
		}
		x, y = append(x, clientRow(v)...), append(y, label)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(y) < n {
		return nil, fmt.Errorf("%d rows, but %d are asked for", len(y), n)
	}
	all, err := data.NewRecords(len(y), ClientFeatures, x, y)
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Synthetic, streamRows)
	rows := rng.Subset(len(y), n)
	order := stream.New(seed, stream.Synthetic, streamOrder)
	order.Shuffle(rows)
	return all.Select(rows)
}

// clientRow makes the features of a client's id and 23 attributes. All are in [-1,1] whoever the
// clients are: amounts are logarithms by that of a million, what is beyond is cut.
func clientRow(v []float64) []float64 {
	const limit, sex, education, marriage, age, late, bills, paid = 1, 2, 3, 4, 5, 6, 12, 18
	unit := func(x float64) float64 { return max(-1, min(1, x)) }
	amount := func(x float64) float64 {
		return unit(math.Copysign(math.Log1p(math.Abs(x))/math.Log1p(1e6), x))
	}
	row := make([]float64, 0, ClientFeatures)
	for _, least := range []float64{1, 2} {
		for i := range months {
			row = append(row, indicator(v[late+i] >= least))
		}
	}
	for i := range months {
		row = append(row, amount(v[bills+i]))
	}
	for i := range months {
		row = append(row, amount(v[paid+i]))
	}
	return append(row, unit(v[limit]/1e6), indicator(v[sex] == 2), indicator(v[education] == 1),
		indicator(v[education] == 2), indicator(v[education] == 3),
		indicator(v[marriage] == 1), unit((v[age]-50)/50), 1)
}

// eachClient calls f with every client of the credit card file: the number of its line, the id
// and the 23 attributes, which f may keep, and whether it defaulted. The file may have up to two
// lines of headers.
func eachClient(r io.Reader, f func(row int, v []float64, label float64) error) error {
	const columns = 25
	row := 0
	return eachRow(r, columns, func(fields []string) error {
		row++
		if _, err := data.ParseNumber(fields[0]); err != nil && row <= 2 {
			return nil // a header
		}
		v := make([]float64, columns)
		for i, field := range fields {
			var err error
			if v[i], err = data.ParseNumber(field); err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
		}
		label := v[columns-1]
		if label != 0 && label != 1 {
			return check.Want("response", label, "0 or 1")
		}
		return f(row, v[:columns-1:columns-1], label)
	})
}

// readCreditCard takes 100 defaulters and 100 others with EDUCATION 3 (high school) as D,
// and 10 and 190 with EDUCATION 2 (university) as P. Who is drawn at random, for the file's
// first clients are like each other; they stay in the file's order. Features are the 23
// attributes without EDUCATION and MARRIAGE, standardised by P's statistics. Columns are
// taken by place: an id, the attributes, the response.
func readCreditCard(r io.Reader, rng *rand.Rand) (private, public *data.Records, err error) {
	const education, marriage, d = 3, 4, 21
	// of D and P, without and with default
	clients := [2][2]*sample{{{size: 100}, {size: 100}}, {{size: 190}, {size: 10}}}
	err = eachClient(r, func(row int, v []float64, label float64) error {
		if which := slices.Index([]float64{3, 2}, v[education]); which >= 0 {
			x := slices.Delete(v[1:], education-1, marriage)
			clients[which][int(label)].add(rng, client{row, x, label})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var x, y [2][]float64
	for which, group := range clients {
		var taken []client
		for label, s := range group {
			if len(s.clients) < s.size {
				return nil, nil, fmt.Errorf("%d clients with EDUCATION %d and response %d, but %d are needed",
					len(s.clients), 3-which, label, s.size)
			}
			taken = append(taken, s.clients...)
		}
		slices.SortFunc(taken, func(a, b client) int { return a.row - b.row })
		for _, c := range taken {
			x[which] = append(x[which], c.features...)
			y[which] = append(y[which], c.response)
		}
	}
	return standardised(200, d, x[0], y[0], x[1], y[1])
}

type client struct {
	row      int
	features []float64
	response float64
}

// sample is a uniformly random subset, of the given size, of the clients added: Vitter's
// algorithm R, so that memory does not grow with the file.
type sample struct {
	size    int
	seen    int
	clients []client
}

func (s *sample) add(rng *rand.Rand, c client) {
	s.seen++
	if len(s.clients) < s.size {
		s.clients = append(s.clients, c)
	} else if i := rng.IntN(s.seen); i < s.size {
		s.clients[i] = c
	}
}
