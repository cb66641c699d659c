package shuffled

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// A checkpoint is these bytes, integers little-endian, in this order:
//
//	magic    checkpointMagic
//	kind     1 byte, 'R' for a release, 'S' for a simulation
//	digest   32 bytes, of the plan with its data
//	key      32 bytes, all randomness of the run
//	epoch    8 bytes, epochs done
//	d        8 bytes
//	x        d float64s, the iterate after these epochs
//	sum      32 bytes, SHA-256 of all before
//
// The key lets a resumed run be the same run, bit for bit: resuming a checkpoint twice, or
// an older one, releases the same model, not a second one. Whoever reads it can subtract
// the noise, so it must be kept as secret as the data, and destroyed after the release.
// The sum finds damage; it is no defence against someone who writes the file.
const checkpointMagic = "darrm shuffleg checkpoint v1\n"

const (
	kindRelease    = 'R'
	kindSimulation = 'S'
)

// ErrCheckpoint says that a checkpoint is damaged, or of another plan, data or kind.
var ErrCheckpoint = errors.New("checkpoint does not fit")

const checkpointHeader = len(checkpointMagic) + 1 + 32 + 32 + 8 + 8

// CheckpointSize returns the length of every checkpoint of the plan: what a reader of one
// must take in, and no more.
func (p *Plan) CheckpointSize() int { return checkpointHeader + 8*p.d + 32 }

func (e *engine) checkpoint(kind byte) []byte {
	b := make([]byte, 0, e.p.CheckpointSize())
	b = append(b, checkpointMagic...)
	b = append(b, kind)
	b = append(b, e.p.digest[:]...)
	b = append(b, e.key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.epoch))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(e.x)))
	for _, v := range e.x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Checkpoint returns the state after the last epoch done, for ResumeRelease. It is secret:
// it holds the key of the noise and an iterate that is not released. Its length is the
// plan's CheckpointSize.
func (r *Release) Checkpoint() []byte { return r.e.checkpoint(kindRelease) }

// Checkpoint returns the state after the last epoch done, for ResumeSimulation.
func (s *Simulation) Checkpoint() []byte { return s.e.checkpoint(kindSimulation) }

// ResumeRelease continues a release from its checkpoint. The plan must be made of the same
// configuration and data; anything else is ErrCheckpoint: with the same noise on other
// data, the difference of two models would be that of the data.
func (p *Plan) ResumeRelease(checkpoint []byte) (*Release, error) {
	if err := p.releasable(); err != nil {
		return nil, err
	}
	e, err := p.resume(checkpoint, kindRelease)
	if err != nil {
		return nil, err
	}
	return &Release{e}, nil
}

// ResumeSimulation continues a simulation from its checkpoint.
func (p *Plan) ResumeSimulation(checkpoint []byte) (*Simulation, error) {
	e, err := p.resume(checkpoint, kindSimulation)
	if err != nil {
		return nil, err
	}
	return &Simulation{e}, nil
}

func (p *Plan) resume(b []byte, kind byte) (*engine, error) {
	refuse := func(why string) error { return fmt.Errorf("%w: %s", ErrCheckpoint, why) }
	if len(b) < checkpointHeader+32 || !bytes.HasPrefix(b, []byte(checkpointMagic)) {
		return nil, refuse("not a checkpoint, or cut short")
	}
	body, sum := b[:len(b)-32], b[len(b)-32:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return nil, refuse("damaged")
	}
	rest := body[len(checkpointMagic):]
	if rest[0] != kind {
		return nil, refuse("a simulation is no release, nor the reverse")
	}
	if !bytes.Equal(rest[1:33], p.digest[:]) {
		return nil, refuse("made by another configuration or of other data")
	}
	k := key(rest[33:65])
	epoch, d := binary.LittleEndian.Uint64(rest[65:73]), binary.LittleEndian.Uint64(rest[73:81])
	rest = rest[81:]
	if d != uint64(p.d) || len(rest) != 8*p.d {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, &check.Error{Name: "dimension", Value: d, Rule: fmt.Sprintf("the plan's, %d", p.d)})
	}
	if epoch > uint64(p.Epochs()) {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, &check.Error{Name: "epoch", Value: epoch, Rule: fmt.Sprintf("at most the plan's %d", p.Epochs())})
	}
	e := newEngine(p, k, kind == kindRelease)
	e.epoch = int(epoch)
	for j := range e.x {
		v := math.Float64frombits(binary.LittleEndian.Uint64(rest[8*j:]))
		if !(math.Abs(v) <= beyond) {
			return nil, refuse(fmt.Sprintf("coordinate %d = %v", j+1, v))
		}
		e.x[j] = v
	}
	return e, nil
}
