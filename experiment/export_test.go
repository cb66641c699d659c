package experiment

import (
	"context"
	"strings"
)

// For tests of this package with the fields, which import it.
const (
	RecordFile  = recordFile
	ResultFile  = resultFile
	StepsFolder = stepsFolder
	QuickSuffix = quickSuffix
	MaxOutput   = maxOutput
)

// ReadRecord is readRecord.
func ReadRecord(ctx context.Context, dir string) (Record, Result, error) {
	return readRecord(ctx, dir)
}

// HashOf is hashOf.
func HashOf(values ...any) (string, error) { return hashOf(values...) }

// Form returns the parameters of the full or the quick form, nil if there is none.
func (d Definition) Form(quick bool) Parameters {
	if quick {
		return d.quick
	}
	return d.full
}

// FitName reports whether a definition may have the name.
func FitName(name string) bool {
	return nameRule.MatchString(name) && !strings.HasSuffix(name, quickSuffix)
}
