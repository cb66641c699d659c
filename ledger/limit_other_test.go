//go:build !linux

package ledger

import "errors"

func limitFileSize(string) error { return errors.ErrUnsupported }
