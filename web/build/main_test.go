package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// The page, all its files together as a server sends them, is no larger than its program may be.
func TestPageIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program for browsers")
	}
	folder := t.TempDir()
	t.Chdir("../..")
	if err := build(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	for _, name := range []string{"index.html", "style.css", "script.js", "darrm.wasm.js"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(&sent)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes", sent.Len())
	if sent.Len() > mostBytes {
		t.Errorf("the page has %d bytes in gzip, but it must have at most %d", sent.Len(), mostBytes)
	}
}
