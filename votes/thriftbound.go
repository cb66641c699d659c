package votes

import (
	"encoding/binary"
	"errors"
)

// boundThrift walks over one struct in Thrift's compact protocol and returns its
// length. It refuses a struct that claims more than its bytes can hold, and one
// whose lists would take more than budget bytes of memory once decoded: the
// decoder makes room for a list before it reads the first element, so 20 bytes
// could ask for gigabytes.
func boundThrift(data []byte, budget int) (n int, err error) {
	w := thriftWalker{data: data, budget: budget}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.at, nil
}

var (
	errThriftCut   = errors.New("the metadata are cut off or damaged")
	errThriftDepth = errors.New("the metadata are nested too deep")
	errThriftSize  = errors.New("the metadata claim lists that are too large")
)

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftElement is what one element of a list takes at most in memory: the
// largest struct of the metadata, a column chunk, has some 700 bytes.
const thriftElement = 1024

type thriftWalker struct {
	data   []byte
	at     int
	budget int
}

func (w *thriftWalker) byte() (byte, error) {
	if w.at >= len(w.data) {
		return 0, errThriftCut
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *thriftWalker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		return 0, errThriftCut
	}
	w.at += n
	return v, nil
}

func (w *thriftWalker) skip(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return errThriftCut
	}
	w.at += int(n)
	return nil
}

func (w *thriftWalker) structure(depth int) error {
	if depth > 16 {
		return errThriftDepth
	}
	for {
		head, err := w.byte()
		if err != nil {
			return err
		}
		kind := head & 15
		if kind == 0 {
			return nil
		}
		if head>>4 == 0 { // the field's number in full
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind == thriftTrue || kind == thriftFalse {
			continue // the value is the type
		}
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
}

func (w *thriftWalker) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		head, err := w.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		return w.elements(n, depth, head&15)
	case thriftMap:
		n, err := w.varint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := w.byte()
		if err != nil {
			return err
		}
		return w.elements(n, depth, kinds>>4, kinds&15)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return errThriftCut
}

func (w *thriftWalker) elements(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(w.data)-w.at) { // each takes a byte at least
		return errThriftCut
	}
	each := 64
	if kinds[len(kinds)-1] == thriftStruct {
		each = thriftElement
	}
	if w.budget -= int(n) * each; w.budget < 0 {
		return errThriftSize
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
