package release

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No file of a release is written over another, however they are named, and none over a
// ledger or what belongs to one, whoever's it is.
func TestCheckPaths(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"votes.csv", "table.json", "labels.csv", "book", "book.anchor",
		"book.secret", "other", "other.secret", "third", "third.anchor"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(at("votes.csv"), at("link")), os.Mkdir(at("sub"), 0o700),
		os.Symlink(at("sub"), at("folder")), os.Symlink(filepath.Join("sub", "new"), at("dangling"))); err != nil {
		t.Fatal(err)
	}
	votes := File{Path: at("votes.csv")}
	for _, tt := range []struct {
		name  string
		check func() error
		want  string // in the error; "" for none
	}{
		{"apart", func() error {
			return CheckPaths(at("labels.csv"), at("state"), at("book"), votes,
				File{Name: "table", Path: at("table.json")})
		}, ""},
		{"read twice", func() error { return CheckPaths("", "", "", votes, votes) }, ""},
		{"the votes", func() error { return CheckPaths(at("votes.csv"), "", "", votes) },
			"a file of votes"},
		{"the votes by a link", func() error { return CheckPaths(at("link"), "", "", votes) },
			"a file of votes"},
		{"the votes by a detour", func() error {
			return CheckPaths(filepath.Join(dir, "sub", "..", "votes.csv"), "", "", votes)
		}, "a file of votes"},
		{"the table", func() error {
			return CheckPaths(at("table.json"), "", "", File{Name: "table", Path: at("table.json")})
		}, "table"},
		{"out and checkpoint, which are new", func() error {
			return CheckPaths(at("new"), filepath.Join(dir, "sub", "..", "new"), "")
		}, "checkpoint"},
		{"new, in a folder that is a link", func() error {
			return CheckPaths(filepath.Join(dir, "folder", "new"), filepath.Join(dir, "sub", "new"), "")
		}, "checkpoint"},
		{"new, by a link to nothing yet", func() error {
			return CheckPaths(at("dangling"), filepath.Join(dir, "sub", "new"), "")
		}, "checkpoint"},
		{"its anchor, by a link to its folder", func() error {
			return CheckPaths(filepath.Join(dir, "folder", "..", "book.anchor"), "", at("book"))
		}, "ledger"},
		{"an anchor whose secret is lost", func() error { return CheckPaths(at("third.anchor"), "", "") },
			"is a ledger"},
		{"its ledger", func() error { return CheckPaths(at("book"), "", at("book")) }, "ledger"},
		{"its anchor", func() error { return CheckPaths(at("book.anchor"), "", at("book")) }, "ledger"},
		{"its secret", func() error { return CheckPaths(at("book.secret"), "", at("book")) }, "ledger"},
		{"its secret, which is lost", func() error {
			return CheckPaths(at("missing.secret"), "", at("missing"))
		}, "ledger"},
		{"another ledger", func() error { return CheckPaths(at("book"), "", "") }, "is a ledger"},
		{"another's anchor", func() error { return CheckPaths(at("book.anchor"), "", "") },
			"is a ledger"},
		{"another's secret", func() error { return CheckPaths(at("book.secret"), "", "") },
			"is a ledger"},
		{"a ledger without its anchor", func() error { return CheckPaths(at("other"), "", "") },
			"is a ledger"},
		{"a checkpoint over a ledger", func() error { return CheckPaths("", at("book"), "") },
			"is a ledger"},
		{"stdin and stdout", func() error { return CheckPaths("-", "", "", File{Path: "-"}) }, ""},
	} {
		err := tt.check()
		var usage *UsageError
		if (err == nil) != (tt.want == "") || err != nil &&
			(!strings.Contains(err.Error(), tt.want) || !errors.As(err, &usage)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Without a ledger nobody accounts for a second draw, so it does not take the place of the first.
func TestCheckOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	if err := CheckOverwrite(path, false); err != nil {
		t.Errorf("a new file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckOverwrite(path, false); !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), "or force") {
		t.Errorf("a file that is there: %v", err)
	}
	for _, p := range []string{"", "-", os.DevNull} {
		if err := CheckOverwrite(p, false); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	if err := CheckOverwrite(path, true); err != nil {
		t.Errorf("forced: %v", err)
	}
}
