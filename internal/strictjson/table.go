package strictjson

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/darrm/darrm/internal/check"
)

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
