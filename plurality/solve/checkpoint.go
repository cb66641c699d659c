package solve

import "time"

// checkpoints hand out certified tables along the way.
type checkpoints struct {
	take func() // certifies the incumbent
	gap  float64
	next time.Time
}

const (
	// largeValues is from how many dual values on certifying takes so long that whoever
	// interrupts a solve would wait: half a second and more.
	largeValues     = 300_000
	checkpointShare = 10 // certifying may take one part of so many of the time
	checkpointGain  = 0.8
)

// newCheckpoints returns nil where the problem is small or nobody wants any.
func newCheckpoints(p *program, o Options, take func()) *checkpoints {
	if o.Checkpoint == nil || p.values() < largeValues {
		return nil
	}
	return &checkpoints{take: take, gap: 1}
}

// offer takes a checkpoint where the gap has fallen and the last one is long ago.
func (c *checkpoints) offer(gap float64) {
	now := time.Now()
	if c == nil || gap > checkpointGain*c.gap || now.Before(c.next) {
		return
	}
	c.take()
	end := time.Now()
	c.gap, c.next = gap, end.Add((checkpointShare-1)*end.Sub(now))
}
