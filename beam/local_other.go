//go:build !linux

package darrmbeam

import "errors"

func closeToNetwork(int) error { return errors.New("this system has no way to do it") }
