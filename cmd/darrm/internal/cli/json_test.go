package cli_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// EncodeJSON writes what package encoding/json does, and null for numbers that are not finite, wherever they are.
func TestNumbersThatAreNotFiniteAreNull(t *testing.T) {
	type row struct {
		Text  string          `json:"text"`
		Small float64         `json:"small,omitempty"`
		Exact json.RawMessage `json:"exact"`
		Digit json.Number     `json:"digits"`
		Empty []int           `json:"empty"`
		List  []float64       `json:"list"`
		Any   map[string]any  `json:"any"`
	}
	of := func(a, b, c float64) row {
		return row{"ε < 1 & \u2028", 0, json.RawMessage("1.10"), "0.30", nil, []float64{a, 1e-7, b}, map[string]any{"z": c, "b": 1e21}}
	}
	var b, plain strings.Builder
	if err := cli.EncodeJSON(&b, of(math.Inf(1), math.NaN(), math.Inf(-1))); err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(&plain)
	e.SetIndent("", "  ")
	if err := e.Encode(of(5, 5, 5)); err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(strings.ReplaceAll(plain.String(), "    5", "    null"), "\"z\": 5", "\"z\": null"); b.String() != want {
		t.Errorf("%s\nbut encoding/json writes\n%s", b.String(), want)
	}
	if cli.EncodeJSON(&b, make(chan int)) == nil {
		t.Error("a channel was written")
	}
}
