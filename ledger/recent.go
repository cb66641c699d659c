package ledger

// recent is a past of a few entries that are not in the ledger yet.
type recent map[key]*charged

func (r recent) first(k key) *charged { return r[k] }

// add enters an entry where no earlier one is.
func (r recent) add(c charged) {
	for _, k := range c.keys(nil) {
		if r[k] == nil {
			r[k] = &c
		}
	}
}
