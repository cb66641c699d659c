package wire

import "encoding/binary"

// ClaimedClient returns the client that a message says it is from, for messages whose sender
// nothing else tells, such as files. Read compares it with the tag, which shows mistakes; it
// authenticates nobody.
func ClaimedClient(message []byte) (uint64, error) {
	if len(message) < Size || string(message[:4]) != magic {
		return 0, Errorf("%d bytes that are no message", len(message))
	}
	return binary.LittleEndian.Uint64(message[16:]), nil
}
