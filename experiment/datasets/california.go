package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// California is the name and the folder of the California Housing data.
const California = "california"

// HousingFeatures is the dimension of Housing.
const HousingFeatures = 8

const (
	housingRows = 20_640 // of the stand-in, and of the real file
	latitude    = 6      // column
	housingSeed = 20640  // of the stand-in's rows
	splitSeed   = 7
)

// housingColumns are the features, and the response last, as they are called in files with a
// header.
var housingColumns = []string{"MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population",
	"AveOccup", "Latitude", "Longitude", "MedHouseVal"}

// Housing is a regression whose training records lie in silos: median house values of districts.
// Features are standardised by the mean and the deviation of the training records, and the response
// is divided by its largest size among them, as in the experiments that are repeated; a release
// would need public numbers instead, or pay for these.
type Housing struct {
	Standin bool   // generated, not the real data
	Source  string // for people
	Train   *data.Records
	Test    *data.Records
	Sizes   []int // of the silos, in the order of Train
}

// HousingSplit sets the way records are split into silos.
type HousingSplit struct {
	Silos int
	// ByLatitude gives each silo the districts of one belt, south to north, in place of any.
	ByLatitude bool
	// Every takes each Every-th training record only; 0 is 1.
	Every int
}

// OpenHousing returns the districts of the real file in root/california or root where there is one,
// or else of a stand-in. Of 20640 districts 16512 are for training, in an order drawn from a fixed
// seed, and likewise four fifths of a file of another length. The file is
//
//	california.csv     nine columns with a header, named as in scikit-learn: MedInc … MedHouseVal
//	cal_housing.data   the nine columns of StatLib without one: longitude, latitude, age, rooms,
//	                   bedrooms, population, households, income, value
//
// A file that is there but damaged is an error.
func OpenHousing(ctx context.Context, root string, split HousingSplit) (Housing, error) {
	h := Housing{Standin: true, Source: "stand-in for " + California}
	x, y, path, err := realHousing(ctx, root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x, y = districts()
		x, y = slices.Clone(x), slices.Clone(y) // they will be scaled
	case err != nil:
		return h, err
	default:
		h.Standin, h.Source = false, path
	}
	return h, h.split(x, y, split)
}

// HousingInputs returns the hash of the real file's records, nil for a stand-in. With need, a file
// that is not there is the error fs.ErrNotExist.
func HousingInputs(ctx context.Context, root string, need bool) (map[string]string, error) {
	x, y, path, err := realHousing(ctx, root)
	return inputs(err, need, func() (map[string]string, error) {
		all, err := data.NewRecords(len(y), HousingFeatures, x, y)
		if err != nil {
			return nil, err
		}
		return map[string]string{filepath.Base(path): fmt.Sprintf("%x", all.Digest())}, nil
	})
}

// splitOrder returns the order of n rows of which the first four fifths are for training.
func splitOrder(n int) []int {
	rng := stream.From(splitSeed)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(order)
	return order
}

func (h *Housing) split(x, y []float64, split HousingSplit) error {
	if err := check.Whole("silos", split.Silos, 1, 10_000); err != nil {
		return err
	}
	order := splitOrder(len(y))
	train := order[:len(y)*4/5]
	standardiseRows(x, y, train)
	every := max(1, split.Every)
	var taken []int
	for i := 0; i < len(train); i += every {
		taken = append(taken, train[i])
	}
	if len(taken) < split.Silos {
		return check.Wantf("silos", split.Silos, "at most the %d training records", len(taken))
	}
	if split.ByLatitude {
		slices.SortStableFunc(taken, func(a, b int) int {
			return cmp.Compare(x[a*HousingFeatures+latitude], x[b*HousingFeatures+latitude])
		})
	}
	var rows []int
	for m := range split.Silos {
		before := len(rows)
		if split.ByLatitude {
			rows = append(rows, taken[m*len(taken)/split.Silos:(m+1)*len(taken)/split.Silos]...)
		} else {
			for i := m; i < len(taken); i += split.Silos {
				rows = append(rows, taken[i])
			}
		}
		h.Sizes = append(h.Sizes, len(rows)-before)
	}
	all, err := data.NewRecords(len(y), HousingFeatures, x, y)
	if err != nil {
		return fmt.Errorf("%s: %w", h.Source, err)
	}
	if h.Train, err = all.Select(rows); err != nil {
		return err
	}
	h.Test, err = all.Select(order[len(train):])
	return err
}

// standardiseRows standardises the features of all rows by those of some, and scales the response.
func standardiseRows(x, y []float64, by []int) {
	for j := range HousingFeatures {
		mean, square := moments(x, HousingFeatures, j, by)
		sd := math.Sqrt(square)
		if sd == 0 {
			sd = 1
		}
		for i := range y {
			x[i*HousingFeatures+j] = (x[i*HousingFeatures+j] - mean) / sd
		}
	}
	most := 0.0
	for _, i := range by {
		most = max(most, math.Abs(y[i]))
	}
	if most > 0 {
		for i := range y {
			y[i] /= most
		}
	}
}

// districts are those of standinHousing: the figures of a run are told again and again of the same ones.
var districts = sync.OnceValues(standinHousing)

// standinHousing draws districts with the ranges of the real ones and their main dependencies: two
// cities and a diagonal between, incomes that decide most of the value, and its cap.
func standinHousing() (x, y []float64) {
	rng := stream.From(housingSeed)
	clip := func(v, low, high float64) float64 { return max(low, min(high, v)) }
	x, y = make([]float64, 0, housingRows*HousingFeatures), make([]float64, housingRows)
	for i := range y {
		u := rng.Float64()
		t := rng.Float64()
		var z [9]float64
		for j := range z {
			z[j] = rng.Normal()
		}
		var lat, lon, place float64
		switch {
		case u < 0.42:
			lat, lon, place = 34.0+0.35*z[0], -118.2+0.45*z[1], 0.15
		case u < 0.72:
			lat, lon, place = 37.6+0.45*z[0], -122.1+0.45*z[1], 0.30
		default:
			lat, lon, place = 32.6+8.5*t+0.4*z[0], -116.9-6.3*t+0.6*z[1], -0.35
		}
		income := clip(math.Exp(1.24+0.47*z[2]), 0.4999, 15.0001)
		age := clip(28.6+12.6*z[3], 1, 52)
		rooms := clip(math.Exp(1.63+0.30*(0.45*z[2]+0.893*z[4])), 0.85, 141.9)
		bedrooms := clip(math.Exp(0.06+0.15*z[5]), 0.33, 34)
		population := clip(math.Exp(7.0+0.70*z[6]), 3, 35682)
		occupants := clip(math.Exp(1.04+0.25*z[7]), 0.69, 1243)
		x = append(x, income, age, rooms, bedrooms, population, occupants, lat, lon)
		y[i] = clip(math.Exp(0.53+0.85*(math.Log(income)-1.24)+0.005*(age-28.6)-0.40*
			(math.Log(occupants)-1.04)+place+0.28*z[8]), 0.14999, 5.00001)
	}
	return x, y
}

func realHousing(ctx context.Context, root string) (x, y []float64, path string, err error) {
	err = firstOf([]string{filepath.Join(root, California), root}, func(dir string) error {
		path, err = folder{ctx, dir}.read(func(f io.Reader) (err error) {
			x, y, err = readHousing(f)
			return err
		}, "california.csv", "cal_housing.data")
		return err
	})
	return x, y, path, err
}

// readHousing reads either form of the file, which its first line tells.
func readHousing(r io.Reader) (x, y []float64, err error) {
	var h header
	first := true
	err = eachRow(r, 0, func(row []string) (err error) {
		if first {
			first = false
			if _, notNumber := data.ParseNumber(row[0]); notNumber != nil {
				h, err = newHeader(row, housingColumns...)
				return err
			}
		}
		if len(y) == maxPoints {
			return fmt.Errorf("more than %d rows", maxPoints)
		}
		v := make([]float64, len(housingColumns))
		if h != nil {
			for j, name := range housingColumns {
				if v[j], err = h.number(row, name); err != nil {
					return err
				}
			}
		} else if v, err = statlib(row); err != nil {
			return err
		}
		x, y = append(x, v[:HousingFeatures]...), append(y, v[HousingFeatures])
		return nil
	})
	if err == nil && len(y) < 10 {
		err = fmt.Errorf("%d rows, but there must be at least 10", len(y))
	}
	return x, y, err
}

// statlib turns a row of StatLib's file into the columns of the other: means for a household, and
// the value in hundreds of thousands.
func statlib(row []string) ([]float64, error) {
	if len(row) != len(housingColumns) {
		return nil, fmt.Errorf("%d columns, but there must be %d", len(row), len(housingColumns))
	}
	var v [9]float64
	for j := range v {
		var err error
		if v[j], err = data.ParseNumber(row[j]); err != nil {
			return nil, fmt.Errorf("column %d: %w", j+1, err)
		}
	}
	if !(v[6] > 0) {
		return nil, check.Want("households", v[6], "above 0")
	}
	return []float64{v[7], v[2], v[3] / v[6], v[4] / v[6], v[5], v[5] / v[6], v[1], v[0], v[8] / 1e5},
		nil
}
