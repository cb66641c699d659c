package main

import (
	"os"
	"path/filepath"
)

// flagFile is a file that a flag names.
type flagFile struct {
	flag, path string
	written    bool
}

// paidFiles are the files of a release that is paid for: the checkpoint is removed at the
// end, and an output written over the ledger would lose what was spent.
func paidFiles(out, checkpoint, book string) []flagFile {
	files := []flagFile{{"out", out, true}, {"checkpoint", checkpoint, true}, {"ledger", book, false}}
	if book != "" {
		files = append(files, flagFile{"ledger", book + ".anchor", false})
	}
	return files
}

// checkApart refuses two flags that name one file, if it would be written.
func checkApart(files ...flagFile) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if a.path != "" && b.path != "" && (a.written || b.written) && sameFile(a.path, b.path) {
				return usagef("--%s and --%s are the same file, %s", b.flag, a.flag, a.path)
			}
		}
	}
	return nil
}

// sameFile says whether two paths lead to one file, which need not exist yet.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false // stdin and stdout are two
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}
