package strictjson_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/strictjson"
)

// What two readers read differently, and what is no JSON, is refused in few words; all else passes.
func TestCheck(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for text, want := range map[string]string{
		"{\"a\":\"\xe9\"}":                    "UTF-8",
		"{\"a\":[\"\xed\xa0\x80\"]}":          "UTF-8", // a surrogate in three bytes
		`{"a":"\ud800"}`:                      "surrogate",
		`{"a":"\ude00\ud83d"}`:                "surrogate",
		`{"a":"\ud800\u0041"}`:                "surrogate",
		`{"\ud800":1}`:                        "surrogate",
		`{"a":1,"b":{"a":1},"a":2}`:           `field "a" appears twice`,
		`{"A":1}`:                             "characters other than",
		`{"a":1`:                              "unexpected EOF",
		``:                                    "unexpected EOF",
		`{"` + long + `":1,"` + long + `":2}`: "appears twice",
		`{"` + long + `":[01]}`:               "invalid",
		`{"a":"\ud83d\ude00 \ufffd \\ud800 ` + "\uFFFD\U0001F600" + `"}`: "",
		`[{"b":{}},"A","A",null,1e400]`:                                  "",
		// the caller sees to what follows
		`1 }`: "",
	} {
		err := strictjson.Check([]byte(text))
		if err == nil && want != "" || err != nil &&
			(want == "" || !strings.Contains(err.Error(), want) || len(err.Error()) > 150) {
			t.Errorf("%.60q: %.200v, want %q", text, err, want)
		}
	}
}

// What is taken is JSON for the standard library too, in Unicode that it need not mend.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{`{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`, "\"\xe9\"",
		`[{"a":1},{"a":[null,-0.0e1]}]`, ` 1 2`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strictjson.Check(data) != nil {
			return
		}
		var first json.RawMessage
		if err := json.NewDecoder(strings.NewReader(string(data))).Decode(&first); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var v any
		if err := json.Unmarshal(first, &v); err != nil {
			return // a number beyond float64
		}
		again, err := json.Marshal(v)
		if err != nil || strings.Count(string(again),
			"\uFFFD") > strings.Count(strings.ToLower(string(first)), `\ufffd`)+
			strings.Count(string(first), "\uFFFD") {
			t.Fatalf("%q: read as %q, %v", data, again, err)
		}
	})
}

// A claim is a number whose certificate is that number, or an error below 0.
type claim int

func (c claim) Certify(context.Context) (*int, error) {
	if c < 0 {
		return nil, errNegative
	}
	n := int(c)
	return &n, nil
}

var errNegative = errors.New("negative")

// A file that states something wrong about itself gives no table, nor does one without a certificate.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		claim  claim
		stated int
		want   string
	}{{3, 3, ""}, {3, 4, "n: the file says 4, it is 3"}, {-1, -1, "negative"}} {
		got, err := strictjson.Verify(t.Context(), c.claim, func(s *check.Stated, found *int) {
			s.Exact("n", c.stated, *found)
		})
		if c.want == "" && (err != nil || *got != c.stated) ||
			c.want != "" && (got != nil || err == nil || err.Error() != c.want) {
			t.Errorf("%d, stated as %d: %v, %v", c.claim, c.stated, got, err)
		}
	}
}
