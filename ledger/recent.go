package ledger

// recent is a past of a few entries that are not in the ledger yet.
type recent struct {
	found map[key]*charged
	drawn []*charged // the listed ones
	takes takings
}

func newRecent() *recent { return &recent{found: map[key]*charged{}, takes: takings{}} }

func (r *recent) first(k key) *charged { return r.found[k] }

func (r *recent) taken(t taker) uint64 { return r.takes[t] }

func (r *recent) draws(yield func(string, []byte, Digest) bool) bool {
	for _, c := range r.drawn {
		if !yield(c.ensemble, []byte(c.draw.Name), c.draw.Votes) {
			return false
		}
	}
	return true
}

// add enters an entry where no earlier one is.
func (r *recent) add(c charged) {
	for _, k := range c.keys(nil) {
		if r.found[k] == nil {
			r.found[k] = &c
		}
	}
	if c.listed() {
		r.drawn = append(r.drawn, &c)
	}
	r.takes.add(&c)
}
