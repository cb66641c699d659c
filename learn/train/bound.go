package train

// Bound states what is proved of a plan's models for records that are drawn independently of one
// law, in expectation over them and over the noise. It is worked out from the plan's own schedule
// and noise, so that it depends on no record, and it is for the loss with clipped slopes.
type Bound struct {
	Of      Measure
	Value   float64 // at most this
	Nothing float64 // of every model of the set: a Value that is not below it says nothing
	// Printed is the source's closed form, for the source's noise and by the source's constants;
	// 0 where it prints none.
	Printed float64
	Rate    float64 // the source's order of magnitude, constants left out; 0 where it has none
	Theorem string  // the source's theorem that it follows
}

// Says reports whether the bound says more of a model than that it is in the set.
func (b Bound) Says() bool { return b.Value < b.Nothing }

// Measure names the quantity that a Bound bounds.
type Measure string

// The measures. F is the mean loss over the law of the records, W the set, D its diameter.
const (
	ExcessRisk      Measure = "excess risk"      // F(w) - min_W F
	StationarityGap Measure = "stationarity gap" // max_{v∈W} ⟨∇F(w), w - v⟩
	// ‖prox(w) - w‖ for prox(w) = argmin_W F(v) + ρ‖v - w‖², which is stationary to within 2ρD times
	// it
	ProximalDistance Measure = "distance to a nearly stationary model"
)
