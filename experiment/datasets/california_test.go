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

	"github.com/darrm/darrm/sketch/stream"
)

// Acceptance test 14 of the specification, its second half: the stand-in's numbers.
func TestStandinHousing(t *testing.T) {
	rng := stream.From(20640)
	for _, want := range []uint64{0xdc0846e8720b3aaf, 0xc3cb33a06145455c, 0xed652f3a9e35c61d} {
		if got := rng.Uint64(); got != want {
			t.Fatalf("SplitMix64 gives %x, want %x", got, want)
		}
	}
	x, y := standinHousing()
	for j, want := range []float64{5.436288, 7.556481, 5.479270, 1.351271, 1852.542588, 3.204719,
		39.108177, -122.714915} {
		if math.Abs(x[j]-want) > 1e-6*math.Abs(want) {
			t.Errorf("row 0, %s = %.8g, want %.8g", housingColumns[j], x[j], want)
		}
	}
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	if len(y) != 20640 || math.Abs(y[0]-1.751239) > 1e-6 || math.Abs(y[20639]-2.421371) > 1e-6 ||
		math.Abs(mean-2.051411) > 1e-5 {
		t.Errorf("%d rows, first %.7g, last %.7g, mean %.7g", len(y), y[0], y[20639], mean)
	}
	if order := splitOrder(20640); !slices.Equal(order[:5], []int{11889, 14794, 9524, 9903, 1307}) {
		t.Errorf("the order begins %v", order[:5])
	}
}

func TestOpenHousing(t *testing.T) {
	ctx := context.Background()
	h, err := OpenHousing(ctx, t.TempDir(), HousingSplit{Silos: 10})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1652, 1652, 1651, 1651, 1651, 1651, 1651, 1651, 1651, 1651}; !h.Standin ||
		!slices.Equal(h.Sizes, want) || h.Test.Len() != 4128 {
		t.Errorf("silos of %v, %d to test", h.Sizes, h.Test.Len())
	}
	variance, mean := 0.0, 0.0
	for i := range h.Train.Len() {
		mean += h.Train.Response(i) / float64(h.Train.Len())
		variance += h.Train.Response(i) * h.Train.Response(i) / float64(h.Train.Len())
	}
	if variance -= mean * mean; math.Abs(variance-0.04888) > 1e-5 {
		t.Errorf("the response's variance is %.6g", variance)
	}
	order := splitOrder(20640)
	x, y := standinHousing()
	standardiseRows(x, y, order[:16512])
	// Silo 1 begins with place 1 of the order; that is record 1652 of Train.
	if got := h.Train.Row(1652)[0]; got != x[order[1]*HousingFeatures] {
		t.Errorf("silo 1 begins with %g", got)
	}
	sorted, err := OpenHousing(ctx, t.TempDir(), HousingSplit{Silos: 10, ByLatitude: true, Every: 8})
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(-1)
	for i := range sorted.Train.Len() {
		if v := sorted.Train.Row(i)[latitude]; v < last {
			t.Fatalf("record %d lies south of the one before", i)
		} else {
			last = v
		}
	}
	if sorted.Train.Len() != 2064 || slices.Max(sorted.Sizes)-slices.Min(sorted.Sizes) > 1 {
		t.Errorf("silos of %v", sorted.Sizes)
	}
	if _, err := OpenHousing(ctx, t.TempDir(), HousingSplit{}); err == nil {
		t.Error("no silos are accepted")
	}
}

// Both forms of the real file give the same records; a damaged one is refused, and not stood in
// for.
func TestRealHousing(t *testing.T) {
	ctx := context.Background()
	var named, old strings.Builder
	fmt.Fprintln(&named,
		"MedHouseVal,Longitude,Latitude,MedInc,HouseAge,AveRooms,AveBedrms,Population,AveOccup")
	for i := range 20 {
		rooms, bedrooms, people, homes := float64(1000+40*i), float64(200+i*i), float64(900+7*i), 250.0
		fmt.Fprintf(&named, "%g,%g,%g,%g,%d,%g,%g,%g,%g\n", 1.5+float64(i)/8, -120-float64(i),
			33+float64(i), 2+float64(i), 10+i, rooms/homes, bedrooms/homes, people, people/homes)
		fmt.Fprintf(&old, "%g,%g,%d,%g,%g,%g,%g,%g,%g\n", -120-float64(i), 33+float64(i), 10+i, rooms,
			bedrooms, people, homes, 2+float64(i), (1.5+float64(i)/8)*1e5)
	}
	open := func(name, text string) (Housing, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return OpenHousing(ctx, dir, HousingSplit{Silos: 2})
	}
	a, err := open("california.csv", named.String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := open("cal_housing.data", old.String())
	if err != nil {
		t.Fatal(err)
	}
	if a.Standin || a.Train.Len() != 16 || a.Train.Digest() != b.Train.Digest() ||
		a.Test.Digest() != b.Test.Digest() {
		t.Errorf("the two forms differ: %+v", a)
	}
	for _, damaged := range []string{"", "MedInc,HouseAge\n1,2\n", named.String() + "1,2,3\n",
		old.String() + "1,2,3,4,5,6,0,8,9\n", old.String() + "1,2,3,4,5,6,7,8\n",
		old.String() + "1,2,3,4,5,6,7,x,9\n"} {
		if h, err := open("california.csv", damaged); err == nil {
			t.Errorf("a damaged file gives %v", h.Sizes)
		}
	}
	if in, err := HousingInputs(ctx, t.TempDir(), false); err != nil || in != nil {
		t.Errorf("%v, %v", in, err)
	}
	if _, err := HousingInputs(ctx, t.TempDir(), true); err == nil {
		t.Error("a file that is needed is missed without an error")
	}
}
