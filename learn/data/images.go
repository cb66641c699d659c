package data

import (
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/check"
)

// ReadIDX reads images in the IDX format, plain or gzipped, as records: one for each
// image, its pixels row by row over 255. Every image is a record, whatever its label: how
// many there are is public, and would not be if labels chose them.
//
// labels is a file of one label for each image, or nil for records without responses. The
// response is the label, a number from 0 to 255; with positive given it is 1 for the
// labels in it and 0 for all others.
func ReadIDX(images, labels io.Reader, positive []int) (*Records, error) {
	if labels == nil && positive != nil {
		return nil, &check.Error{Name: "positive labels", Value: positive,
			Rule: "left out where there are no labels"}
	}
	response := make([]float64, 256)
	for l := range response {
		if positive == nil {
			response[l] = float64(l)
		}
	}
	for _, l := range positive {
		if l < 0 || l > 255 || response[l] != 0 {
			return nil, &check.Error{Name: "positive label", Value: l,
				Rule: "between 0 and 255, and given once"}
		}
		response[l] = 1
	}
	m, err := readImages(images)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if len(m.Pixels) > maxValues {
		return nil, fmt.Errorf("images: %d pixels, but at most %d are read", len(m.Pixels), maxValues)
	}
	if m.N == 0 {
		return nil, errors.New("no records")
	}
	var y []float64
	if labels != nil {
		all, err := readLabels(labels)
		if err != nil {
			return nil, fmt.Errorf("labels: %w", err)
		}
		if len(all) != m.N {
			return nil, fmt.Errorf("%d labels for %d images", len(all), m.N)
		}
		y = make([]float64, m.N)
		for i, l := range all {
			y[i] = response[l]
		}
	}
	x := make([]float64, len(m.Pixels))
	for i, v := range m.Pixels {
		x[i] = float64(v) / 255
	}
	return NewRecords(m.N, m.Rows*m.Columns, x, y)
}
