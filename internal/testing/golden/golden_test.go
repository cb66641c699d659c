package golden

import "testing"

func TestDiffer(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		tolerance float64
		line      int // that differs, 0 for none
	}{
		{"", "", 0, 0}, {"a\nb", "a\nb", 0, 0}, {"a\nb", "a\nc", 0.5, 2}, {"a", "a\nb", 0, 2}, {"a\nb", "a", 0, 2},
		{"x 1.00001 y", "x 1.00002 y", 0, 1}, {"x 1.000010 y", "x 1.000020 y", 1e-4, 0}, {"x 1.0001 y", "x 1.0200 y", 1e-3, 1},
		{"x 1 y", "x 2 y", 10, 1}, {"1e-06", "2e-06", 1e-3, 1}, {"99.91 %", "99.92 %", 1e-6, 0}, {"99.91 %", "99.93 %", 1e-6, 1},
		{"1.5 2", "1.5 3", 1e-3, 1}, {"-1.00001", "1.00001", 1e-3, 1}, {"x1.5", "y1.5", 1, 1},
	} {
		line, how := differ(tt.got, tt.want, tt.tolerance)
		if line != tt.line || (how != "") != (line > 0) {
			t.Errorf("%q is %q within %v but for line %d: %s; want line %d", tt.got, tt.want, tt.tolerance, line, how, tt.line)
		}
	}
}
