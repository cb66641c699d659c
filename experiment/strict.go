package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeStrict decodes one JSON value into v. Unknown fields, fields in another case,
// repeated fields and anything after the value are errors: what is silently left out or
// taken twice is not the experiment that was asked for.
func decodeStrict(data []byte, v any) error {
	if err := checkFields(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// checkFields refuses objects that name a field twice, or in capitals, which
// encoding/json would match all the same.
func checkFields(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		seen map[string]bool // nil in an array
		key  bool            // the next token is a field name
	}
	var open []level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil // of the value, or before it, which Decode reports
		}
		if err != nil {
			return err
		}
		top := len(open) - 1
		if name, ok := token.(string); ok && top >= 0 && open[top].key {
			if open[top].seen[name] {
				return fmt.Errorf("field %.60q stands there twice", name)
			}
			if bytes.ContainsFunc([]byte(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' }) {
				return fmt.Errorf("field %.60q has characters other than a-z, 0-9 and _", name)
			}
			open[top].seen[name], open[top].key = true, false
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			l := level{}
			if token == json.Delim('{') {
				l = level{seen: map[string]bool{}, key: true}
			}
			open = append(open, l)
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
		// A value has ended: the next token of an object is a field name.
		if top = len(open) - 1; top >= 0 {
			open[top].key = open[top].seen != nil
		} else {
			return nil
		}
	}
}
