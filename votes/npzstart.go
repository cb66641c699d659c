package votes

import "fmt"

// npzStart returns what is wrong with the first four bytes of a file.
func npzStart(head []byte) string {
	if magic := string(head); magic != "PK\x03\x04" {
		return fmt.Sprintf("not an archive of arrays as numpy.savez writes it: it begins with %s",
			quote(magic))
	}
	return ""
}
