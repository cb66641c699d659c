package release

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/ledger"
)

// serviceKey is the secret from which all coins of an on-line release come, and the keyed
// digests by which its ledger recognises votes and answers.
type serviceKey struct{ *randsrc.Key }

// serviceKeyMagic begins the file: then the key's fingerprint and the key.
const serviceKeyMagic = "darrm service key 1\n"

// maxServiceKey is more than such a file has.
const maxServiceKey = 4 << 10

// openServiceKey reads the key from the file at path, and makes one where there is none. Of
// several processes that make it at once all get the same. A file that is no key, or that
// others than its owner may use, is an [InputError].
func openServiceKey(ctx context.Context, path string) (serviceKey, error) {
	k, err := readServiceKey(ctx, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	fresh, err := randsrc.NewKey()
	if err != nil {
		return k, err
	}
	err = atomicfile.WriteNew(path, 0o600, func(w io.Writer) error {
		fingerprint := fresh.Fingerprint()
		if _, err := w.Write(append([]byte(serviceKeyMagic), fingerprint[:]...)); err != nil {
			return err
		}
		return fresh.Send(w)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return k, &OutputError{fmt.Errorf("make the service key: %w", err)}
	}
	return readServiceKey(ctx, path) // of whoever was first
}

func readServiceKey(ctx context.Context, path string) (k serviceKey, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return k, &InputError{err}
	}
	// Who can read it can undo the noise of every answer, and so would be told the votes.
	if info.Mode().IsRegular() && readfile.Shared(info) {
		return k, &InputError{fmt.Errorf("the service key %s has mode %#o, so others than its owner may "+
			"use it; only 0600 is accepted", path, info.Mode().Perm())}
	}
	b, err := readfile.Whole(ctx, path, maxServiceKey)
	if err != nil {
		return k, &InputError{err}
	}
	defer clear(b)
	rest, ok := bytes.CutPrefix(b, []byte(serviceKeyMagic))
	if !ok || len(rest) < 32 {
		return k, &InputError{fmt.Errorf("%s is not a service key", path)}
	}
	if k.Key, err = randsrc.ReadKey(bytes.NewReader(rest[32:]), [32]byte(rest[:32])); err !=
		nil {
		return k, &InputError{fmt.Errorf("service key %s: %w", path, err)}
	}
	return k, nil
}

// name returns the name of the key in the ledger's events.
func (k serviceKey) name() string {
	fingerprint := k.Fingerprint()
	return hex.EncodeToString(fingerprint[:])
}

// digest is a keyed hash of parts. No two lists of parts have the same bytes.
func (k serviceKey) digest(use string, parts ...[]byte) (out [32]byte) {
	h := k.Pin()
	fmt.Fprintf(h, "darrm online 5: %s\n", use)
	for _, part := range parts {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	h.Sum(out[:0])
	return out
}

// openKey opens the service key, which must be the one that the latest answers of the same
// mechanism in the ledger came from, unless another one is stated to be meant. Of a key that is not
// accepted no file is made, so that the same start is refused again. It is an [InputError].
func (o *Online) openKey(ctx context.Context) (serviceKey, error) {
	path := o.options.Key
	used, err := o.usedKey(ctx)
	if err != nil {
		return serviceKey{}, err
	}
	if used == "" || o.options.NewKey {
		return openServiceKey(ctx, path)
	}
	lost := check.Named("with another key no earlier answer can be given again, and its request id "+
		"is refused for ever; %s states that this is meant", pNewKey)
	switch k, err := readServiceKey(ctx, path); {
	case errors.Is(err, fs.ErrNotExist):
		return k, &InputError{check.Namedf("there is no service key at %s, but answers of this "+
			"mechanism in the ledger came from the key %.16s…: put it there, or give its place (%s); %s",
			path, used, pKey, lost)}
	case err == nil && k.name() != used:
		return k, &InputError{check.Namedf("the service key %s is %.16s…, but the latest answers of "+
			"this mechanism in the ledger came from the key %.16s…: give that one (%s); %s",
			path, k.name(), used, pKey, lost)}
	default:
		return k, err
	}
}

// usedKey returns the name of the key that the latest on-line answer of the same mechanism came
// from; "" where there is none. It reads the ledger from its end. Cost: that of decoding what it
// reads, which is everything where no answer of the mechanism is there.
func (o *Online) usedKey(ctx context.Context) (string, error) {
	b, err := o.bill(&Query{ID: "any"}, ledger.Digest{1})
	if err != nil {
		return "", err
	}
	ours, _ := answerEvent(b.release.Event)
	head, err := o.book.Head(ctx)
	for end := head.Seq; end > 0 && err == nil; end -= min(end, keyPage) {
		var entries []ledger.Entry
		if entries, err = o.book.After(ctx, end-min(end, keyPage)); err != nil {
			break
		}
		for _, e := range slices.Backward(entries) {
			if was, key := answerEvent(e.Event); was != nil && reflect.DeepEqual(was, ours) {
				return key, nil
			}
		}
	}
	return "", err
}

// keyPage is the number of entries that usedKey reads at a time.
const keyPage = 4096

// answerEvent returns the event of on-line answers without what is one query's or one batch's, and
// the name of its key; nil of other events.
func answerEvent(raw json.RawMessage) (event *Event, key string) {
	if !bytes.Contains(raw, []byte(`"online":true`)) || json.Unmarshal(raw, &event) != nil ||
		!event.Online {
		return nil, ""
	}
	key = event.Key
	event.Key, event.Votes = "", ""
	event.Queries, event.Slack, event.Rule = 0, 0, ""
	return event, key
}
