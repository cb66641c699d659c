// Package strictjson refuses JSON that two readers could read differently.
package strictjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/go-json-experiment/json/jsontext"
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

// Check reads the first JSON value of data and refuses one that two readers could read differently.
// Package encoding/json matches field names in any case, keeps the last of several, and reads
// U+FFFD where bytes are no UTF-8 and where a surrogate has no other half; others keep the first,
// or take "Epsilon" for another field than "epsilon". So text must be Unicode, and a field name
// must be lower-case ASCII letters, digits and underscores, and stand once in its object. An object
// has at most 256 fields, and the value at most 16 levels.
func Check(data []byte) error {
	// refuses such text, and a name that appears twice
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return short(err)
		}
		depth := d.StackDepth()
		in, n := d.StackIndex(depth)
		switch name := in == '{' && n%2 == 1; { // the token is one: its value comes next
		case depth > maxDepth:
			return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		case name && n > 2*maxFields:
			return fmt.Errorf("an object has more than %d fields", maxFields)
		case name && strings.Trim(token.String(), "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return fmt.Errorf("field name %.40q has characters other than a-z, 0-9 and _", token.String())
		case depth == 0:
			return nil // what follows the value is not a matter of names
		}
	}
}

// short leaves out where in the value an error is, since field names may be as long as it.
func short(err error) error {
	var at *jsontext.SyntacticError
	switch {
	case !errors.As(err, &at): // before the value
		return io.ErrUnexpectedEOF
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("field %.40q appears twice", at.JSONPointer.LastToken())
	}
	return fmt.Errorf("%w after byte %d", at.Err, at.ByteOffset)
}

// MaxList is the largest number of members of a List.
const MaxList = 1 << 21

// List is a slice of at most MaxList members, so that a file of empty objects does not take many
// times its own size in memory.
type List[T any] []T

// UnmarshalJSON decodes the members one by one, and refuses more than MaxList.
func (l *List[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fmt.Errorf("a list begins with %v", t)
	}
	for d.More() {
		if len(*l) == MaxList {
			return fmt.Errorf("a list has more than %d members", MaxList)
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

// IsKind reports whether data begin as an object whose field "kind" has that value. It is read no
// further than that field, so that a file which was cut short behind it is called by its name.
func IsKind(data []byte, want string) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		field, err := d.Token()
		if err != nil {
			return false
		}
		if field == "kind" {
			kind, err := d.Token()
			return err == nil && kind == want
		}
		if err := d.Decode(new(json.RawMessage)); err != nil {
			return false
		}
	}
	return false
}

// FormatError is the error for bytes that are not the file that they are read as.
type FormatError struct {
	What   string // the file, as "a noise-function table"
	Reason error
}

func (e *FormatError) Error() string { return "not " + e.What + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Reason }

// Read reads a file of at most limit bytes and parses it; parse refuses one byte more. The error is
// a [*FormatError], r's, or ctx.Err().
func Read[T any](ctx context.Context, r io.Reader, what string, limit int64,
	parse func([]byte) (*T, error)) (*T, error) {
	if r == nil {
		return nil, errors.New("reader must be given, of " + what)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	v, err := parse(data)
	return Result(ctx, what, v, err)
}

// Result is v as it was found in a file: where ctx has ended the error is ctx.Err(), and any other
// is a [*FormatError].
func Result[T any](ctx context.Context, what string, v *T, err error) (*T, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &FormatError{what, err}
	}
	return v, nil
}

// Claim is the content of a table's file, checked for form and not yet for truth. Certify works out
// all that can be known of it, and believes nothing that the file says about itself.
type Claim[T any] interface {
	Certify(context.Context) (*T, error)
}

// Certify is c.Certify for a claim that was read with err.
func Certify[T any](ctx context.Context, c Claim[T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return c.Certify(ctx)
}

// Verify certifies a claim and has compare set what its file states about itself beside what was
// found. The error is that of Certify, or a [*check.MismatchError].
func Verify[T any](ctx context.Context, c Claim[T], compare func(s *check.Stated, found *T)) (*T, error) {
	t, err := c.Certify(ctx)
	if err != nil {
		return nil, err
	}
	var s check.Stated
	compare(&s, t)
	if err := s.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// Encode writes the JSON form of a table with a final newline, indented by indent where that is not
// "".
func Encode(w io.Writer, t json.Marshaler, indent string) error {
	compact, err := t.MarshalJSON()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if indent == "" {
		b.Write(compact)
	} else if err := json.Indent(&b, compact, "", indent); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}
