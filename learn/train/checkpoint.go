package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/darrm/darrm/internal/randsrc/stream"
)

// A checkpoint is these bytes, integers little-endian and 8 bytes long, in this order:
//
//	magic    checkpointMagic
//	kind     1 byte, 'R' for a release, 'S' for a simulation
//	digest   32 bytes, of the algorithm with its data
//	key      32 bytes, all randomness of the run
//	round    rounds done
//	state    for each of the run's vectors: length of its name, name, length, float64s
//	sum      32 bytes, SHA-256 of all before
//
// The key lets a resumed run be the same run, bit for bit: resuming a checkpoint twice, or
// an older one, releases the same model, not a second one. Whoever reads it can subtract
// the noise, so it must be kept as secret as the data, and destroyed after the release.
// The sum finds damage; it is no defence against someone who writes the file.
const checkpointMagic = "darrm training checkpoint v2\n"

const (
	kindRelease    = 'R'
	kindSimulation = 'S'
)

// ErrCheckpoint is the error for a checkpoint that is damaged, or of another algorithm, data or
// kind.
var ErrCheckpoint = errors.New("checkpoint does not fit")

const checkpointHeader = len(checkpointMagic) + 1 + 32 + 32 + 8

// CheckpointSize returns the length of every checkpoint of the algorithm: what a reader of
// one must take in, and no more.
func CheckpointSize(a Algorithm) int { return len(newRun(a, Coins{}).checkpoint(kindRelease)) }

func (r *run) checkpoint(kind byte) []byte {
	b := append([]byte(checkpointMagic), kind)
	digest, key := r.a.Digest, r.coins.Key()
	b = append(append(b, digest[:]...), key[:]...)
	put := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	put(uint64(r.round))
	for _, v := range r.state {
		put(uint64(len(v.Name)))
		b = append(b, v.Name...)
		put(uint64(len(v.Values)))
		b, _ = binary.Append(b, binary.LittleEndian, v.Values) // numbers of one size always fit
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Checkpoint returns the state after the last round done, for ResumeRelease. It is secret:
// it holds the key of the noise and a state that is not released. Its length is the
// algorithm's CheckpointSize.
func (r *Release) Checkpoint() []byte {
	return r.run().checkpoint(kindRelease)
}

// Checkpoint returns the state after the last round done, for ResumeSimulation.
func (s *Simulation) Checkpoint() []byte { return s.run().checkpoint(kindSimulation) }

// ResumeRelease continues a release from its checkpoint. The algorithm must be made of the
// same configuration and data; anything else is ErrCheckpoint: with the same noise on other
// data, the difference of two models would be that of the data.
func ResumeRelease(a Algorithm, checkpoint []byte) (*Release, error) {
	if err := a.Releasable(); err != nil {
		return nil, err
	}
	r, err := resume(a, checkpoint, kindRelease)
	if err != nil {
		return nil, err
	}
	return &Release{r}, nil
}

// ResumeSimulation continues a simulation from its checkpoint.
func ResumeSimulation(a Algorithm, checkpoint []byte) (*Simulation, error) {
	r, err := resume(a, checkpoint, kindSimulation)
	if err != nil {
		return nil, err
	}
	return &Simulation{r}, nil
}

func resume(a Algorithm, b []byte, kind byte) (*run, error) {
	refuse := func(format string, v ...any) (*run, error) {
		return nil, fmt.Errorf("%w: %s", ErrCheckpoint, fmt.Sprintf(format, v...))
	}
	if len(b) < checkpointHeader+32 || !bytes.HasPrefix(b, []byte(checkpointMagic)) {
		return refuse("not a checkpoint, or cut short")
	}
	body, sum := b[:len(b)-32], b[len(b)-32:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return refuse("damaged")
	}
	head := body[len(checkpointMagic):checkpointHeader]
	if head[0] != kind {
		return refuse("a simulation does not continue a release, nor a release a simulation")
	}
	if a.Digest == [32]byte{} { // which every algorithm has that states none, whatever its data
		return refuse("the algorithm has no digest, so what made it cannot be compared")
	}
	if digest := a.Digest; !bytes.Equal(head[1:33], digest[:]) {
		return refuse("made by another configuration or of other data")
	}
	r := newRun(a, stream.Restore([32]byte(head[33:65]), kind == kindRelease))
	round := binary.LittleEndian.Uint64(head[65:])
	if round > uint64(a.Rounds) {
		return refuse("round = %d, but the plan has %d", round, a.Rounds)
	}
	r.round = int(round)
	rest := body[checkpointHeader:]
	for _, v := range r.state {
		shape := binary.LittleEndian.AppendUint64(nil, uint64(len(v.Name)))
		shape = append(shape, v.Name...)
		shape = binary.LittleEndian.AppendUint64(shape, uint64(len(v.Values)))
		if !bytes.HasPrefix(rest, shape) || len(rest)-len(shape) < 8*len(v.Values) {
			return refuse("its state is not %s of length %d", v.Name, len(v.Values))
		}
		rest = rest[len(shape):]
		n, err := binary.Decode(rest, binary.LittleEndian, v.Values)
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	if len(rest) > 0 || !inRange(r.state) {
		return refuse("its state is too long or not finite")
	}
	return r, nil
}
