package main

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(math.SmallestNonzeroFloat64, 1e6)
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) measurement {
			return measurement{
				solveCase: solveCase{
					k:     rapid.IntRange(1, 5000).Draw(t, "k"),
					shape: rapid.SampledFrom([]string{free, monotone}).Draw(t, "shape"),
					delta: rapid.Float64Range(0, 0.99).Draw(t, "delta"),
				},
				runs:          rapid.IntRange(1, 99).Draw(t, "runs"),
				seconds:       positive.Draw(t, "seconds"),
				peakBytes:     rapid.Int64Range(1, 1<<50).Draw(t, "peak"),
				constraints:   rapid.Uint64Range(1, 1<<62).Draw(t, "constraints"),
				expectedError: rapid.Float64Range(0, 0.5).Draw(t, "error"),
				gap:           rapid.Float64Range(0, 1).Draw(t, "gap"),
			}
		}), 1, 20, func(m measurement) solveCase { return m.solveCase }).Draw(t, "list")

		var b bytes.Buffer
		if err := writeCSV(&b, list); err != nil {
			t.Fatal(err)
		}
		got, err := readCSV(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, list) {
			t.Errorf("read %+v, wrote %+v", got, list)
		}
	})
}

func TestReadCSVErrors(t *testing.T) {
	good := []string{"11", "free", "0", "364", "3", "0.01", "1048576", "0.0025", "1e-14"}
	with := func(i int, value string) string {
		record := slices.Clone(good)
		record[i] = value
		return strings.Join(columns, ",") + "\n" + strings.Join(record, ",") + "\n"
	}
	if _, err := readCSV(strings.NewReader(with(0, "21"))); err != nil {
		t.Fatalf("the record the cases are made from: %v", err)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "empty"},
		{"header only", strings.Join(columns, ",") + "\n", "no measurements"},
		{"other columns", strings.Replace(with(0, "11"), "seconds", "minutes", 1), "columns"},
		{"K zero", with(0, "0"), "line 2: K"},
		{"K with a fraction", with(0, "1.5"), "line 2: K"},
		{"shape", with(1, "convex"), "line 2: shape"},
		{"negative delta", with(2, "-1e-5"), "line 2: teacher_delta"},
		{"NaN delta", with(2, "NaN"), "line 2: teacher_delta"},
		{"no constraints", with(3, "0"), "line 2: constraints"},
		{"no runs", with(4, "0"), "line 2: runs"},
		{"zero seconds", with(5, "0"), "line 2: seconds"},
		{"infinite seconds", with(5, "Inf"), "line 2: seconds"},
		{"no memory", with(6, "0"), "line 2: peak_bytes"},
		{"NaN error", with(7, "nan"), "line 2: expected_error"},
		{"negative gap", with(8, "-1e-9"), "line 2: gap"},
		{"empty gap", with(8, ""), "line 2: gap"},
		{"a field too many", with(8, "0,0"), "wrong number of fields"},
		{"twice", with(0, "11") + strings.Join(good, ",") + "\n", "line 3: K = 11, free, Δ = 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list, err := readCSV(strings.NewReader(tc.text))
			if err == nil {
				t.Fatalf("no error, but %+v", list)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not say %q", err, tc.want)
			}
		})
	}
}

// FuzzReadCSV: whatever is accepted can be drawn and is written back as it was read.
func FuzzReadCSV(f *testing.F) {
	f.Add(strings.Join(columns, ",") + "\n11,free,0,364,3,0.01,1048576,0.0025,1e-14\n")
	f.Add(strings.Join(columns, ",") + "\n\"11\",monotone,1e-5,1,1,1e-300,1,0,0\n")
	f.Add("K\n1\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := readCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, m := range list {
			if m.k < 1 || !(m.seconds > 0) || math.IsInf(m.seconds, 0) || !(m.gap >= 0) || m.peakBytes < 1 {
				t.Fatalf("accepted %+v", m)
			}
		}
		var b bytes.Buffer
		if err := writeCSV(&b, list); err != nil {
			t.Fatal(err)
		}
		again, err := readCSV(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(list, again) {
			t.Errorf("read %+v, then %+v", list, again)
		}
	})
}
