//go:build unix

package readfile

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The test hangs, or takes all memory, if one of these is read.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"zero": "/dev/zero", "pipe": at("fifo")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // a socket's path is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, what := range map[string]string{
		at("fifo"): "a pipe", at("pipe"): "a pipe", at("zero"): "a device", "/dev/zero": "a device",
		"socket": "a socket",
	} {
		if b, err := Whole(context.Background(), path, 1<<20); err == nil || len(b) > 0 ||
			err.Error() != path+" is "+what+", not a file" {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
	}
}

// A file whose size says nothing is limited while it is read.
func TestFilesWithoutASizeAreLimited(t *testing.T) {
	const path = "/proc/self/maps" // a regular file of size 0
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /proc here")
	}
	b, err := Whole(context.Background(), path, 10)
	if b != nil || err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
