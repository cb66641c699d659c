package datasets

import (
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/darrm/darrm/learn/data"
)

// The sets of two classes that ranking is tried on, the response being 0 or 1. Features are scaled
// to [-1,1] by each column's least and largest value, as the literature does: that is no public
// scale, so that what is trained on them is a repetition and no release.
const (
	// Diabetes is the 768 records of PimaIndiansDiabetes, with 8 features.
	Diabetes = "diabetes"
	// German is the 1000 records of GermanCredit as package caret encodes them: 59 columns that are
	// not constant. The class 1 is Good.
	German = "german"
	// Letter is the first 15000 records of LetterRecognition, with 16 features. The class 1 is A to M.
	Letter = "letter"
	// IJCNN1, USPS and MNISTHalves have the sizes of LIBSVM's ijcnn1, usps and mnist, the last two by
	// which half their digit is in. They are stand-ins, whatever files there are.
	IJCNN1      = "ijcnn1"
	USPS        = "usps"
	MNISTHalves = "mnist-halves"
)

// classes describe the sets of two classes.
var classes = map[string]struct {
	file     string // CSV with a header, as scripts/r-data-sets writes it; "" for a stand-in only
	class    string // its column of classes
	rows     int    // the first of them
	features int
	positive func(level string) bool
	// Of the stand-in: the share of class 1, and the distance of the classes, for the AUC that the
	// literature finds.
	share, distance float64
}{
	Diabetes: {"PimaIndiansDiabetes.csv", "diabetes", 768, 8,
		func(l string) bool { return l == "pos" }, .349, 1.354993},
	German: {"GermanCredit.csv", "Class", 1000, 59, func(l string) bool { return l == "Good" }, .7,
		1.155235},
	Letter: {"LetterRecognition.csv", "lettr", 15000, 16, func(l string) bool { return l <= "M" },
		7446. / 15000, 1.241533},
	IJCNN1:      {features: 22, rows: 49_990, share: .1, distance: 2.130176},
	USPS:        {features: 256, rows: 7291, share: .5, distance: 2.045847},
	MNISTHalves: {features: 780, rows: 60_000, share: .5, distance: 2.108385},
}

// ClassNames returns the names of the sets of two classes.
func ClassNames() []string {
	return []string{Diabetes, German, Letter, IJCNN1, USPS, MNISTHalves}
}

// isClasses reports whether a name is that of a set of two classes.
func isClasses(name string) bool { _, ok := classes[name]; return ok }

// loadClasses reads the first n records of a set's file.
func (p *Points) loadClasses(from folder, n int) error {
	c := classes[p.Name]
	if c.file == "" {
		return fs.ErrNotExist
	}
	return p.load(from, func(f io.Reader) (*data.Records, error) {
		r, err := classRecords(f, c.class, c.positive, min(n, c.rows))
		if err == nil && (r.Dim() != c.features || r.Len() != n) {
			err = fmt.Errorf("%d records of %d features, but it must be %d of %d", r.Len(), r.Dim(), n, c.features)
		}
		return r, err
	}, c.file)
}

// classRecords makes records of the first n rows of a table with a column of classes. Columns
// that are constant in the whole table are left out.
func classRecords(r io.Reader, class string, positive func(level string) bool,
	n int) (*data.Records, error) {
	var columns [][]float64
	var y []float64
	at := -1
	err := eachRow(r, 0, func(row []string) error {
		if at < 0 {
			h, err := newHeader(row, class)
			at, columns = h[class], make([][]float64, len(row)-1)
			return err
		}
		if row[at] == "" || row[at] == "NA" {
			return fmt.Errorf("%s is missing", class)
		}
		y = append(y, indicator(positive(row[at])))
		for j, field := range slices.Delete(row, at, at+1) {
			v, err := data.ParseNumber(field)
			if err != nil {
				return err
			}
			columns[j] = append(columns[j], v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n = min(n, len(y)); n < 2 {
		return nil, fmt.Errorf("has %d rows", n)
	}
	columns = slices.DeleteFunc(columns, func(c []float64) bool {
		return slices.Min(c) == slices.Max(c)
	})
	for j, c := range columns {
		columns[j] = c[:n]
	}
	return scaledColumns(columns, y[:n])
}

// scaledColumns returns records of columns that are scaled to [-1,1].
func scaledColumns(columns [][]float64, y []float64) (*data.Records, error) {
	d := len(columns)
	x := make([]float64, len(y)*d)
	for j, c := range columns {
		low, high := slices.Min(c), slices.Max(c)
		for i, v := range c {
			if high > low {
				x[i*d+j] = 2*(v-low)/(high-low) - 1
			} else {
				x[i*d+j] = 0 * v // 0, or NaN, which is refused
			}
		}
	}
	return data.NewRecords(len(y), d, x, y)
}

// ClassesLen returns the number of records of a set of two classes, 0 for other names.
func ClassesLen(name string) int { return classes[name].rows }
