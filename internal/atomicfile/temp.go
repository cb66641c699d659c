package atomicfile

import "strings"

const (
	tempInfix     = ".tmp-"
	tempRandomLen = 26  // length of crypto/rand.Text
	maxTempBase   = 200 // leaves room below the usual limit of 255 bytes for a name
)

// tempName returns the name of a temporary file for the file called base:
//
//	.<base>.tmp-<26 random characters>
func tempName(base, random string) string {
	if len(base) > maxTempBase {
		base = base[:maxTempBase]
	}
	return "." + base + tempInfix + random
}

// tempTarget reports whether name (a name in a directory, not a path) has the
// form of a temporary file of this package, and for which file it was made. A
// target longer than 200 bytes is cut to 200.
func tempTarget(name string) (target string, ok bool) {
	i := strings.LastIndex(name, tempInfix)
	if i < 2 || name[0] != '.' {
		return "", false
	}
	random := name[i+len(tempInfix):]
	if len(random) != tempRandomLen {
		return "", false
	}
	for _, c := range []byte(random) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') { // base32 alphabet
			return "", false
		}
	}
	return name[1:i], true
}
