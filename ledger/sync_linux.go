package ledger

import (
	"os"
	"syscall"
)

// syncData forces the bytes of f to disk, and of its metadata only what reading
// them needs. The anchor never changes its size.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
