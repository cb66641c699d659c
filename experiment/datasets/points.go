package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// Points are vectors with a class or a target each, without a private and a public part:
// what the tasks of distributed mean estimation are worked on.
type Points struct {
	Name    string
	Standin bool   // generated, not the real data
	Source  string // for people
	*data.Records
}

// The sets of points.
const (
	// FashionMNIST is 32 × 32 grey pixels in [0,1]; the response is the class, 0 to 9.
	FashionMNIST = "fashion-mnist"
	// Indoor is the strengths of 512 radio stations; the response is the longitude. Columns
	// and response are standardised.
	Indoor = "indoor"
	// CreditClients is 32 features in [-1,1] of credit card clients, the last of them 1; the
	// response is 1 for those who defaulted. Features are scaled by public numbers, not by the file's.
	CreditClients = "credit-clients"
)

// pointNames returns the names of all sets of points.
func pointNames() []string {
	return append([]string{FashionMNIST, Indoor, CreditClients}, ClassNames()...)
}

const (
	side       = 32   // of an image after resizing
	stations   = 512  // columns of Indoor
	unheard    = 100  // what the file says of a station that was not heard
	silence    = -105 // dBm, below every strength: what stands in for unheard
	maxPoints  = 100_000
	indoorFile = "trainingData.csv" // of UJIIndoorLoc
)

// OpenPoints returns n points, of the real files in or below the folder root where they
// are, or else of the stand-in of that seed:
//
//	fashion-mnist  t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or .gz: the first n
//	indoor         trainingData.csv of UJIIndoorLoc: n rows, drawn from the seed
//	credit-clients the files of credit-card, also in its folder: n clients, drawn from the seed, in an
//	               order that is too
//	diabetes, german, letter  PimaIndiansDiabetes.csv, GermanCredit.csv and LetterRecognition.csv, which
//	               scripts/r-data-sets writes, also in the folder pairs: the first n records
//	ijcnn1, usps, mnist-halves  no files: always the stand-in
//
// Files that are there but damaged, or hold fewer points, are an error.
func OpenPoints(ctx context.Context, name, root string, n int, seed uint64) (Points, error) {
	if err := checkPoints(name, n); err != nil {
		return Points{}, err
	}
	p, err := realPoints(ctx, name, root, n, seed)
	if errors.Is(err, fs.ErrNotExist) {
		return standinPoints(name, n, seed)
	}
	return p, err
}

// PointInputs returns the hash of the points that are taken from real files, nil for a stand-in.
// With need, files that are not there are the error fs.ErrNotExist.
func PointInputs(ctx context.Context, name, root string, n int, seed uint64,
	need bool) (map[string]string, error) {
	if err := checkPoints(name, n); err != nil {
		return nil, err
	}
	p, err := realPoints(ctx, name, root, n, seed)
	return inputs(err, need, func() (map[string]string, error) {
		h := sha256.New()
		hashRows(h, p.Records)
		return map[string]string{filepath.Base(p.Source) +
			", the points taken": hex.EncodeToString(h.Sum(nil))}, nil
	})
}

// checkPoints checks the name and the number of points.
func checkPoints(name string, n int) error {
	if !slices.Contains(pointNames(), name) {
		return check.Wantf("points", name, "one of %v", pointNames())
	}
	return check.Whole("number of points", n, 2, maxPoints)
}

func realPoints(ctx context.Context, name, root string, n int, seed uint64) (p Points, err error) {
	dirs := []string{filepath.Join(root, name), root}
	if name == CreditClients {
		dirs = append(dirs, filepath.Join(root, CreditCard))
	}
	if isClasses(name) {
		dirs = append(dirs, filepath.Join(root, "pairs"))
	}
	err = firstOf(dirs, func(dir string) error {
		p = Points{Name: name}
		from := folder{ctx, dir}
		switch {
		case name == FashionMNIST:
			return p.loadImages(ctx, dir, n)
		case name == Indoor:
			return p.load(from, func(f io.Reader) (*data.Records, error) { return readIndoor(f, n, seed) }, indoorFile)
		case isClasses(name):
			return p.loadClasses(from, n)
		}
		return p.load(from, func(f io.Reader) (*data.Records, error) { return readClients(f, n, seed) }, clientFiles...)
	})
	return p, err
}

func (p *Points) loadImages(ctx context.Context, dir string, n int) error {
	images, err := data.ReadLabelledImages(ctx, dir, testPart)
	if err != nil {
		return err
	}
	p.Source = filepath.Join(dir, testPart)
	if images.N < n {
		return fmt.Errorf("%s: %d images, but %d are asked for", p.Source, images.N, n)
	}
	x, y := make([]float64, 0, n*side*side), make([]float64, n)
	for i := range n {
		x = append(x, resized(images.Image(i), images.Rows, images.Columns)...)
		y[i] = float64(images.Labels[i])
	}
	p.Records, err = data.NewRecords(n, side*side, x, y)
	return err
}

// resized returns the image with 32 × 32 pixels in [0,1], by bilinear interpolation between
// the centres of pixels; beyond the outer centres the outer pixels go on.
func resized(image []byte, rows, columns int) []float64 {
	out := make([]float64, 0, side*side)
	for r := range side {
		top, fy := neighbours(r, rows)
		bottom := min(top+1, rows-1)
		for c := range side {
			left, fx := neighbours(c, columns)
			right := min(left+1, columns-1)
			at := func(r, c int) float64 { return float64(image[r*columns+c]) / 255 }
			out = append(out, (1-fy)*((1-fx)*at(top, left)+fx*at(top, right))+
				fy*((1-fx)*at(bottom, left)+fx*at(bottom, right)))
		}
	}
	return out
}

// neighbours returns the pixel of a line of n before pixel i of 32, and how far behind it that
// lies.
func neighbours(i, n int) (before int, fraction float64) {
	place := min(max((float64(i)+0.5)*float64(n)/side-0.5, 0), float64(n-1))
	before = int(place)
	return before, place - float64(before)
}

// load has the first of the names that is there read.
func (p *Points) load(from folder, read func(io.Reader) (*data.Records, error), names ...string) (err error) {
	p.Source, err = from.read(func(f io.Reader) (err error) {
		p.Records, err = read(f)
		return err
	}, names...)
	return err
}

// readIndoor takes n rows of the first 512 stations, and the longitude.
func readIndoor(r io.Reader, n int, seed uint64) (*data.Records, error) {
	names := []string{"LONGITUDE"}
	for j := range stations {
		names = append(names, fmt.Sprintf("WAP%03d", j+1))
	}
	var x, y []float64
	err := eachNamed(r, names, func(h header, row []string) error {
		if len(y) == maxPoints {
			return fmt.Errorf("more than %d rows", maxPoints)
		}
		for i, name := range names {
			v, err := h.number(row, name)
			if err != nil {
				return err
			}
			if i == 0 {
				y = append(y, v)
			} else {
				x = append(x, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(y) < n {
		return nil, fmt.Errorf("%d rows, but %d are asked for", len(y), n)
	}
	rng := stream.New(seed, stream.Synthetic, streamRows)
	rows := rng.Subset(len(y), n)
	takenX, takenY := make([]float64, 0, n*stations), make([]float64, 0, n)
	for _, i := range rows {
		takenX, takenY = append(takenX, x[i*stations:(i+1)*stations]...), append(takenY, y[i])
	}
	return signals(takenX, takenY)
}

// signals prepares strengths and targets for a regression: a station that was not heard is
// as weak as none that was, and columns and targets are standardised. Raw, the unheard
// 100 would be the strongest signal.
func signals(x, y []float64) (*data.Records, error) {
	for i, v := range x {
		if v == unheard {
			x[i] = silence
		}
	}
	for j := range stations {
		standardise(x[j:], stations)
	}
	standardise(y, 1)
	return data.NewRecords(len(y), stations, x, y)
}

// standardise takes the mean off every step-th number and divides by their standard
// deviation, unless they are all equal.
func standardise(x []float64, step int) {
	n, mean, square := 0.0, 0.0, 0.0
	for i := 0; i < len(x); i += step {
		n++
		mean += x[i]
	}
	mean /= n
	for i := 0; i < len(x); i += step {
		x[i] -= mean
		square += x[i] * x[i]
	}
	if sd := math.Sqrt(square / n); sd > 1e-9 {
		for i := 0; i < len(x); i += step {
			x[i] /= sd
		}
		return
	}
	for i := 0; i < len(x); i += step { // what rounding left of equal numbers
		x[i] = 0
	}
}
