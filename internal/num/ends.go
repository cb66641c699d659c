package num

import "math/big"

// Lo returns a copy of the lower end.
func (x Interval) Lo() *big.Float { return new(big.Float).Copy(x.lo) }

// Hi returns a copy of the upper end.
func (x Interval) Hi() *big.Float { return new(big.Float).Copy(x.hi) }
