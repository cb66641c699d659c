package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// columns of growth.csv. Floats are written in their shortest exact form.
var columns = []string{"K", "shape", "teacher_delta", "constraints", "runs", "seconds",
	"peak_bytes", "expected_error", "gap"}

func writeCSV(w io.Writer, list []measurement) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	float := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, m := range list {
		err := out.Write([]string{
			strconv.Itoa(m.k), m.shape, float(m.delta), strconv.FormatUint(m.constraints, 10),
			strconv.Itoa(m.runs),
			float(m.seconds), strconv.FormatInt(m.peakBytes, 10), float(m.expectedError), float(m.gap),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readCSV reads what writeCSV wrote. Errors name the line and the column.
func readCSV(r io.Reader) ([]measurement, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(columns)
	header, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("the file is empty, but must start with the columns %q", columns)
	}
	if err != nil {
		return nil, err
	}
	if !slices.Equal(header, columns) {
		return nil, fmt.Errorf("the columns are %q, but must be %q", header, columns)
	}
	var list []measurement
	seen := make(map[solveCase]bool)
	for {
		record, err := in.Read()
		if err == io.EOF {
			if len(list) == 0 {
				return nil, fmt.Errorf("the file holds no measurements")
			}
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		m, column, err := parseRecord(record)
		if err != nil {
			line, _ := in.FieldPos(column)
			return nil, fmt.Errorf("line %d: %s: %w", line, columns[column], err)
		}
		if seen[m.solveCase] {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %s appears twice in the file", line, m.solveCase)
		}
		seen[m.solveCase] = true
		list = append(list, m)
	}
}

// parseRecord returns the column of the first error along with it.
func parseRecord(record []string) (m measurement, column int, err error) {
	whole := func(i int, least int64) (x int64) {
		if err != nil {
			return 0
		}
		column = i
		if x, err = strconv.ParseInt(record[i], 10, 64); err == nil && x < least {
			err = fmt.Errorf("%d is less than %d", x, least)
		}
		return x
	}
	real := func(i int, lowest float64) (x float64) {
		if err != nil {
			return 0
		}
		column = i
		x, err = strconv.ParseFloat(record[i], 64)
		if err == nil && !(x >= lowest && x <= math.MaxFloat64) {
			err = fmt.Errorf("%q is not a number of at least %g", record[i], lowest)
		}
		return x
	}
	m.k = int(whole(0, 1))
	if m.shape = record[1]; err == nil && m.shape != free && m.shape != monotone {
		return measurement{}, 1, fmt.Errorf("%q is neither %q nor %q", m.shape, free, monotone)
	}
	m.delta = real(2, 0)
	m.constraints = uint64(whole(3, 1))
	m.runs = int(whole(4, 1))
	m.seconds = real(5, math.SmallestNonzeroFloat64) // a logarithmic axis has no zero
	m.peakBytes = whole(6, 1)
	m.expectedError = real(7, 0)
	m.gap = real(8, 0)
	if err != nil {
		return measurement{}, column, err
	}
	return m, 0, nil
}
