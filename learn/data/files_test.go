package data

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckApart(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := bytes.Repeat([]byte("0.5,1\n"), 30_000)
	write("private", long)
	write("copy", long)
	write("shorter", long[6:])
	late := bytes.Clone(long)
	late[len(late)-2] = '0'
	write("last differs", late)
	write("labels", long[6:])
	write("empty", nil)
	if err := os.Symlink("private", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("private"), at("hard link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("shorter"), at("labels' link")); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for public, refused := range map[string]bool{
		at("private"): true, dir + "/./private": true, at("link"): true, at("hard link"): true,
		at("copy"):    true,
		at("shorter"): false, at("last differs"): false, at("empty"): false, at("none"): false,
		"-": false, "": false, dir: false,
	} {
		if err := (Files{Private: at("private"), Public: public}).CheckApart(ctx); errors.Is(err,
			ErrSameFile) != refused || !refused && err != nil {
			t.Errorf("public %q: %v, refused should be %v", public, err, refused)
		}
	}
	if err := (Files{Private: "-", Public: "-"}).CheckApart(ctx); !errors.Is(err, ErrSameFile) {
		t.Errorf("stdin twice: %v", err)
	}
	for labels, refused := range map[string]bool{at("shorter"): true, at("labels' link"): true,
		at("empty"): false, at("labels"): false, "": false} {
		f := Files{Private: at("private"), Labels: at("shorter"), Public: at("last differs"),
			PublicLabels: labels}
		if err := f.CheckApart(ctx); errors.Is(err, ErrSameFile) != refused || !refused && err != nil {
			t.Errorf("public labels %q: %v, refused should be %v", labels, err, refused)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := (Files{Private: at("private"), Public: at("copy")}).CheckApart(ended); !errors.Is(err,
		context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
