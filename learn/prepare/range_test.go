package prepare

import (
	"encoding/json"
	"testing"
)

// A range is two numbers in JSON, and nothing else.
func TestRangeInJSON(t *testing.T) {
	var r Range
	if err := json.Unmarshal([]byte("[-1.5,2]"), &r); err != nil || r != (Range{-1.5, 2}) || r.Low() != -1.5 || r.High() != 2 || !r.hasZero() {
		t.Errorf("%v, %v", r, err)
	}
	for _, in := range []string{"[1]", "[1,2,3]", `"a"`, `[1,"b"]`, "{}"} {
		if err := json.Unmarshal([]byte(in), &r); err == nil || r != (Range{-1.5, 2}) {
			t.Errorf("%s is read as %v, %v", in, r, err)
		}
	}
}
