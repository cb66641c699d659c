package shuffled

import (
	"context"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

// Scheduled is a plan of a schedule that no method has. It is not calibrated.
func Scheduled(c Config, s Schedule, private, public *data.Records) (*Plan, error) {
	c.Noise = 1
	if c.Regularizer == nil {
		c.Regularizer = geometry.NoRegularizer{}
	}
	p := &Plan{c: c, schedule: s, private: private, n: private.Len(), d: private.Dim()}
	if err := p.takeData(public); err != nil {
		return nil, err
	}
	return p, p.account(context.Background())
}
