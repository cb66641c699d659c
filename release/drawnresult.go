package release

import (
	"context"
	"io"

	"github.com/darrm/darrm/ledger"
)

// drawn is a result that is drawn with its charge and stored by the same commit. It stays in memory
// until that is on disk, and is dropped where it is not. nil is that of a release whose result is
// drawn after the charge.
type drawn struct {
	draw   func() (encode func(io.Writer) error, err error)
	encode func(io.Writer) error
	digest ledger.Digest // that the commit stored; zero before, and where an earlier one has the charge
	after  ledger.State  // of the ledger then
}

// drawnWithCharge returns the result that is still to be drawn; nil where it is not drawn with its
// charge.
func (t *Transaction) drawnWithCharge(ctx context.Context) *drawn {
	if !t.keyed || t.Bill == nil {
		return nil
	}
	return &drawn{draw: func() (func(io.Writer) error, error) { return t.Draw(ctx, nil) }}
}

// stored reports whether the result is on disk with its charge.
func (d *drawn) stored() bool { return d != nil && d.digest != ledger.Digest{} }

// charge charges requests, with the result of the last where there is d, and returns the last one's
// receipt, which is used up. After an error nothing may be drawn, and what was drawn is dropped.
// The errors are those of [ledger.Ledger.ChargeAll], and of the draw.
func (d *drawn) charge(ctx context.Context, l *ledger.Ledger,
	requests ...ledger.Request) (*ledger.Receipt, error) {
	if d == nil {
		receipts, err := l.ChargeAll(ctx, requests)
		if err != nil {
			return nil, err
		}
		for _, receipt := range receipts {
			if err := receipt.Redeem(); err != nil {
				return nil, err
			}
		}
		return receipts[len(receipts)-1], nil
	}
	var digest ledger.Digest
	receipt, after, err := l.ChargeDrawn(ctx, requests, func() (_ ledger.Digest, err error) {
		if d.encode == nil { // the ledger may need another try
			if d.encode, err = d.draw(); err != nil {
				return digest, err
			}
		}
		digest, err = digestOf(d.encode)
		return digest, err
	})
	if err != nil {
		d.encode = nil
		return nil, err
	}
	d.digest, d.after = digest, after
	return receipt, nil
}
