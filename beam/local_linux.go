package darrmbeam

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeToNetwork makes the listening socket on port, which this process has open to all
// networks, answer to this machine only.
func closeToNetwork(port int) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || n == 0 {
			continue // no socket, or not a listening one
		}
		addr, err := unix.Getsockname(fd)
		if err != nil {
			continue
		}
		switch a := addr.(type) {
		case *unix.SockaddrInet4:
			if a.Port != port {
				continue
			}
		case *unix.SockaddrInet6:
			if a.Port != port {
				continue
			}
		default:
			continue
		}
		// Needs no privilege since Linux 5.7.
		if err := unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, "lo"); err != nil {
			return fmt.Errorf("bind port %d to the loopback device: %w", port, err)
		}
		found = true
	}
	if !found {
		return errors.New("the socket was not found in /proc/self/fd")
	}
	return nil
}
