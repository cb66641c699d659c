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
	for _, name := range []string{"votes.csv", "table.json", "labels.csv", "book", "book.anchor", "book.secret", "other", "other.secret", "third", "third.anchor"} {
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
		files []File
		want  string // in the error; "" for none
	}{
		{"apart", append(Files(at("labels.csv"), at("state"), at("book")), votes, File{Flag: "table", Path: at("table.json")}), ""},
		{"read twice", []File{votes, votes}, ""},
		{"the votes", append(Files(at("votes.csv"), "", ""), votes), "a file of votes"},
		{"the votes by a link", append(Files(at("link"), "", ""), votes), "a file of votes"},
		{"the votes by a detour", append(Files(filepath.Join(dir, "sub", "..", "votes.csv"), "", ""), votes), "a file of votes"},
		{"the table", append(Files(at("table.json"), "", ""), File{Flag: "table", Path: at("table.json")}), "--table"},
		{"out and checkpoint, which are new", Files(at("new"), filepath.Join(dir, "sub", "..", "new"), ""), "--checkpoint"},
		{"new, in a folder that is a link", Files(filepath.Join(dir, "folder", "new"), filepath.Join(dir, "sub", "new"), ""), "--checkpoint"},
		{"new, by a link to nothing yet", Files(at("dangling"), filepath.Join(dir, "sub", "new"), ""), "--checkpoint"},
		{"its anchor, by a link to its folder", Files(filepath.Join(dir, "folder", "..", "book.anchor"), "", at("book")), "--ledger"},
		{"an anchor whose secret is lost", Files(at("third.anchor"), "", ""), "is a ledger"},
		{"its ledger", Files(at("book"), "", at("book")), "--ledger"},
		{"its anchor", Files(at("book.anchor"), "", at("book")), "--ledger"},
		{"its secret", Files(at("book.secret"), "", at("book")), "--ledger"},
		{"its secret, which is lost", Files(at("missing.secret"), "", at("missing")), "--ledger"},
		{"another ledger", Files(at("book"), "", ""), "is a ledger"},
		{"another's anchor", Files(at("book.anchor"), "", ""), "is a ledger"},
		{"another's secret", Files(at("book.secret"), "", ""), "is a ledger"},
		{"a ledger without its anchor", Files(at("other"), "", ""), "is a ledger"},
		{"a checkpoint over a ledger", Files("", at("book"), ""), "is a ledger"},
		{"stdin and stdout", append(Files("-", "", ""), File{Path: "-"}), ""},
	} {
		err := CheckPaths(tt.files...)
		var usage UsageError
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !errors.As(err, &usage)) {
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
	if err := CheckOverwrite(path, false); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "--force") {
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
