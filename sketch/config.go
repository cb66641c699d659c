package sketch

import (
	"cmp"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/wire"
)

// Ensemble is the law of the clients' matrices. Its numbers are those of messages.
type Ensemble uint8

// The ensembles. SRHT pads d to a power of two; the others do not. Gaussian and Haar matrices and
// Count Sketch take O(nkd) memory on the server.
const (
	RowSelect = Ensemble(wire.RowSelect) // k distinct coordinates
	// k distinct rows of a Hadamard matrix after random signs
	SRHT            = Ensemble(wire.SRHT)
	Gaussian        = Ensemble(wire.Gaussian)        // entries N(0, 1/d)
	GaussianRowNorm = Ensemble(wire.GaussianRowNorm) // Gaussian rows scaled to length 1
	CountSketch     = Ensemble(wire.CountSketch)     // one random sign per column, in a random row
	// Haar has k orthonormal rows, those of a uniformly random rotation: SRHT's law without its
	// loss of rank, for a client's work of O(k²d). It is what SRHT is measured against.
	Haar = Ensemble(wire.Haar)
)

func (e Ensemble) String() string { return wire.Scheme(e).String() }

// orthonormal reports whether the rows of each G_i are orthonormal.
func (e Ensemble) orthonormal() bool { return e == RowSelect || e == SRHT || e == Haar }

const (
	// MaxDimension is the largest d: a transform of it takes 1 GiB.
	MaxDimension = 1 << 27
	// maxDense is the most entries of all clients' matrices of the dense ensembles: 1 GiB.
	maxDense = 1 << 27
	// maxNumbers is the most numbers nk that a server takes on: 8 GiB.
	maxNumbers = 1 << 30
)

// Config chooses an estimator. Clients and server must use the same K, D, Ensemble and Root.
// The other fields matter to the server only.
type Config struct {
	N        int // clients, 1 or more; a decoder takes at most so many messages
	K        int // numbers per client, 1 ≤ K ≤ D
	D        int // length of a vector, at most MaxDimension
	Ensemble Ensemble
	T        Transform
	Root     uint64   // the seed of all streams
	Beta     BetaMode // zero value: automatic
	Workers  int      // goroutines of a decode; 0: one per processor. No result depends on it
}

// padded is d', the length of vectors inside.
func (c Config) padded() int {
	if c.Ensemble == SRHT {
		return 1 << bits.Len(uint(c.D-1))
	}
	return c.D
}

// entries returns the count of numbers in memory for a client's matrix, besides k rows.
func (c Config) entries() int {
	switch c.Ensemble {
	case Gaussian, GaussianRowNorm, Haar:
		return c.K * c.D
	case CountSketch:
		return c.D
	}
	return 0
}

func (c Config) check() error {
	if c.Ensemble < RowSelect || c.Ensemble > Haar {
		return check.Want("ensemble", uint8(c.Ensemble),
			"RowSelect, SRHT, Gaussian, GaussianRowNorm, CountSketch or Haar")
	}
	if err := cmp.Or(check.Whole("dimension d", c.D, 1, MaxDimension),
		check.Whole("numbers per client k", c.K, 1, c.D)); err != nil {
		return err
	}
	if err := check.Whole("clients n", c.N, 1, maxNumbers/c.K); err != nil {
		return err
	}
	if entries := c.entries(); entries > 0 {
		if err := check.Whole("clients n of an ensemble without a fast transform", c.N, 1,
			max(1, maxDense/entries)); err != nil {
			return err
		}
	}
	if err := check.Whole("workers", c.Workers, 0, 1<<16); err != nil {
		return err
	}
	if err := c.T.check(c.N); err != nil {
		return err
	}
	return c.Beta.check(c)
}
