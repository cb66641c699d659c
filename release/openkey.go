package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

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
