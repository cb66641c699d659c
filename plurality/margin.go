package plurality

// Margin summarises the histograms whose first class leads by Lead to Most votes, under a table's
// objective, as float64.
type Margin struct {
	Lead, Most int
	Share      float64 // how often they occur
	// Right and Abstained are the probabilities of a plurality class, and of no class, given
	// that lead.
	Right, Abstained float64
	Baselines        []float64 // Right of Table.Baselines, in their order
}

// Margins returns the leads that occur, ascending. A lead of 0 is a tie, of which any class
// with the most votes is right. Neighbouring leads but ties are taken together as long as they
// occur with probability least at most; 0 keeps them apart.
func (t *Table) Margins(least float64) []Margin {
	if t == nil || t.Problem().K < 1 {
		return nil
	}
	s := t.system
	others := s.baselines()
	byLead := make([]Margin, s.k+1)
	for h, weight := range t.weights.Low {
		first, end := s.Range(h)
		lead := s.lead(h)
		m := &byLead[lead]
		if m.Baselines == nil {
			*m = Margin{Lead: lead, Most: lead, Baselines: make([]float64, len(others))}
		}
		m.Share += weight
		m.Right += weight * float64(t.masses[first]) / float64(One)
		if s.abstain {
			m.Abstained += weight * float64(t.masses[end-1]) / float64(One)
		}
		for b, p := range others {
			m.Baselines[b] += weight * p.probabilities[first] * float64(s.classesOf[first])
		}
	}
	var out []Margin
	for _, m := range byLead {
		if last := len(out) - 1; m.Share == 0 {
			continue
		} else if last >= 0 && out[last].Lead > 0 && out[last].Share+m.Share <= least {
			out[last].add(m)
		} else {
			out = append(out, m)
		}
	}
	for i := range out {
		m := &out[i]
		m.Right /= m.Share
		m.Abstained /= m.Share
		for b := range m.Baselines {
			m.Baselines[b] /= m.Share
		}
	}
	return out
}

// add adds the leads of n, which are the next, before any division.
func (m *Margin) add(n Margin) {
	m.Most = n.Most
	m.Share += n.Share
	m.Right += n.Right
	m.Abstained += n.Abstained
	for b, x := range n.Baselines {
		m.Baselines[b] += x
	}
}

// lead returns by how many votes the first class of histogram h leads; 0 for a tie.
func (s *Space) lead(h int) int {
	first, _ := s.Range(h)
	if s.classesOf[first] > 1 {
		return 0
	}
	return s.Votes(first) - s.Votes(first+1) // there are two classes at least
}
