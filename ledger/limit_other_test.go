//go:build !linux

package ledger

import "errors"

func limitFileSize(string) error { return errors.ErrUnsupported }

func giveUpRoot() error { return errors.ErrUnsupported }
