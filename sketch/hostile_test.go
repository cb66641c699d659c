package sketch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/sketch/wire"
)

// A bad message is refused by name and leaves the decoder as it was.
func TestHostileMessages(t *testing.T) {
	cfg, xs := worked()
	cfg.N = 3
	c := codec(t, cfg)
	m := make([][]byte, 3)
	for i := range m {
		var err error
		if m[i], err = c.Encode(0, uint64(i), xs[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	other := cfg
	other.D, other.K = 17, 3
	wrongD, err := codec(t, other).Encode(0, 2, make([]float64, 17))
	if err != nil {
		t.Fatal(err)
	}
	other.D, other.K = 16, 16
	wrongK, err := codec(t, other).Encode(0, 2, make([]float64, 16))
	if err != nil {
		t.Fatal(err)
	}
	other.K = 3
	other.Root++
	wrongRoot, err := codec(t, other).Encode(0, 2, make([]float64, 16))
	if err != nil {
		t.Fatal(err)
	}
	nan := bytes.Clone(m[2])
	binary.LittleEndian.PutUint64(nan[wire.Size+8:], math.Float64bits(math.NaN()))
	long := bytes.Clone(m[2])
	binary.LittleEndian.PutUint64(long[32:], 1<<60)

	d := c.NewDecoder(0)
	if _, err := d.Mean(t.Context()); err == nil || !strings.Contains(err.Error(), "no message") {
		t.Errorf("no messages: %v", err)
	}
	for i := range uint64(2) {
		if err := d.Add(i, m[i]); err != nil {
			t.Fatal(err)
		}
	}
	before, err := d.Mean(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]struct {
		client  uint64
		message []byte
		want    string
	}{
		"wrong d":            {2, wrongD, "d = 17, but it must be 16"},
		"k > d":              {2, wrongK, "16 values, but it must have k = 3"},
		"another root":       {2, wrongRoot, "another root"},
		"NaN":                {2, nan, "client 2: message: value 1 is NaN"},
		"2⁶⁰ values":         {2, long, "1152921504606846976 values"},
		"truncated":          {2, m[2][:len(m[2])-3], "21 bytes follow"},
		"trailing":           {2, append(bytes.Clone(m[2]), 1), "25 bytes follow"},
		"duplicate":          {1, m[1], "client 1 has already sent one in round 0"},
		"another's message":  {2, m[1], "client = 1, but it must be 2"},
		"another's, claimed": {1, m[2], "client = 2, but it must be 1"},
	} {
		if err := d.Add(v.client, v.message); err == nil || !strings.Contains(err.Error(), v.want) ||
			!errors.Is(err, wire.ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := d.Mean(t.Context())
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("refused messages changed the mean: %v", err)
	}
	// Another round's message, and one client too many.
	later, err := c.Encode(1, 2, xs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Add(2, later); err == nil || !strings.Contains(err.Error(),
		"round = 1, but it must be 0") {
		t.Errorf("another round: %v", err)
	}
	if err := d.Add(2, m[2]); err != nil {
		t.Fatal(err)
	}
	fourth, err := c.Encode(0, 9, xs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Add(9, fourth); err == nil || !strings.Contains(err.Error(),
		"one more than the n = 3 clients") {
		t.Errorf("a fourth client: %v", err)
	}
}

func TestValuesAndVectorsAreChecked(t *testing.T) {
	cfg, _ := worked()
	c := codec(t, cfg)
	for want, x := range map[string][]float64{
		"length of the vector = 15": make([]float64, 15),
		"coordinate 3 = NaN":        append([]float64{1, 2, 3, math.NaN()}, make([]float64, 12)...),
		"coordinate 0 = +Inf":       append([]float64{math.Inf(1)}, make([]float64, 15)...),
		"overflow":                  slices.Repeat([]float64{math.MaxFloat64}, 16),
	} {
		if _, err := c.Encode(0, 0, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, y := range map[string]map[uint64][]float64{
		"client 7: 2 values":       {7: {1, 2}},
		"value 2 is +Inf":          {7: {1, 2, math.Inf(1)}},
		"one more than the n = 2 ": {1: {1, 2, 3}, 2: {1, 2, 3}, 3: {1, 2, 3}},
		"no message":               {},
		"client 5 sent the larg":   {5: {1e308, 1e308, 1e308}, 6: {1, 1, 1}},
	} {
		if _, err := c.decodeValues(t.Context(), 0, y); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Whatever the bytes are, a decoder answers by an error or by a finite mean.
func FuzzDecode(f *testing.F) {
	cfg, xs := worked()
	cfg.T.Rho = 0.5
	c := codec(f, cfg)
	var m [2][]byte
	for i, x := range xs {
		var err error
		if m[i], err = c.Encode(0, uint64(i), x); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(m[0], m[1])
	f.Add(m[1], m[0])
	f.Add(m[0][:20], m[1][:60])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := c.NewDecoder(0)
		added := 0
		for i, message := range [][]byte{a, b} {
			if d.Add(uint64(i), message) == nil {
				added++
			}
		}
		x, err := d.Mean(t.Context())
		if err != nil {
			return
		}
		if added == 0 || len(x) != 16 || wire.Finite(x) != nil {
			t.Errorf("%d messages, mean %v", added, x)
		}
	})
}
