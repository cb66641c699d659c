// Package wire is the binary form of the messages of package sketch: a header of 48 bytes
// and values. docs/mean.md defines it for writers in any language.
//
//	offset  bytes  field
//	0       4      "DSKM"
//	4       1      version, 1
//	5       1      scheme
//	6       2      0
//	8       8      round
//	16      8      client
//	24      8      d, the length of the client's vector
//	32      8      count, the number of values
//	40      8      tag: the first word of stream (root, 10, round, client)
//	48      8·count  the values, IEEE 754 float64, finite
//
// All integers and floats are little-endian. Schemes other than those of sketch.Codec put a
// body of their own after the header; there the scheme defines count.
//
// The tag shows an honest mistake: another root, round or client, or streams that were
// programmed wrongly, which would otherwise decode to noise. It authenticates nobody.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/sketch/stream"
)

// Size is the length of a header in bytes.
const Size = 48

const (
	magic   = "DSKM"
	version = 1
)

// Scheme names the format of values and body.
type Scheme uint8

// The schemes. Numbers are never used again for another meaning.
const (
	RowSelect       Scheme = 1 // Rand-k and Rand-k-Spatial
	SRHT            Scheme = 2 // Rand-Proj-Spatial
	Gaussian        Scheme = 3
	GaussianRowNorm Scheme = 4
	CountSketch     Scheme = 5
	Haar            Scheme = 6
	Wangni          Scheme = 16
	Induced         Scheme = 17
	Rounded         Scheme = 32 // values of another scheme, stochastically rounded
	Rotated         Scheme = 33 // rotation and Lloyd-Max quantiser
)

var schemes = map[Scheme]string{
	RowSelect: "row selection", SRHT: "SRHT", Gaussian: "Gaussian",
	GaussianRowNorm: "row-normalised Gaussian", CountSketch: "Count Sketch", Haar: "Haar",
	Wangni: "Wangni", Induced: "Induced", Rounded: "rounded numbers", Rotated: "EDEN",
}

// String is the scheme's name, or its number if it has none.
func (s Scheme) String() string {
	if name, ok := schemes[s]; ok {
		return name
	}
	return fmt.Sprintf("unknown scheme %d", uint8(s))
}

// Header is the header of a message.
type Header struct {
	Scheme        Scheme
	Round, Client uint64
	D             int // length of the client's vector
	Count         int // number of values
}

// ErrMessage is wrapped by every error about a received message.
var ErrMessage = errors.New("message")

// Errorf returns an error that wraps ErrMessage.
func Errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMessage, fmt.Errorf(format, args...))
}

// Append writes the header of a message under root to b.
func (h Header) Append(b []byte, root uint64) []byte {
	b = append(b, magic...)
	b = append(b, version, byte(h.Scheme), 0, 0)
	for _, v := range []uint64{h.Round, h.Client, uint64(h.D), uint64(h.Count), h.tag(root)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func (h Header) tag(root uint64) uint64 {
	s := stream.New(root, stream.MessageTag, h.Round, h.Client)
	return s.Uint64()
}

// Read takes the header off a message that should have header want, and returns the count and
// what follows the header. A negative want.Count leaves the count to the caller, bounded by
// the message's length in bits. Nothing is allocated and nothing in the message is believed.
func Read(message []byte, want Header, root uint64) (count int, body []byte, err error) {
	if len(message) < Size {
		return 0, nil, Errorf("%d bytes, but a header alone has %d", len(message), Size)
	}
	if got := string(message[:4]); got != magic {
		return 0, nil, Errorf("begins with %q, but it must begin with %q", got, magic)
	}
	if v := message[4]; v != version {
		return 0, nil, Errorf("version %d, but only version %d is known", v, version)
	}
	if s := Scheme(message[5]); s != want.Scheme {
		return 0, nil, Errorf("scheme %d (%s), but the decoder reads scheme %d (%s)", uint8(s), s,
			uint8(want.Scheme), want.Scheme)
	}
	if message[6] != 0 || message[7] != 0 {
		return 0, nil, Errorf("bytes 6 and 7 are %d and %d, but they must be 0", message[6], message[7])
	}
	for i, f := range []struct {
		name string
		want uint64
	}{{"round", want.Round}, {"client", want.Client}, {"d", uint64(want.D)}} {
		if got := binary.LittleEndian.Uint64(message[8+8*i:]); got != f.want {
			return 0, nil, Errorf("%s = %d, but it must be %d", f.name, got, f.want)
		}
	}
	body = message[Size:]
	n := binary.LittleEndian.Uint64(message[32:])
	if want.Count >= 0 && n != uint64(want.Count) {
		return 0, nil, Errorf("%d values, but it must have k = %d", n, want.Count)
	}
	if n > 8*uint64(len(body)) {
		return 0, nil, Errorf("%d values, but only %d bytes follow the header", n, len(body))
	}
	if got, tag := binary.LittleEndian.Uint64(message[40:]), want.tag(root); got != tag {
		return 0, nil, Errorf(
			"tag %#x, but root, round and client give %#x: another root, or other streams", got, tag)
	}
	return int(n), body, nil
}

// AppendFloats writes values to b.
func AppendFloats(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// Floats reads a body that consists of n finite float64 and nothing else.
func Floats(body []byte, n int) ([]float64, error) {
	if n > len(body)/8 || len(body) != 8*n {
		return nil, Errorf("%d bytes follow the header, but %d values need %d", len(body), n, 8*n)
	}
	values := make([]float64, n)
	for a := range values {
		values[a] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*a:]))
	}
	if err := Finite(values); err != nil {
		return nil, err
	}
	return values, nil
}

// Finite checks that all values are finite.
func Finite(values []float64) error {
	for a, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Errorf("value %d is %g, but it must be finite", a, v)
		}
	}
	return nil
}

// ClaimedClient returns the client that a message says it is from, for messages whose sender
// nothing else tells, such as files. Read compares it with the tag, which shows mistakes; it
// authenticates nobody.
func ClaimedClient(message []byte) (uint64, error) {
	if len(message) < Size || string(message[:4]) != magic {
		return 0, Errorf("%d bytes that are no message", len(message))
	}
	return binary.LittleEndian.Uint64(message[16:]), nil
}
