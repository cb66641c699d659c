// Package golden compares all that a package says with a committed file, numbers within a tolerance:
// a test of one such file sees every word, default and figure of an output at once.
package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	number = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)
	whole  = regexp.MustCompile(`^[0-9]+$`)
)

// Compare fails the test where got is not what testdata/name holds, and names the first line that
// differs. Whole numbers must be equal. Where the tolerance is above 0, other numbers may differ by that part
// of themselves, by 10⁻¹², and by a unit in the last digit that is printed. -update writes the file.
func Compare(t *testing.T, name, got string, tolerance float64) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no %s: -update writes it", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, difference := differ(got, string(want), tolerance); difference != "" {
		t.Errorf("%s:%d: %s; -update writes the file, where that is meant", file, line, difference)
	}
}

// differ returns the number of the first line that differs, and how; "" where none does.
func differ(got, want string, tolerance float64) (int, string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) {
			return i + 1, fmt.Sprintf("%d lines, want %d", len(g), len(w))
		}
		if !alike(g[i], w[i], tolerance) {
			same := 0
			for same < min(len(g[i]), len(w[i])) && g[i][same] == w[i][same] {
				same++
			}
			return i + 1, fmt.Sprintf("\n got %s\nwant %s\n", around(g[i], same), around(w[i], same))
		}
	}
	return 0, ""
}

// around returns a line, and of a long one what is beside a place.
func around(line string, at int) string {
	const most = 120
	if from := at - most; from > 0 {
		line, at = "…"+line[from:], most
	}
	if to := at + 2*most; to < len(line) {
		line = line[:to] + "…"
	}
	return strings.ToValidUTF8(line, "")
}

// alike reports whether two lines have the same text and the same numbers.
func alike(got, want string, tolerance float64) bool {
	if got == want {
		return true
	}
	if number.ReplaceAllLiteralString(got, "0") != number.ReplaceAllLiteralString(want, "0") {
		return false
	}
	a, b := number.FindAllString(got, -1), number.FindAllString(want, -1)
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if tolerance == 0 || whole.MatchString(a[i]) || whole.MatchString(b[i]) {
			return false
		}
		x, err := strconv.ParseFloat(a[i], 64)
		y, err2 := strconv.ParseFloat(b[i], 64)
		if err != nil || err2 != nil || math.Abs(x-y) > max(tolerance*math.Abs(y), 1e-12, 1.5*unit(a[i]), 1.5*unit(b[i])) {
			return false
		}
	}
	return true
}

// unit returns a unit in the last digit of a printed number, 0 where it has so many digits that its
// tolerance is larger.
func unit(printed string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(printed), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	if len(fraction) == 0 || len(mantissa) > 6 {
		return 0
	}
	power, _ := strconv.Atoi(exponent) // none is 0
	return math.Pow10(power - len(fraction))
}
