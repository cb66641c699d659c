package train

// Test is a figure of a model on records that it did not learn from, with noise that covers them.
// It is released beside the model, whose cost covers both.
type Test struct {
	Kind      string  // what is measured
	Value     float64 // with its noise
	Deviation float64 // of that noise
	Epsilon   float64 // that the noise promises a record of the test
	Records   int     // of the test; 0 where their number is private
}

// tester is a Run whose model is tested.
type tester interface {
	// Test returns the test of the released model x. Its noise is made of the run's coins, so that
	// it is the same whenever it is asked for.
	Test(x []float64) (*Test, error)
}

// Test returns the test of the model, nil where there is none. It is to be asked for after Run.
func (r *Release) Test() (*Test, error) { return r.r.test() }

// Test returns the test of the model, which promises nothing here; nil where there is none.
func (s *Simulation) Test() (*Test, error) { return s.r.test() }

func (r *run) test() (*Test, error) {
	if t, ok := r.steps.(tester); ok && r.round == r.a.Rounds {
		return t.Test(r.released())
	}
	return nil, nil
}
