package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
)

var _ = ledgersuite.Child()

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "ledger") }

func TestConformance(t *testing.T) {
	t.Parallel()
	ledgersuite.Run(t, func(t *testing.T) string { return newFile(t) })
}

// The directory is the one of temporary files (TMPDIR), so its disk is what is measured. The
// floor is one append that is forced to disk.
func BenchmarkGoroutines(b *testing.B) {
	f, err := os.Create(newFile(b))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	ledgersuite.Goroutines(b, newFile, func(lines []byte) {
		if _, err := f.Write(lines); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) { ledgersuite.Open(b, newFile) }
