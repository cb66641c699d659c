package solve

// incumbent is the best that has been found, in floating point.
type incumbent struct {
	x            []float64
	y            []float64 // nil before the first
	value, upper float64
}

func (b *incumbent) gap() float64 { return b.upper - b.value }

// offer keeps x where it is better, once mixed until it is private. It returns what mixing
// costs.
func (b *incumbent) offer(p *program, g *engine, x []float64) (loss float64) {
	value := p.value(x)
	loss = p.loss(value, g.excess(x))
	if value-loss > b.value && !g.stopped() {
		b.value = value - loss
		b.x = append(b.x[:0], x...)
	}
	return loss
}

// bound keeps y where it shows a smaller bound.
func (b *incumbent) bound(p *program, g *engine, y []float64) {
	if u := p.upper(g, y); u < b.upper && !g.stopped() {
		b.upper = u
		b.y = append(b.y[:0], y...)
	}
}
