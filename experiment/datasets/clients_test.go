package datasets

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One client by hand, at the ends of the ranges and beyond.
func TestClientRow(t *testing.T) {
	v := []float64{7, 20_000, 2, 3, 1, 24, 2, 1, 0, -1, -2, 8, 1e6, -1e9, 0, 999, -999, 1e12, 0, 5, 0,
		0, 0, 1e6}
	got := clientRow(v)
	half := math.Log(1000) / math.Log(1_000_001)
	want := []float64{
		1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1,
		1, -1, 0, half, -half, 1, 0, math.Log(6) / math.Log(1_000_001), 0, 0, 0, 1,
		0.02, 1, 0, 0, 1, 1, -0.52, 1,
	}
	if len(got) != ClientFeatures || len(want) != ClientFeatures {
		t.Fatalf("%d features, want %d", len(got), ClientFeatures)
	}
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-12 {
			t.Errorf("feature %d is %g, want %g", j, got[j], want[j])
		}
	}
}

// Clients are those of the file, each at most once, in an order that the seed draws; the file may
// lie in the folder of the other experiment on it.
func TestClientsOfAFile(t *testing.T) {
	text := "ID,X1,X2,X3,X4,X5,X6,X7,X8,X9,X10,X11,X12,X13,X14,X15,X16,X17,X18,X19,X20,X21,X22,X23,Y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,%s%d\n", i+1, 10_000*(i+1), strings.Repeat("0,", 22), i%2)
	}
	take := func(root string, n int, seed uint64) []float64 {
		t.Helper()
		p, err := OpenPoints(context.Background(), CreditClients, root, n, seed)
		if err != nil || p.Standin || p.Len() != n {
			t.Fatalf("%+v, %v", p, err)
		}
		var limits []float64
		for i := range n {
			client := math.Round(100 * p.Row(i)[24])
			if p.Response(i) != float64((int(client)+1)%2) {
				t.Errorf("client %g has response %g", client, p.Response(i))
			}
			limits = append(limits, client)
		}
		return limits
	}
	for _, folder := range []string{"", CreditCard, CreditClients} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, folder, "uci-credit-card.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		all, other := take(root, 40, 1), take(root, 40, 2)
		seen, ascending, same := map[float64]bool{}, true, true
		for i, v := range all {
			seen[v] = true
			ascending = ascending && (i == 0 || all[i-1] < v)
			same = same && other[i] == v
		}
		if len(seen) != 40 || ascending || same {
			t.Errorf("%d different clients, ascending %t, the same for another seed %t", len(seen),
				ascending, same)
		}
		if slices.Max(take(root, 10, 1)) <= 10 {
			t.Error("a part is the first clients")
		}
		if _, err := OpenPoints(context.Background(), CreditClients, root, 41, 1); err == nil {
			t.Error("more clients than there are")
		}
		if err := os.WriteFile(path, []byte(text+"damaged\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenPoints(context.Background(), CreditClients, root, 10, 1); err == nil {
			t.Error("something stands in for a damaged file")
		}
	}
}

// The stand-in keeps the rate of defaults, the ranges, and that marks of late payment come
// together.
func TestStandinClients(t *testing.T) {
	p, err := OpenPoints(context.Background(), CreditClients, t.TempDir(), 8000, 1)
	if err != nil || !p.Standin || p.Dim() != ClientFeatures {
		t.Fatalf("%+v, %v", p, err)
	}
	defaults, both, late := 0.0, 0.0, 0.0
	for i := range p.Len() {
		row := p.Row(i)
		for j, v := range row {
			if !(math.Abs(v) <= 1) {
				t.Fatalf("feature %d is %g", j, v)
			}
		}
		defaults += p.Response(i) / float64(p.Len())
		late += row[0]
		both += row[0] * row[1]
	}
	if math.Abs(defaults-0.22) > 0.02 || p.Row(0)[ClientFeatures-1] != 1 || both < 0.4*late {
		t.Errorf("%g default, %g of %g late twice", defaults, both, late)
	}
}
