package skipped

import "testing"

func TestHalf(t *testing.T) { t.Skip("no server") }
