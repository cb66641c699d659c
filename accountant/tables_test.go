package accountant

import (
	"fmt"
	"testing"
)

// thesisRow is one line of the accounting tables of Jiang, Communication Efficient and
// Differentially Private Optimization (2025): Q queries of one cost, composed by
// General with δ' = 1e-4.
type thesisRow struct {
	table, data string
	each        Cost
	queries     int
	eps, delta  string // as printed
}

func thesisRows() []thesisRow {
	var rows []thesisRow
	add := func(table, data string, each Cost, printed ...string) {
		for i, q := range []int{20, 50, 100} {
			rows = append(rows, thesisRow{table, data, each, q, printed[2*i], printed[2*i+1]})
		}
	}
	add("3.2", "MNIST", Cost{0.2676, 0.0003}, "5.352", "0.006", "9.901", "0.015", "15.044", "0.030")
	add("3.2", "Fashion-MNIST", Cost{0.2556, 0.0003}, "5.112", "0.006", "9.382", "0.015", "14.219",
		"0.030")
	add("B.3", "MNIST", Cost{0.0892, 0.0001}, "1.704", "0.002", "2.837", "0.005", "4.202", "0.010")
	add("B.3", "Fashion-MNIST", Cost{0.0852, 0.0001}, "1.620", "0.002", "2.695", "0.005", "3.988",
		"0.010")
	add("B.5", "MNIST", Cost{0.4460, 0.0005}, "8.920", "0.010", "18.428", "0.025", "28.926", "0.049")
	add("B.5", "Fashion-MNIST", Cost{0.4260, 0.0005}, "8.520", "0.010", "17.398", "0.025", "27.223",
		"0.049")
	add("B.7", "MNIST", Cost{0.6244, 0.0007}, "12.488", "0.014", "28.392", "0.035", "45.683", "0.068")
	add("B.7", "Fashion-MNIST", Cost{0.5964, 0.0007}, "11.928", "0.014", "26.738", "0.035", "42.873",
		"0.068")
	return rows
}

// Every printed digit of Tables 3.2, B.3, B.5 and B.7.
func TestGeneralReproducesTheThesisTables(t *testing.T) {
	for _, r := range thesisRows() {
		got, err := General(r.queries, r.each, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		if e, d := fmt.Sprintf("%.3f", got.Epsilon), fmt.Sprintf("%.3f", got.Delta); e != r.eps ||
			d != r.delta {
			t.Errorf("Table %s, %s, Q = %d: (%s, %s), printed (%s, %s)", r.table, r.data, r.queries, e, d,
				r.eps, r.delta)
		}
	}
}

// Table B.1: K = 35, ε = 0.1, Δ = 1e-5, δ' = 0.1; m = ε_total/ε, and (τ, λ) is the
// composition of all K.
func TestGeneralReproducesTableB1(t *testing.T) {
	each := Cost{0.1, 1e-5}
	for _, c := range []struct {
		m                     int
		allowance, eps, delta string
	}{
		{10, "6.4521", "0.6452", "0.1001"},
		{13, "7.5742", "0.7574", "0.1001"},
		{15, "8.2708", "0.8271", "0.1001"},
		{20, "9.8823", "0.9882", "0.1002"},
		{35, "14.0328", "1.4033", "0.1003"},
	} {
		got, err := General(c.m, each, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		if a, e, d := fmt.Sprintf("%.4f", got.Epsilon/each.Epsilon), fmt.Sprintf("%.4f", got.Epsilon),
			fmt.Sprintf("%.4f", got.Delta); a != c.allowance || e != c.eps || d != c.delta {
			t.Errorf("M = %d: m = %s, (%s, %s), printed %s, (%s, %s)", c.m, a, e, d, c.allowance, c.eps,
				c.delta)
		}
	}
}

// The optimal composition at the same δ_total. Run with -v for the table.
func TestOptimalSavesOverTheThesisTables(t *testing.T) {
	for _, r := range thesisRows() {
		general, err := General(r.queries, r.each, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		o, err := equalOptimal(r.queries, r.each)
		if err != nil {
			t.Fatal(err)
		}
		best, err := o.epsilon(general.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if best >= general.Epsilon {
			t.Errorf("Table %s, %s, Q = %d: optimal %g, general %g", r.table, r.data, r.queries, best,
				general.Epsilon)
		}
		t.Logf("Table %s %-13s Q = %3d  δ = %.4f  general ε %6.3f  optimal ε %6.3f  saves %4.1f%%",
			r.table, r.data, r.queries, general.Delta, general.Epsilon, best, 100*(1-best/general.Epsilon))
	}
}
