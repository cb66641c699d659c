package npy

import (
	"strconv"
	"strings"
)

// The values of Python's syntax that a header can have: a string, a bool, an int64, or values of these.
type (
	tuple []any
	list  []any
	dict  []any // of entries
	entry struct {
		key   string
		value any
	}
)

const (
	spaces  = "\t\n\f\r "
	deepest = 8 // levels of values within values
)

// literal reads a literal of Python's syntax as far as NumPy writes it: nothing is evaluated. It returns what
// follows, without the blanks before it.
func literal(s string, depth int) (value any, rest string, ok bool) {
	s = strings.TrimLeft(s, spaces)
	switch {
	case s == "" || depth > deepest:
		return nil, s, false
	case s[0] == '\'' || s[0] == '"':
		value, rest, ok = text(s)
	case s[0] == '(' || s[0] == '[' || s[0] == '{':
		value, rest, ok = values(s, depth)
	case strings.HasPrefix(s, "True"):
		value, rest, ok = true, s[len("True"):], true
	case strings.HasPrefix(s, "False"):
		value, rest, ok = false, s[len("False"):], true
	default:
		rest = strings.TrimLeft(s, "0123456789")
		n, err := strconv.ParseInt(s[:len(s)-len(rest)], 10, 64)
		value, rest, ok = n, strings.TrimPrefix(rest, "L"), err == nil // Python 2 wrote the L
	}
	return value, strings.TrimLeft(rest, spaces), ok
}

// values reads a tuple, a list or a dictionary.
func values(s string, depth int) (value any, rest string, ok bool) {
	open := s[0]
	end := map[byte]string{'(': ")", '[': "]", '{': "}"}[open]
	var items []any
	for s = strings.TrimLeft(s[1:], spaces); !strings.HasPrefix(s, end); {
		var item any
		if item, s, ok = literal(s, depth+1); ok && open == '{' {
			var e entry
			e.key, _ = item.(string)
			if s, ok = strings.CutPrefix(s, ":"); ok && e.key != "" {
				e.value, s, ok = literal(s, depth+1)
			}
			item = e
		}
		more := false
		if s, more = strings.CutPrefix(s, ","); more {
			s = strings.TrimLeft(s, spaces)
		}
		if !ok || !more && !strings.HasPrefix(s, end) {
			return nil, s, false
		}
		items = append(items, item)
	}
	switch open {
	case '(':
		return tuple(items), s[1:], true
	case '[':
		return list(items), s[1:], true
	}
	return dict(items), s[1:], true
}

// text reads a literal of text.
func text(s string) (value, rest string, ok bool) {
	var b strings.Builder
	mark := s[0]
	for s = s[1:]; s != ""; {
		switch {
		case s[0] == mark:
			return b.String(), s[1:], true
		case s[0] != '\\':
			b.WriteByte(s[0])
			s = s[1:]
		case strings.HasPrefix(s, `\'`), strings.HasPrefix(s, `\"`):
			b.WriteByte(s[1])
			s = s[2:]
		default:
			r, _, behind, err := strconv.UnquoteChar(s, 0) // Go's escapes are Python's
			if err != nil {
				return "", s, false
			}
			b.WriteRune(r)
			s = behind
		}
	}
	return "", s, false
}
