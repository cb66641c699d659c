package datasets

import (
	"fmt"
	"io"
	"math"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// ClientFeatures is the dimension of CreditClients.
const ClientFeatures = 32

const months = 6 // of payments, bills and amounts paid

// loadClients takes n clients of the credit card file.
func (p *Points) loadClients(from folder, n int, seed uint64) error {
	f, path, err := from.open("uci-credit-card.csv", "default-of-credit-card-clients.csv")
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	p.Source = path
	if p.Records, err = readClients(f, n, seed); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

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
	for i := n - 1; i > 0; i-- {
		j := order.Bound(uint64(i + 1))
		rows[i], rows[j] = rows[j], rows[i]
	}
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
