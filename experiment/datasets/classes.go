package datasets

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/darrm/darrm/learn/data"
)

// The sets of two classes that ranking is tried on, the response being 0 or 1. Features are scaled to
// [-1,1] by each column's least and largest value, as the literature does: that is no public
// scale, so that what is trained on them is a repetition and no release.
const (
	// Diabetes is the 768 records of PimaIndiansDiabetes, with 8 features.
	Diabetes = "diabetes"
	// German is the 1000 records of GermanCredit as package caret encodes them: 59 columns that are not
	// constant. The class 1 is Good.
	German = "german"
	// Letter is the first 15000 records of LetterRecognition, with 16 features. The class 1 is A to M.
	Letter = "letter"
)

// classes are what the sets of two classes are made of.
var classes = map[string]struct {
	file, folder string // of Debian's packages, below /usr/lib/R/site-library
	frame, class string
	rows         int // the first of them
	features     int
	positive     func(level string) bool
	// Of the stand-in: the share of class 1, and the distance of the classes, for the AUC that the
	// literature finds.
	share, distance float64
}{
	Diabetes: {"PimaIndiansDiabetes.rda", "mlbench/data", "PimaIndiansDiabetes", "diabetes", 768, 8, func(l string) bool { return l == "pos" }, .349, 1.354993},
	German:   {"GermanCredit.RData", "caret/data", "GermanCredit", "Class", 1000, 59, func(l string) bool { return l == "Good" }, .7, 1.155235},
	Letter:   {"LetterRecognition.rda", "mlbench/data", "LetterRecognition", "lettr", 15000, 16, func(l string) bool { return l <= "M" }, 7446. / 15000, 1.241533},
}

// IsClasses says whether a name is that of a set of two classes.
func IsClasses(name string) bool { _, ok := classes[name]; return ok }

// classFolders are where the file of a set may lie.
func classFolders(name, root string) []string {
	return []string{filepath.Join(root, name), root, filepath.Join(root, "pairs"), filepath.Join(root, classes[name].folder)}
}

// loadClasses reads the first n records of a set's file.
func (p *Points) loadClasses(ctx context.Context, dir string, n int) error {
	c := classes[p.Name]
	p.Source = filepath.Join(dir, c.file)
	frames, err := data.ReadRData(ctx, p.Source)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(frames, func(f data.Frame) bool { return f.Name == c.frame })
	if i < 0 {
		return fmt.Errorf("%s: has no data frame %s", p.Source, c.frame)
	}
	if p.Records, err = classRecords(&frames[i], c.class, c.positive, min(n, c.rows)); err != nil {
		return fmt.Errorf("%s: %w", p.Source, err)
	}
	if p.Dim() != c.features || p.Len() != n {
		return fmt.Errorf("%s: %d records of %d features, but it must be %d of %d", p.Source, p.Len(), p.Dim(), n, c.features)
	}
	return nil
}

// classRecords makes records of the first n rows of a frame whose column class is a factor. Columns
// that are constant in the frame are left out.
func classRecords(f *data.Frame, class string, positive func(level string) bool, n int) (*data.Records, error) {
	of := f.Column(class)
	if of == nil || of.Levels == nil {
		return nil, fmt.Errorf("has no factor %s", class)
	}
	if n = min(n, f.Rows); n < 2 {
		return nil, fmt.Errorf("has %d rows", n)
	}
	y := make([]float64, n)
	for i := range y {
		if math.IsNaN(of.Values[i]) {
			return nil, fmt.Errorf("row %d: %s is missing", i+1, class)
		}
		if positive(of.Levels[int(of.Values[i])]) {
			y[i] = 1
		}
	}
	var columns [][]float64
	for _, c := range f.Columns {
		if c.Name == class || slices.Min(c.Values) == slices.Max(c.Values) { // NaN is neither
			continue
		}
		columns = append(columns, c.Values[:n])
	}
	return scaledColumns(columns, y)
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

// ClassesLen returns how many records a set of two classes has, 0 for other names.
func ClassesLen(name string) int { return classes[name].rows }
