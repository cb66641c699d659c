package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxID is the greatest length of a request id in bytes.
	MaxID = 256
	// MaxEvent is the greatest length of an event's canonical JSON in bytes.
	MaxEvent = 64 << 10
	// MaxRequests is the most requests that one [Ledger.ChargeAll] takes.
	MaxRequests = 4096
)

// A Request asks to pay for Count releases that cost Unit each.
type Request struct {
	// ID names the request: 1 to MaxID bytes of UTF-8 without control or
	// format characters. Asking again with the same ID and content charges nothing
	// more and gives an [ErrReplayed]. Required.
	ID string
	// Count is the number of equal releases, at least 1, or how many answers are taken of a quota.
	// Required: a count left out must not be free.
	Count uint64
	// Unit is the cost of one release. A zero cost is refused unless PaidBy names the charge that
	// paid: nothing private is free. Required.
	Unit Cost
	// PaidBy is the id of an earlier charge that covers this release too: of the training
	// of teachers, say: every answer is its post-processing. It must be of the same
	// Ensemble and have spent something itself. Where Draw is set, it must cover that draw;
	// otherwise it must be of no draw. Where it opened a quota, Quota must state the same table, and
	// Count answers must be left. Unit must then be zero. Defaults to none.
	PaidBy string
	// Client names who asks: 1 to MaxID bytes, as an id. Another client is another request.
	// Defaults to none.
	Client string
	// Share is the most that all charges of Client may spend together, this one included. It is
	// judged with the charge and not stored: a later request may state another. Defaults to all
	// of the budget; needs Client.
	Share *Budget
	// Judge, unless nil, is asked with the cost that all charges of the ledger would have spent with
	// those of the call, where these spend anything. Its error refuses the call. It is asked while the
	// ledger is locked, and is not stored. Defaults to the budget alone.
	Judge func(spent Cost) error
	// Relation is the neighbouring relation that Unit is for. Required, and the ledger's.
	Relation Relation
	// Ensemble names the teachers who answer: 1 to MaxID bytes, as an id. Defaults to
	// none, for what no teachers are behind.
	Ensemble string
	// EnsembleDigest is any text that identifies the teachers behind Ensemble, such as a
	// digest of their parameters: 1 to MaxID bytes, as an id. Once a charge has stated one,
	// all later charges of the ensemble must state the same. It is compared as text and
	// verifies nothing. Defaults to none; needs Ensemble.
	EnsembleDigest string
	// Draw identifies the votes that are answered, where fresh teachers cast them: the answers are
	// a function of these votes and of noise. Defaults to none.
	Draw *Draw
	// Quota makes the charge open a quota of answers or, with PaidBy, take Count answers of one. A
	// charge that opens a quota has Count 1: Unit is the cost of all its answers together. Defaults to
	// none; needs that Draw is none.
	Quota *Quota
	// Event describes the release as any one JSON value, so that an accountant
	// can compose the history in another way later. It is stored in canonical
	// form (see the package comment). Defaults to null.
	Event json.RawMessage
}

// total returns the cost that the request spends: Count·Unit, by basic composition.
func (r *Request) total() Cost { return r.Unit.Times(r.Count) }

// entry returns the request's charge, with what is not the request's from e.
func (r *Request) entry(e Entry) Entry {
	e.Kind, e.ID, e.Relation, e.Count, e.Unit, e.PaidBy, e.Event = KindCharge, r.ID, r.Relation,
		r.Count, r.Unit, r.PaidBy, r.Event
	e.Client, e.Ensemble, e.EnsembleDigest, e.Draw, e.Quota = r.Client, r.Ensemble, r.EnsembleDigest,
		r.Draw.stored(), r.Quota.stored()
	return e
}

// checked returns the request with its event in canonical form.
func (r Request) checked() (Request, error) {
	if err := r.checkFields(); err != nil {
		return r, err
	}
	event, err := canonicalJSON(r.Event)
	if err != nil {
		return r, fmt.Errorf("request %q: event: %w", r.ID, err)
	}
	r.Event = event
	if r.Draw != nil {
		draw := *r.Draw // the caller may change his
		r.Draw = &draw
		if err := draw.checkCast(r.Ensemble); err != nil {
			return r, fmt.Errorf("request %q: %w", r.ID, err)
		}
	}
	if r.Share != nil {
		share := *r.Share
		r.Share = &share
	}
	r.Quota = r.Quota.copied()
	return r, nil
}

// checkFields checks all but the event.
func (r *Request) checkFields() error {
	if err := checkID("request id", r.ID); err != nil {
		return err
	}
	err := r.checkTeachers()
	if err == nil && r.Quota != nil {
		err = r.checkQuota()
	}
	switch {
	case r.Count == 0:
		err = check.Want("count", r.Count, "at least 1")
	case r.PaidBy == "" && r.Unit == (Cost{}):
		err = check.Want("unit cost", r.Unit, "more than 0 in ε or δ")
	case r.PaidBy != "" && r.Unit != (Cost{}):
		err = check.Want("unit cost", r.Unit, "0 for what another charge paid")
	}
	if err != nil {
		return fmt.Errorf("request %q: %w", r.ID, err)
	}
	return nil
}

// checkTeachers checks the request's payer, its client, its teachers and their votes. A relation
// left out is refused where the ledger's is known.
func (r *Request) checkTeachers() error {
	if r.PaidBy != "" {
		if err := checkID("paid by", r.PaidBy); err != nil {
			return err
		}
	}
	if r.Client != "" {
		if err := checkID("client", r.Client); err != nil {
			return err
		}
	}
	if r.Share != nil && r.Client == "" {
		return check.Want("share", *r.Share, "left out without a client")
	}
	if r.Relation != 0 {
		if err := checkRelation(r.Relation); err != nil {
			return err
		}
	}
	if r.Ensemble != "" {
		if err := checkID("ensemble", r.Ensemble); err != nil {
			return err
		}
	}
	if r.EnsembleDigest != "" {
		if err := checkID("ensemble digest", r.EnsembleDigest); err != nil {
			return err
		}
		if r.Ensemble == "" {
			return check.Want("ensemble digest", fmt.Sprintf("%.64q", r.EnsembleDigest),
				"left out without an ensemble")
		}
	}
	if r.Draw != nil {
		return r.Draw.check(r.PaidBy)
	}
	return nil
}

// checkID checks an id or another name; what says of what.
func checkID(what, id string) error {
	if id != "" && len(id) <= MaxID && plain(id) {
		return nil // as most are
	}
	rule := ""
	switch {
	case id == "":
		rule = "not empty"
	case len(id) > MaxID:
		rule = fmt.Sprintf("at most %d bytes long", MaxID)
	case !utf8.ValidString(id):
		rule = "valid UTF-8"
	}
	for _, r := range id {
		if invisible(r) {
			rule = "free of control and format characters"
		}
	}
	if rule != "" {
		return check.Want(what, fmt.Sprintf("%.64q", id), rule)
	}
	return nil
}

// invisible reports whether r acts on a terminal, or on how the text around it is shown, instead of
// being shown: controls, the marks that turn the direction of text, separators of lines.
func invisible(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false // at once for most of all text
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// escapeInvisible writes the invisible characters of JSON, which are all in its
// strings, as \u escapes, so that a ledger can be printed as it is.
func escapeInvisible(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		switch {
		case !invisible(r):
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// canonicalJSON returns one JSON value without space, with the keys of objects
// sorted and unique, numbers as they were written, and invisible characters
// escaped. Empty means null.
func canonicalJSON(raw []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("null"), nil
	}
	if len(raw) > MaxEvent {
		return nil, fmt.Errorf("%d bytes of JSON, but at most %d are stored", len(raw), MaxEvent)
	}
	if err := unambiguous(raw); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	out, err := marshal(v)
	out = escapeInvisible(out)
	if err == nil && len(out) > MaxEvent {
		err = fmt.Errorf("%d bytes of JSON, but at most %d are stored", len(out), MaxEvent)
	}
	return out, err
}

// unambiguous fails on what is not UTF-8, and on an object that has a key twice: two readers could understand such
// an event differently.
func unambiguous(raw []byte) error {
	for d := jsontext.NewDecoder(bytes.NewReader(raw)); d.StackDepth() <= 1000; {
		if _, err := d.ReadToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("JSON is nested deeper than 1000 levels")
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
