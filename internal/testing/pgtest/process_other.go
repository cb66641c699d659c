//go:build !unix

package pgtest

import "errors"

// The server's processes are found in /proc, and stopped by signals: other systems have neither.

func stop(int) error { return errors.ErrUnsupported }
func kill(int) error { return errors.ErrUnsupported }
func alive(int) bool { return false }
