package train

// Choice is the result of a choice among candidates, released beside the model at the same cost.
type Choice struct {
	Candidate int      // from 0; -1 where there was no run to choose from, and the model is 0
	Name      string   // of the candidate
	Score     *float64 // of the model, with its noise; nil where none is released
	Deviation float64  // of that noise
}

// chooser is a Run of such a method.
type chooser interface {
	// Choice returns the choice, nil before the last round.
	Choice() *Choice
}

// choice returns the choice of a run, once it is done.
func (r *run) choice() *Choice {
	if c, ok := r.steps.(chooser); ok && r.round == r.a.Rounds {
		return c.Choice()
	}
	return nil
}
