package release

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/votes"
)

// Where no draft can be is an error of the output.
func TestNewLabelDraftRefuses(t *testing.T) {
	dir := t.TempDir()
	var output *OutputError
	d, err := NewLabelDraft(filepath.Join(dir, "no"), "labels.csv", votes.LabelOptions{})
	if d != nil || !errors.As(err, &output) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v, %v", d, err)
	}
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("%q stay behind", names)
	}
}
