package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/ledger"
)

// flagFile is a file that a flag names.
type flagFile struct {
	flag, path string // flag is "" for a file of votes
	written    bool
}

func (f flagFile) String() string {
	if f.flag == "" {
		return "a file of votes"
	}
	return "--" + f.flag
}

// paidFiles are the files of a release that is paid for: the checkpoint is removed at the
// end, and an output written over the ledger would lose what was spent.
func paidFiles(out, checkpoint, book string) []flagFile {
	files := []flagFile{{"out", out, true}, {"checkpoint", checkpoint, true}, {"ledger", book, false}}
	if book != "" {
		for _, suffix := range []string{ledger.AnchorSuffix, ledger.SecretSuffix} {
			files = append(files, flagFile{"ledger", target(book) + suffix, false})
		}
	}
	return files
}

// checkApart refuses two flags that name one file, if it would be written.
func checkApart(files ...flagFile) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if a.path != "" && b.path != "" && (a.written || b.written) && sameFile(a.path, b.path) {
				return usagef("%v and %v are the same file, %s", b, a, a.path)
			}
		}
	}
	return nil
}

// checkNoLedger refuses to write over a ledger, its anchor or its secret, which would lose
// what was spent or which votes were answered. A ledger is known by the anchor beside it: one
// that lost it is not known here.
func checkNoLedger(path string) error {
	real := target(path)
	book, isAnchor := strings.CutSuffix(real, ledger.AnchorSuffix)
	owner, isSecret := strings.CutSuffix(real, ledger.SecretSuffix)
	if regular(real) && (regular(real+ledger.AnchorSuffix) || isAnchor && regular(book) || isSecret && regular(owner)) {
		return usagef("%s is a ledger, its anchor or its secret: writing over it would lose what the ledger knows", path)
	}
	return nil
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFile says whether two paths lead to one file, which need not exist yet.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false // stdin and stdout are two
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB) // a terminal is read and written
	}
	return target(a) == target(b)
}

// target is the absolute path that path leads to, links followed: also those of the folders
// of a file that does not exist yet, and a link to one that does not.
func target(path string) string {
	for range 40 { // as many as the system follows
		dir, base := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		path = filepath.Join(dir, base)
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if path = link; !filepath.IsAbs(link) {
			path = dir + string(filepath.Separator) + link // not Join, which would clean ".." by its text
		}
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
