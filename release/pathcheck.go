package release

import (
	"cmp"
	"io/fs"
	"os"
	"strings"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// File is a file that takes part in a release.
type File struct {
	Name string // what errors call it; "" for a file of votes
	Path string // "" for none, "-" for stdin or stdout
	// Written is true if the release creates, replaces or removes it.
	Written bool
}

// name is that of a parameter, for which a front end may have another.
func (f File) name() check.Parameter {
	return check.Parameter(cmp.Or(f.Name, "a file of votes"))
}

// besideLedger are the suffixes of the files that belong to a ledger.
var besideLedger = []string{ledger.AnchorSuffix, ledger.SecretSuffix}

// CheckPaths refuses a release that would overwrite something: its output, its checkpoint,
// which is removed at the end, and its ledger with the files beside it, any of which may be
// "", and the files that it reads. Two of them are one file and one of them is written, or a
// written one is a ledger: an output that replaced a ledger would lose what was spent. Links
// are followed. The error is a [UsageError].
func CheckPaths(out, checkpoint, book string, reads ...File) error {
	files := append([]File{{string(pOutput), out, true}, {string(pCheckpoint), checkpoint, true}},
		reads...)
	if book != "" && ledger.IsFile(book) { // in a database it is no file
		files = append(files, File{string(pLedger), book, false})
		for _, suffix := range besideLedger {
			files = append(files, File{string(pLedger), atomicfile.Target(book) + suffix, false})
		}
	}
	for i, a := range files {
		for _, b := range files[:i] {
			if a.Path != "" && b.Path != "" && (a.Written || b.Written) && sameFile(a.Path, b.Path) {
				return usagef("%s and %s are the same file, %q", b.name(), a.name(), a.Path)
			}
		}
	}
	for _, f := range files {
		if f.Written {
			if err := checkNoLedger(f.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNoLedger refuses to write over a ledger or a file that belongs to one. A ledger is
// known by the files beside it: one that lost them all is not known here.
func checkNoLedger(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	real := atomicfile.Target(path)
	for _, suffix := range besideLedger {
		book, isBeside := strings.CutSuffix(real, suffix)
		if regular(real) && (regular(real+suffix) || isBeside && regular(book)) {
			return usagef("%q is a ledger, or belongs to one: writing over it would lose what was spent",
				path)
		}
	}
	return nil
}

// CheckOverwrite refuses to replace an earlier result at path by a new draw that nobody
// accounts for: whoever saw both would know more than either promises. force states that the user
// wants it. It is for releases without a ledger; of one that has a ledger a [Transaction] guards the
// output.
func CheckOverwrite(path string, force bool) error { return checkOverwrite(path, force, false) }

// checkOverwrite is [CheckOverwrite] for simulations too. They make no second release, but
// what they would replace may be one, which was paid for and cannot be drawn again.
func checkOverwrite(path string, force, simulated bool) error {
	switch {
	case force || path == "" || path == "-" || !regular(path):
		return nil
	case simulated:
		return usagef("%s = %q, but %w", pOutput, path, errSimulatedOver)
	}
	return Overwrites(path)
}

// Overwrites is the error of [CheckOverwrite], for a file that is there on a file system of
// its own.
func Overwrites(path string) error {
	return usagef("%s = %q, but %w", pOutput, path, errOverwrite)
}

// overwriteError is an fs.ErrExist with the way out.
type overwriteError struct{ error }

func (e overwriteError) Unwrap() error        { return e.error }
func (e overwriteError) Is(target error) bool { return target == fs.ErrExist }

var (
	errOverwrite = overwriteError{check.Namedf("the file exists, and a new draw would be a second "+
		"release that nobody accounts for: give another %s, a %s, or %s to replace it",
		pOutput, pLedger, pForce)}
	errSimulatedOver = overwriteError{check.Namedf("the file exists, and it may be a release that "+
		"was paid for: give another %s, or %s to replace it", pOutput, pForce)}
)

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFile reports whether two paths lead to one file, which need not exist yet.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false // stdin and stdout are two
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB) // a terminal is read and written
	}
	return atomicfile.Target(a) == atomicfile.Target(b)
}
