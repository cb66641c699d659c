package federated

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Broadcast is the server's message to all silos at the start of a round. It is public.
type Broadcast struct {
	Round    int       `json:"round"` // r, from 0
	Model    []float64 `json:"model"` // x_r
	Previous []float64 `json:"previous,omitempty"`
}

// distance returns ‖a-b‖. Server and silos work it out for themselves, so each product is
// rounded before it is added, on every processor alike.
func distance(a, b []float64) float64 {
	s := 0.0
	for j, v := range a {
		d := v - b[j]
		s += float64(d * d)
	}
	return math.Sqrt(s)
}

// bound returns clip·‖a-b‖, the clipping norm of a difference of gradients at two models, or 0
// where they are so close that squares underflow and a norm is not what it is rounded to: models
// that close count as the same, and no silo refuses what depends on its records.
func bound(clip float64, a, b []float64) float64 {
	if c := clip * distance(a, b); c >= 1e-120 {
		return c
	}
	return 0
}

// bounds returns the clipping norms of both streams: c_1 = C_1·‖x_r - x_{r-1}‖ and C_2.
func (t *task) bounds(b Broadcast) (norms [2]float64) {
	norms[gradients] = t.GradientClip
	if b.Previous != nil {
		norms[differences] = bound(t.DifferenceClip, b.Model, b.Previous)
	}
	return norms
}

// check refuses a broadcast that is no round of the task: silos take none on trust.
func (b Broadcast) check(t *task) error {
	if err := check.Whole("round", b.Round, 0, t.Rounds-1); err != nil {
		return err
	}
	if err := checkModel("model", b.Model, t.d); err != nil {
		return err
	}
	if (b.Round == 0) != (b.Previous == nil) {
		return check.Want("previous model", len(b.Previous),
			"left out in round 0, and stated in every other")
	}
	if b.Previous == nil {
		return nil
	}
	return checkModel("previous model", b.Previous, t.d)
}

// checkModel refuses vectors of another length, and those that left the range of numbers.
func checkModel(name string, x []float64, d int) error {
	if len(x) != d {
		return check.Want("length of the "+name, len(x), fmt.Sprint(d))
	}
	for _, v := range x {
		if !train.InRange(v) {
			return fmt.Errorf("%s: %w", name, train.ErrDiverged)
		}
	}
	return nil
}

// digest names what a silo answers. Its coins are bound to it: the same question gets the same
// answer however often it is asked, and another question in the same round fresh coins, since two
// answers with the same coins would tell their difference without noise.
func digest(kind string, round int, vectors ...[]float64) string {
	h := sha256.New()
	b := binary.LittleEndian.AppendUint64([]byte("darrm federated v1 "+kind+" "), uint64(round))
	for _, v := range vectors {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		b, _ = binary.Append(b, binary.LittleEndian, v) // numbers of one size always fit
	}
	h.Write(b)
	return string(h.Sum(nil))
}
