//go:build unix

package processor

import "testing"

func TestBytesOf(t *testing.T) {
	if got := bytesOf(3<<10, "linux"); got != 3<<20 {
		t.Errorf("linux: %d", got)
	}
	if got := bytesOf(3<<10, "darwin"); got != 3<<10 {
		t.Errorf("darwin: %d", got)
	}
}
