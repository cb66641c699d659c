package cache

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	magic         = "darrm-cache"
	formatVersion = 1

	// maxLine is more than the longest header line, "key " and a key of MaxKey bytes.
	maxLine = MaxKey + 64
)

// damage is the reason why bytes are not an entry, as opposed to a failure to read them.
type damage string

func (d damage) Error() string { return string(d) }

// entryError turns an error of readEntry into one that names the file.
func entryError(path string, err error) error {
	var d damage
	if errors.As(err, &d) {
		return &CorruptError{Path: path, Reason: string(d)}
	}
	return fmt.Errorf("read cache entry %s: %w", path, err)
}

// entry is a decoded file.
type entry struct {
	key   string
	value []byte // nil unless asked for
}

func writeEntry(w io.Writer, key string, value []byte) error {
	sum := sha256.Sum256(value)
	if _, err := fmt.Fprintf(w, "%s %d\nkey %s\nsha256 %x\nlength %d\n", magic, formatVersion, key, sum, len(value)); err != nil {
		return err
	}
	_, err := w.Write(value)
	return err
}

// readEntry reads and checks the entry in r, a file of size bytes. Without keep
// the value is checked and dropped, in constant memory. Nothing is allocated
// for a value before its length is known to be allowed and to match the size.
func readEntry(r io.Reader, size int64, keep bool) (entry, error) {
	br := bufio.NewReaderSize(r, maxLine)
	h := headerReader{br: br}
	if err := h.version(); err != nil {
		return entry{}, err
	}
	key, err := h.field("key ")
	if err != nil {
		return entry{}, err
	}
	if err := checkKey(key); err != nil {
		return entry{}, damage("bad key: " + err.Error())
	}
	sum, err := h.field("sha256 ")
	if err != nil {
		return entry{}, err
	}
	if !isHexSHA256(sum) {
		return entry{}, damage("the checksum is not 64 lower-case hex digits")
	}
	length, err := h.length()
	if err != nil {
		return entry{}, err
	}
	if rest := size - h.read; rest != length {
		return entry{}, damage(fmt.Sprintf("length says %d bytes, but %d follow", length, rest))
	}

	e := entry{key: key}
	hash := sha256.New()
	if keep {
		e.value = make([]byte, length)
		_, err = io.ReadFull(br, e.value)
		hash.Write(e.value)
	} else {
		_, err = io.CopyN(hash, br, length)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return entry{}, damage("truncated while being read")
	}
	if err != nil {
		return entry{}, err
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return entry{}, damage("the value does not match its checksum")
	}
	if _, err := br.ReadByte(); err == nil {
		return entry{}, damage("bytes follow the value")
	} else if err != io.EOF {
		return entry{}, err
	}
	return e, nil
}

// headerReader reads the lines before the value and counts their bytes.
type headerReader struct {
	br   *bufio.Reader
	read int64
}

func (h *headerReader) line() (string, error) {
	b, err := h.br.ReadSlice('\n')
	switch {
	case err == nil:
		h.read += int64(len(b))
		return string(b[:len(b)-1]), nil
	case err == io.EOF:
		return "", damage("truncated header")
	case errors.Is(err, bufio.ErrBufferFull):
		return "", damage(fmt.Sprintf("header line longer than %d bytes", maxLine))
	}
	return "", err
}

// version checks the first line.
func (h *headerReader) version() error {
	// Look before reading a line: a foreign file should be called that, even
	// where it has no line ends.
	start, err := h.br.Peek(len(magic) + 1)
	if err != nil && err != io.EOF {
		return err
	}
	if string(start) != magic+" " {
		return damage("not a cache entry: it does not start with " + strconv.Quote(magic))
	}
	line, err := h.line()
	if err != nil {
		return err
	}
	if got := line[len(magic)+1:]; got != strconv.Itoa(formatVersion) {
		return damage(fmt.Sprintf("format version %.20q, want %d", got, formatVersion))
	}
	return nil
}

// field reads a line that starts with name and returns the rest of it.
func (h *headerReader) field(name string) (string, error) {
	line, err := h.line()
	if err != nil {
		return "", err
	}
	value, ok := strings.CutPrefix(line, name)
	if !ok {
		return "", damage(fmt.Sprintf("header line %.40q, want %q", line, strings.TrimSpace(name)))
	}
	return value, nil
}

func (h *headerReader) length() (int64, error) {
	text, err := h.field("length ")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	// One spelling per number: no sign, no leading zeros.
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, damage(fmt.Sprintf("length %.40q is not a decimal number", text))
	}
	if n > MaxValue {
		return 0, damage(fmt.Sprintf("length %d, want at most %d", n, MaxValue))
	}
	return n, nil
}

func isHexSHA256(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
