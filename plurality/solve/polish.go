package solve

import "context"

// polishExponent is the shareExponent of polishing. At 0 more of the value is lost.
const polishExponent = 0.1

// polish looks for a private point near T's last result: the same iteration with no
// objective and with shares that hardly know the weights, so that histograms that hardly
// ever occur obey their rows too. Without it they hold the certified value back.
func (f *firstOrder) polish(ctx context.Context, g *engine, steps int) {
	if f.polisher == nil {
		share, err := f.shares(ctx, polishExponent)
		if err != nil {
			return // to whoever looks at ctx next
		}
		f.polisher = newEngine(ctx, f.program, make([]float64, len(f.cost)), share, g.xt, f.workers)
	}
	p := f.polisher
	copy(p.xt, g.xt)
	clear(p.yt)
	p.anchor()
	start, before := 0.0, 0.0
	for total, since, look := 0, 0, 50; total < steps && ctx.Err() == nil; {
		measure := since%measureEvery == 0
		p.step(float64(since+1)/float64(since+2), measure)
		since++
		total++
		f.polished++
		if !measure {
			continue
		}
		r := p.residual()
		if since == 1 {
			start, before = r, r
			continue
		}
		if total >= look {
			look *= 2
			// What is left to gain is small beside the gap that stays whatever is done here.
			if loss := f.best.offer(f.program, p, p.xt); loss <= 0.01*(f.best.upper-f.value(p.xt)) ||
				loss < 1e-15 {
				return
			}
		}
		if restart(r, start, before, since, total) {
			p.anchor()
			since = 0
		}
		before = r
	}
	f.best.offer(f.program, p, p.xt)
}
