// Package strictjson refuses JSON that two readers could read differently.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Decode decodes a value of at most limit bytes, which Check passes and nothing follows, into v.
func Decode(data []byte, limit int, v any) error { return decode(data, limit, v, false) }

// DecodeKnown is Decode, and refuses a field that v does not have.
func DecodeKnown(data []byte, limit int, v any) error { return decode(data, limit, v, true) }

func decode(data []byte, limit int, v any, known bool) error {
	if len(data) > limit {
		return fmt.Errorf("it is larger than %d bytes", limit)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("it is empty")
	}
	if err := Check(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if known {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return err
	}
	// Not More, which takes a stray "}" or "]" for the end.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its end")
	}
	return nil
}

// A table is four levels deep and has some twenty fields. What is far beyond is none, and
// is refused before each level or field takes memory of its own.
const (
	maxDepth  = 16
	maxFields = 256
)

// Check reads the first JSON value of data and refuses one that two readers could read
// differently. Package encoding/json matches field names in any case and keeps the last of several; others
// keep the first, or take "Epsilon" for another field than "epsilon". So a field
// name must be lower-case ASCII letters, digits and underscores, and stand once in its
// object. An object has at most 256 fields, and the value at most 16 levels.
func Check(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // nothing is converted here
	type object struct {
		seen  map[string]bool // nil in an array
		value bool            // the next token is a value, not a field name
	}
	var open []object
	for {
		token, err := d.Token()
		if err == io.EOF { // within the value, or before it
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		in := len(open) - 1
		if name, ok := token.(string); ok && in >= 0 && open[in].seen != nil && !open[in].value {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				return fmt.Errorf("field name %.40q has characters other than a-z, 0-9 and _", name)
			}
			if open[in].seen[name] {
				return fmt.Errorf("field %.40q stands there twice", name)
			}
			if len(open[in].seen) == maxFields {
				return fmt.Errorf("an object has more than %d fields", maxFields)
			}
			open[in].seen[name] = true
			open[in].value = true
			continue
		}
		if in >= 0 {
			open[in].value = false // this token is the value, or opens it
		}
		if (token == json.Delim('{') || token == json.Delim('[')) && len(open) == maxDepth {
			return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
		switch token {
		case json.Delim('{'):
			open = append(open, object{seen: map[string]bool{}})
		case json.Delim('['):
			open = append(open, object{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:in]
		}
		if len(open) == 0 {
			return nil // what follows the value is not a matter of names
		}
	}
}
