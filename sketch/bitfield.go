package sketch

import (
	"math/bits"

	"github.com/darrm/darrm/sketch/wire"
)

// Numbers of a few bits each stand in messages one behind the other, the first in the lowest
// bits of the first byte. What is left of the last byte is 0.

// appendBits writes numbers of width bits each, at most 32.
func appendBits(b []byte, width int, numbers []int) []byte {
	var word uint64
	have := 0
	for _, v := range numbers {
		word |= uint64(v) << have
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	if have > 0 {
		b = append(b, byte(word))
	}
	return b
}

// bitBytes is the length in bytes of n numbers of width bits.
func bitBytes(n, width int) int { return (n*width + 7) / 8 }

// takeBits reads n numbers of width bits off body. n·width must not overflow: n is at most
// eight times the length of a message.
func takeBits(body []byte, width, n int) (numbers []int, rest []byte, err error) {
	size := bitBytes(n, width)
	if len(body) < size {
		return nil, nil, wire.Errorf("%d numbers of %d bits need %d bytes, but there are %d", n, width,
			size, len(body))
	}
	numbers = make([]int, n)
	var word uint64
	have := 0
	at := 0
	for i := range numbers {
		for have < width {
			word |= uint64(body[at]) << have
			at++
			have += 8
		}
		numbers[i] = int(word & (1<<width - 1))
		word >>= width
		have -= width
	}
	if word != 0 {
		return nil, nil, wire.Errorf("the bits behind the last of %d numbers are not 0", n)
	}
	return numbers, body[size:], nil
}

// indexBits is the width of a coordinate below d: ⌈log₂ d⌉.
func indexBits(d int) int { return bits.Len(uint(d - 1)) }

// takeIndices reads n coordinates below d, ascending and all different.
func takeIndices(body []byte, d, n int) (indices []int, rest []byte, err error) {
	if n > d {
		return nil, nil, wire.Errorf("%d coordinates, but there are only d = %d", n, d)
	}
	indices, rest, err = takeBits(body, indexBits(d), n)
	if err != nil {
		return nil, nil, err
	}
	for a, j := range indices {
		if j >= d || a > 0 && j <= indices[a-1] {
			return nil, nil, wire.Errorf(
				"coordinate %d is %d, but coordinates must ascend and be below d = %d", a, j, d)
		}
	}
	return indices, rest, nil
}
