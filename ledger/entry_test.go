package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawEntry(t *rapid.T) Entry {
	seq := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "seq")
	e := Entry{
		Seq:    seq,
		Commit: rapid.Uint64Range(1, seq).Draw(t, "commit"),
		ID:     rapid.StringMatching(`[a-zé<>&"\\ 0-9]{1,20}`).Draw(t, "id"),
		Time: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
	}
	copy(e.Previous[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "previous"))
	if rapid.Bool().Draw(t, "result") {
		e.Kind = KindResult
		copy(e.Result[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "result"))
		return e
	}
	e.Kind = KindCharge
	e.Count = rapid.Uint64Range(1, math.MaxUint64).Draw(t, "count")
	e.Unit = Cost{amount{0, rapid.Uint64().Draw(t, "ε")},
		amount{rapid.Uint64Range(0, 1<<50).Draw(t, "δ hi"), 1}}
	e.Relation = rapid.SampledFrom([]Relation{ReplaceOne, AddOrRemoveOne}).Draw(t, "relation")
	e.Ensemble = rapid.StringMatching(`[a-zé<>&"\\ 0-9]{0,20}`).Draw(t, "ensemble")
	if e.Ensemble != "" {
		e.EnsembleDigest = rapid.StringMatching(`[a-z:<]{0,9}`).Draw(t, "digest")
	}
	if rapid.Bool().Draw(t, "drawn") {
		e.Draw = &Draw{Name: rapid.StringMatching(`[a-z<]{1,20}`).Draw(t, "draw"),
			Query: rapid.Bool().Draw(t, "query"), Covers: rapid.Bool().Draw(t, "covers")}
		copy(e.Draw.Votes[:], rapid.SliceOfN(rapid.ByteMin(1), 32, 32).Draw(t, "votes"))
	}
	if e.Draw == nil && rapid.Bool().Draw(t, "quota") {
		e.Quota = &Quota{}
		copy(e.Quota.Table[:], rapid.SliceOfN(rapid.ByteMin(1), 32, 32).Draw(t, "table"))
		if rapid.Bool().Draw(t, "takes") {
			e.PaidBy, e.Unit, e.Client = "payer", Cost{}, "alice"
		} else {
			e.Count, e.Quota.Answers = 1, rapid.Uint64Range(1, math.MaxUint64).Draw(t, "answers")
		}
	}
	e.Event = json.RawMessage(rapid.SampledFrom([]string{"null", `{"a":[1,2.50,"x<y"],"b":{}}`,
		`"é\u2028"`, `"\u009b"`, "1e400"}).Draw(t, "event"))
	return e
}

func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t)
		b, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeEntry(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		e.Hash = entryHash(e.Previous, b)
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("%+v came back as %+v", e, got)
		}
	})
}

// The file format: a change here makes every existing ledger unreadable.
// The hashes were made by another program (golden_test.go).
func TestFormatIsStable(t *testing.T) {
	when := time.Date(2025, 1, 2, 3, 4, 5, 600, time.UTC)
	g := genesis{id: ledgerID{1, 2, 3}, created: when, relation: AddOrRemoveOne,
		secret: countingSecret().fingerprint(), budget: Budget{Cost{amount{0, 1e12}, amount{1, 0}}}}
	first, err := g.encode()
	if want := `{"format":4,"ledger":"01020300000000000000000000000000","created":"2025-01-02T03:04:05.0000006Z","epsilon_unit":"1e-12","delta_unit":"1e-24","composition":"basic","neighbours":"add-remove","secret_sha256":"` + goldenSecretSum + `","budget":{"epsilon":"1000000000000","delta":"18446744073709551616"}}`; err != nil || string(first) != want {
		t.Errorf("genesis: %s, %v", first, err)
	}
	g.about = About{"triage", "Dr Ada, ward 3", "admissions", "2025-01-01", "2025-03-31"}
	if b, err := g.encode(); err != nil || !strings.HasSuffix(string(b),
		`},"about":{"purpose":"triage",`+
			`"custodian":"Dr Ada, ward 3","data_set":"admissions","from":"2025-01-01","until":"2025-03-31"}}`) {
		t.Errorf("genesis: %s, %v", b, err)
	} else if again, err := decodeGenesis(b); err != nil || again != g {
		t.Errorf("%+v, %v", again, err)
	}
	if h := genesisHash(first).String(); h != goldenGenesisHash {
		t.Errorf("genesis hash %s", h)
	}
	e := Entry{
		Seq: 1, Commit: 1, Kind: KindCharge, ID: "a", Time: when, Relation: AddOrRemoveOne, Count: 3,
		Unit:     Cost{amount{0, 5}, amount{}},
		Ensemble: "wards", EnsembleDigest: "v1", Draw: &Draw{Name: "march",
			Votes: sha256.Sum256([]byte("votes")), Query: true, Covers: true},
		Event: json.RawMessage(`{"k":1}`), Previous: genesisHash(first),
	}
	b, err := e.encode()
	if want := `{"seq":1,"commit":1,"kind":"charge","id":"a","time":"2025-01-02T03:04:05.0000006Z","neighbours":"add-remove","count":3,"unit":{"epsilon":"5","delta":"0"},"ensemble":"wards","ensemble_digest":"v1","draw":{"name":"march","votes":"` + goldenVotesSum + `","query":true,"covers":true},"event":{"k":1},"previous":"` + goldenGenesisHash + `"}`; err != nil || string(b) != want {
		t.Errorf("entry: %s, %v", b, err)
	}
	if h := entryHash(e.Previous, b).String(); h != goldenEntryHash {
		t.Errorf("entry hash %s", h)
	}
	got, err := decodeEntry(b)
	e.Hash = got.Hash
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%+v came back as %+v, %v", e, got, err)
	}
	quota := Entry{
		Seq: 2, Commit: 1, Kind: KindCharge, ID: "b", Time: when, Relation: AddOrRemoveOne, Count: 1,
		Unit: e.Unit, Client: "ward 3",
		Quota: &Quota{Table: sha256.Sum256([]byte("votes")), Answers: 1000},
		Event: e.Event, Previous: entryHash(e.Previous, b),
	}
	b2, err := quota.encode()
	if h := entryHash(quota.Previous, b2).String(); err != nil || h != goldenQuotaHash {
		t.Errorf("hash %s of %s, %v", h, b2, err)
	}
	a := anchor{id: g.id, state: state{1, Head{1, entryHash(e.Previous, b)}, e.Total()}}
	if want := `{"ledger":"01020300000000000000000000000000","commit":1,"seq":1,"hash":"` +
		goldenEntryHash + `","spent":{"epsilon":"15","delta":"0"}}` + "\n"; string(a.encode()) != want {
		t.Errorf("anchor: %s", a.encode())
	}
	if want := `{"commit":1,"seq":1,"hash":"` + goldenEntryHash +
		`","spent":{"epsilon":"15","delta":"0"}}`; string(a.appendTo(nil)) != want {
		t.Errorf("head record: %s", a.appendTo(nil))
	}
}

func TestDecodeGenesisRefuses(t *testing.T) {
	g := genesis{created: time.Unix(1e9, 0).UTC(), relation: ReplaceOne, secret: Digest{1},
		budget: Budget{unitOfOne}, about: About{Purpose: "triage", From: "2025-01-02",
			Until: "2025-01-03"}}
	b, err := g.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeGenesis(b); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"format":4`, `"format":3`}, {`"format":4`, `"format":5`}, {`"format":4`, `"format":0`},
		{`"triage"`, `""`}, {`"triage"`, `"\u0007"`}, {`"2025-01-03"`, `"2025-01-01"`},
		{`"2025-01-03"`, `"2025-1-3"`}, {`"2025-01-02"`, `"2025-02-30"`},
		{`"purpose":"triage",`, `"purpose":"triage","x":1,`},
		{`"replace"`, `"other"`}, {`"neighbours":"replace",`, ``},
		{`"secret_sha256":"01`, `"secret_sha256":"g1`}, {`"secret_sha256":"01`, `"secret_sha256":"`},
	} {
		bad := strings.Replace(string(b), c[0], c[1], 1)
		if bad == string(b) {
			t.Fatalf("%q is not in %s", c[0], b)
		}
		if got, err := decodeGenesis([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, got)
		}
	}
}

// What two readers could understand differently must not be stored.
func TestCanonicalJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "null",
		" \n":                          "null",
		` { "b" : 1.50 , "a" : [ ] } `: `{"a":[],"b":1.50}`,
		`"\u0041<>&"`:                  `"A<>&"`,
		`[{"a":1},{"a":2}]`:            `[{"a":1},{"a":2}]`,
		`{"a":{"a":1},"b":"a"}`:        `{"a":{"a":1},"b":"a"}`,
		`123456789012345678901234.0e5`: `123456789012345678901234.0e5`,
		// What a terminal would act upon stays escaped, or becomes so.
		`"\u001b[2J\n"`: `"\u001b[2J\n"`,
		"\"\x7f\u009b\u202e\u2028\u200b\U000e0041é\"": `"\u007f\u009b\u202e\u2028\u200b\udb40\udc41é"`,
		"{\"\u200bk\":\"\u00ad\"}":                    `{"\u200bk":"\u00ad"}`,
	} {
		if got, err := canonicalJSON([]byte(in)); err != nil || string(got) != want {
			t.Errorf("canonicalJSON(%q) = %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"{", "1 2", "nul", `{"a":1,"a":2}`, `[{"a":1,"b":[{}],"a":2}]`,
		`{"\u0061":1,"a":2}`, "{\"\u200b\":1,\"\\u200b\":2}", "\"\xff\"", "[1,]",
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000), `"` + strings.Repeat("x", MaxEvent) +
			`"`} {
		if got, err := canonicalJSON([]byte(in)); err == nil {
			t.Errorf("canonicalJSON(%.40q) = %.40s", in, got)
		}
	}
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, s := range []string{"", `{"b":1,"a":[true,null,{"x":"\u00e9"}]}`, `[1e5,-0.0]`,
		`{"a":1,"a":2}`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		once, err := canonicalJSON(b)
		if err != nil {
			return
		}
		twice, err := canonicalJSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q → %q → %q, %v", b, once, twice, err)
		}
		if bytes.ContainsFunc(once, invisible) {
			t.Errorf("%q → %q has invisible characters", b, once)
		}
	})
}

// Only canonical bytes are accepted, by all three decoders.
func FuzzDecode(f *testing.F) {
	when := time.Unix(1e9, 5).UTC()
	charge := Entry{Seq: 7, Commit: 3, Kind: KindCharge, ID: "id", Time: when, Relation: ReplaceOne,
		Count: 2, Unit: Cost{amount{0, 1}, amount{1, 1}}, Event: json.RawMessage(`[1]`)}
	draw := charge
	draw.Ensemble, draw.EnsembleDigest = "e", "d"
	draw.Draw = &Draw{Name: "n", Votes: Digest{1}, Query: true, Covers: true}
	result := Entry{Seq: 8, Commit: 4, Kind: KindResult, ID: "id", Time: when}
	quota, taking := charge, charge
	quota.Count, quota.Quota = 1, &Quota{Table: Digest{1}, Answers: 10}
	taking.Unit, taking.PaidBy, taking.Quota = Cost{}, "q", &Quota{Table: Digest{1}}
	for _, e := range []Entry{charge, draw, result, quota, taking} {
		b, err := e.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	g := genesis{created: when, relation: ReplaceOne, budget: Budget{charge.Unit}}
	s := state{3, Head{7, Digest{9}}, charge.Unit}
	gb, _ := g.encode()
	f.Add(gb)
	a := anchor{id: ledgerID{4}, state: s}
	f.Add(a.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := decodeEntry(b); err == nil {
			again, err := e.encode()
			if err != nil || !bytes.Equal(again, b) || e.Hash != entryHash(e.Previous, b) {
				t.Errorf("entry %q", b)
			}
			if e.Kind == KindCharge && (e.Count == 0 || (e.Total() == Cost{}) != (e.PaidBy != "")) {
				t.Errorf("a free charge: %q", b)
			}
			if q := e.Quota; q != nil && ((q.Answers == 0) != (e.PaidBy != "") || q.Table == (Digest{})) {
				t.Errorf("a quota: %q", b)
			}
		}
		if g, err := decodeGenesis(b); err == nil {
			if again, err := g.encode(); err != nil || !bytes.Equal(again, b) {
				t.Errorf("genesis %q", b)
			}
		}
		if a, err := decodeAnchor(b); err == nil && !bytes.Equal(a.encode(), b) {
			t.Errorf("anchor %q", b)
		}
	})
}

// refuse changes the encoding of an entry in each of several ways, none of which is an entry.
func refuse(t *testing.T, e *Entry, changes [][2]string) {
	t.Helper()
	b, err := e.encode()
	if err == nil {
		_, err = decodeEntry(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		bad := strings.Replace(string(b), c[0], c[1], 1)
		if bad == string(b) {
			t.Fatalf("%q is not in %s", c[0], b)
		}
		if got, err := decodeEntry([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, got)
		}
	}
}

func TestDecodeEntryRefuses(t *testing.T) {
	e := Entry{
		Seq: 2, Commit: 1, Kind: KindCharge, ID: "a", Time: time.Unix(1e9, 0).UTC(), Relation: ReplaceOne,
		Count: 3, Unit: Cost{amount{0, 5}, amount{}},
		Ensemble: "e", EnsembleDigest: "d", Draw: &Draw{Name: "n", Votes: Digest{1}, Query: true},
		Event: json.RawMessage(`{}`),
	}
	b, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, &e, [][2]string{
		{`"seq":2`, `"seq":0`}, {`"seq":2`, `"seq":2.0`}, {`"seq"`, `"SEQ"`}, {`"seq":2,`, ``},
		{`"commit":1`, `"commit":3`}, {`"commit":1`, `"commit":0`},
		{`"charge"`, `"result"`}, {`"charge"`, `"refund"`}, {`"id":"a"`, `"id":""`},
		{`"id":"a"`, `"id":"\u0061"`}, {`"id":"a"`, `"id":"\n"`},
		{`Z"`, `+00:00"`}, {`"count":3`, `"count":0`}, {`"count":3`, `"count":-3`}, {`"count":3,`, ``},
		{`"epsilon":"5"`, `"epsilon":"0"`}, {`"epsilon":"5"`, `"epsilon":"05"`},
		{`"epsilon":"5"`, `"epsilon":5`}, {`"epsilon":"5"`, `"epsilon":"-5"`},
		{`"event":{}`, `"event":{ }`}, {`"event":{},`, ``}, {`"previous":"0`, `"previous":"g`},
		{`"previous":"00`, `"previous":"`},
		{`"neighbours":"replace"`, `"neighbours":"other"`}, {`"neighbours":"replace",`, ``},
		{`"ensemble":"e",`, ``}, {`"ensemble":"e"`, `"ensemble":""`},
		{`"ensemble":"e"`, `"ensemble":"\n"`}, {`"ensemble_digest":"d"`, `"ensemble_digest":""`},
		{`"ensemble_digest":"d"`, `"ensemble_digest":"\n"`},
		{`"name":"n"`, `"name":""`}, {`"name":"n"`, `"name":"\n"`}, {`"votes":"01`, `"votes":"00`},
		{`"votes":"01`, `"votes":"`}, {`"query":true`, `"query":false`},
		{`"query":true`, `"query":true,"more":1`},
		{`}`, `},"extra":1`}, {`{"seq"`, ` {"seq"`},
	})
	e.Draw, e.Count, e.Quota = nil, 1, &Quota{Table: Digest{1}, Answers: 7}
	refuse(t, &e, [][2]string{
		{`"answers":7`, `"answers":0`}, {`"answers":7`, `"answers":07`}, {`,"answers":7`, ``},
		{`"answers":7`, `"answers":7,"taken":0`}, {`"table":"01`, `"table":"00`},
		{`"table":"01`, `"table":"`}, {`"count":1`, `"count":2`}, {`"quota":`, `"draw":`},
		{`"ensemble":"e"`, `"paid_by":"p","ensemble":"e"`},
	})
	e.PaidBy, e.Unit, e.Quota = "p", Cost{}, &Quota{Table: Digest{1}}
	refuse(t, &e, [][2]string{
		{`0"},"event"`, `0","answers":0},"event"`}, {`0"},"event"`, `0","answers":7},"event"`},
		{`"count":1`, `"count":0`}, {`"table":"01`, `"table":"00`}, {`"paid_by":"p",`, ``},
		{`"epsilon":"0"`, `"epsilon":"1"`},
	})
	if _, err := decodeEntry(append(b, '\n')); err == nil {
		t.Error("bytes after the entry are accepted")
	}
}

func TestHeadText(t *testing.T) {
	h := Head{12, Digest{0xab}}
	if got, err := ParseHead(h.String()); err != nil || got != h {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", "12", "012:" + h.Hash.String(), "-1:" + h.Hash.String(),
		"12:" + strings.ToUpper(h.Hash.String()), h.String() + "0", " " + h.String()} {
		if got, err := ParseHead(s); err == nil {
			t.Errorf("ParseHead(%q) = %v", s, got)
		}
	}
}
