package readfile

import "io"

// Full reads until p is full or r fails. Unlike io.ReadFull it passes r's
// error on as it is: a source that breaks off with io.ErrUnexpectedEOF must not
// look like one that ends. An error can come with a full p.
func Full(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}
