package votes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func jsonl(opts Options) Options {
	opts.Format = FormatJSONL
	return opts
}

func TestReadJSONL(t *testing.T) {
	z := []string{"0", "1"}
	tests := []struct {
		name string
		in   string
		opts Options
		want all
	}{
		{"list", "{\"query\":\"q\",\"votes\":[0,1,1],\"label\":1}\n", Options{},
			all{K: 3, Counts: []int{1, 2}, IDs: []string{"q"}, Labels: []int{1}, N: 1}},
		{"keys, as pandas writes them", `{"id":7,"t1":0,"t2":1.0}` + "\n" + `{"t2":0,"t1":true,"id":8}`,
			Options{}, all{K: 2, Counts: []int{1, 1, 1, 1}, IDs: []string{"7", "8"}, N: 2}},
		{"spaces and escapes",
			" { \"\\u0071uery\" : \"a\\n\\u00e9\\\"\" , \"votes\" : [ \"0\" , true , 1e0 ] } \r\n",
			Options{}, all{K: 3, Counts: []int{1, 2}, IDs: []string{"a\né\""}, N: 1}},
		{"counts as a list", `{"counts":[3,8]}`, Options{Layout: LayoutCounts},
			all{K: 11, Counts: []int{3, 8}, N: 1}},
		{"counts by key", `{"ones":8,"zeros":3,"truth":0}`, Options{Layout: LayoutCounts},
			all{K: 11, Counts: []int{3, 8}, Labels: []int{0}, N: 1}},
		{"counts by other keys", `{"yes":8,"no":3}`,
			Options{Layout: LayoutCounts, VoteColumns: []string{"no", "yes"}},
			all{K: 11, Counts: []int{3, 8}, N: 1}},
		{"other list", `{"v":[1,0],"x":1}`, Options{VotesColumn: "v", LabelColumn: "x"},
			all{K: 2, Counts: []int{1, 1}, Labels: []int{1}, N: 1}},
		{"label is a vote", `{"label":1}`, Options{LabelColumn: NoColumn, K: 1},
			all{K: 1, Counts: []int{0, 1}, N: 1}},
		{"classes", `{"votes":["cat","dog","cat"]}`, Options{Classes: []string{"cat", "dog"}},
			all{K: 3, Classes: []string{"cat", "dog"}, Counts: []int{2, 1}, N: 1}},
		{"integers", `{"votes":[5,"8",5.0,-8]}`, Options{Classes: []string{"5", "8", "-8"}},
			all{K: 4, Classes: []string{"5", "8", "-8"}, Counts: []int{2, 1, 1}, N: 1}},
		{"missing", `{"votes":[null,1,"","NA"]}`, Options{Missing: MissingCoin, KeepVotes: true},
			all{K: 4, Counts: []int{0, 1}, Missing: []int{3}, Votes: []int{-1, 1, -1, -1}, N: 1}},
		{"a class called NA is no missing vote", `{"votes":["NA","x",null]}`,
			Options{Missing: MissingCoin, Classes: []string{"x", "NA"}},
			all{K: 3, Classes: []string{"x", "NA"}, Counts: []int{1, 1}, Missing: []int{1}, N: 1}},
		{"keys in another order keep the teachers' order", "{\"t1\":0,\"t2\":1}\n{\"t2\":0,\"t1\":1}",
			Options{KeepVotes: true}, all{K: 2, Counts: []int{1, 1, 1, 1}, Votes: []int{0, 1, 1, 0}, N: 2}},
		{"byte order mark, blank lines at the end", "\ufeff{\"votes\":[1]}\n\n\n", Options{},
			all{K: 1, Counts: []int{0, 1}, N: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want.Classes == nil {
				tt.want.Classes = z
			}
			for _, size := range []int{0, 1, 5} {
				tt.opts.chunkBytes = size
				got, err := readAll(strings.NewReader(tt.in), jsonl(tt.opts))
				if err != nil || !reflect.DeepEqual(*got, tt.want) {
					t.Errorf("chunks of %d: got %+v, %v, want %+v", size, got, err, tt.want)
				}
			}
		})
	}
}

func TestReadJSONLRefuses(t *testing.T) {
	counts := Options{Layout: LayoutCounts}
	for _, tt := range []struct {
		name string
		in   string
		opts Options
		line int
		rule string
	}{
		{"empty", "", Options{}, 0, "empty"},
		{"blank lines", "\n\n", Options{}, 0, "empty"},
		{"blank line first", "\n{\"votes\":[1]}\n", Options{}, 1, "blank line before a row: leave blank lines out"},
		{"blank line between", "{\"votes\":[1]}\n\n\n{\"votes\":[1]}\n", Options{}, 2, "blank line"},
		{"CSV", "0,1\n", Options{}, 1, "not a JSON object"},
		{"a list", "[0,1]\n", Options{}, 1, `(jq -c '{votes: .}' makes one of a list of votes)`},
		{"one object on several lines", "{\n \"votes\": [1]\n}\n", Options{}, 1, "JSON Lines have one object on each line"},
		{"one list of all", "[\n{\"votes\":[1]}]", Options{}, 1, "the line begins a list in JSON"},
		{"cut off", "{\"votes\":[1]}\n{\"votes\":[1", Options{}, 2,
			"the line is not JSON: jsontext: unexpected EOF"},
		{"two on a line", "{\"votes\":[1]}{\"votes\":[1]}\n", Options{}, 1, "after top-level value"},
		{"no votes", "{}\n", Options{}, 1, "there is no key of votes"},
		{"only an id", "{\"id\":1}\n", Options{}, 1, "there is no key of votes"},
		{"empty list", "{\"votes\":[]}\n", Options{}, 1, "there is no vote"},
		{"vote 2", "{\"votes\":[1]}\n{\"votes\":[2]}\n", Options{}, 2,
			`key "votes", item 1: vote "2" is not 0 or 1`},
		{"vote 0.5", "{\"t1\":0.5}\n", Options{}, 1, `key "t1": vote "0.5" is not 0 or 1`},
		{"vote 1e300", "{\"t1\":1e300}\n", Options{}, 1, `vote "1e300"`},
		{"vote 1e999", "{\"t1\":1e999}\n", Options{}, 1, `vote "1e999"`},
		{"vote null", "{\"t1\":null}\n", Options{}, 1, "the vote is missing"},
		{"vote in an object", "{\"t1\":{\"t2\":1}}\n", Options{}, 1, `vote "{\"t2\":1}" is not`},
		{"list in a list", "{\"votes\":[[1]]}\n", Options{}, 1, `vote "[1]" is not`},
		{"list of another name", "{\"v\":[1]}\n", Options{}, 1,
			`which key holds the list of votes (votes column)?`},
		{"shorter list", "{\"votes\":[1,0]}\n{\"votes\":[1]}\n", Options{}, 2,
			"1 votes, but the first line has 2"},
		{"longer list", "{\"votes\":[1,0]}\n{\"votes\":[1,0,0]}\n", Options{}, 2,
			"3 votes, but the first line has 2"},
		{"no list later", "{\"votes\":[1,0]}\n{\"votes\":1}\n", Options{}, 2, `key "votes": not a list`},
		{"no list at once", "{\"votes\":1}\n", Options{VotesColumn: "votes"}, 1,
			`key "votes": not a list`},
		{"key of nothing", "{\"votes\":[1],\"x\":1}\n", Options{}, 1,
			`key "x": it is neither id, label nor "votes"`},
		{"new key", "{\"t1\":1}\n{\"t1\":1,\"t2\":1}\n", Options{}, 2,
			`the key "t2" is not in the first line`},
		{"lost key", "{\"t1\":1,\"t2\":1}\n{\"t1\":1}\n", Options{}, 2,
			`the key "t2" of the first line is missing`},
		{"key twice at once", "{\"t1\":1,\"t1\":1}\n", Options{}, 1, `"t1" appears twice`},
		{"key twice instead of another", "{\"t1\":1,\"t2\":1}\n{\"t1\":1,\"t1\":1}\n", Options{}, 2,
			`"t1" appears twice`},
		{"key twice, escaped", "{\"t1\":1,\"t2\":1}\n{\"t1\":1,\"\\u0074\\u0031\":1}\n", Options{}, 2,
			`"t1" appears twice`},
		{"two ids", "{\"id\":1,\"query\":1,\"t1\":1}\n", Options{}, 1, `could be the id too`},
		{"id is null", "{\"id\":null,\"t1\":1}\n", Options{}, 1, "neither a string nor a whole number"},
		{"id is 1.5", "{\"id\":1.5,\"t1\":1}\n", Options{}, 1, "neither a string nor a whole number"},
		{"id is empty", "{\"id\":\"\",\"t1\":1}\n", Options{}, 1, "id is empty"},
		{"id with NUL", "{\"id\":\"\\u0000\",\"t1\":1}\n", Options{}, 1, "NUL"},
		{"id twice", "{\"id\":\"x\",\"t1\":1}\n{\"id\":\"y\",\"t1\":1}\n{\"id\":\"x\",\"t1\":1}\n",
			Options{}, 3, `"x" is already in line 1`},
		{"label 2", "{\"label\":2,\"t1\":1}\n", Options{}, 1, `label "2" is not 0 or 1`},
		{"id not there", "{\"t1\":1}\n", Options{IDColumn: "x"}, 1, `no key "x" for the id`},
		{"K", "{\"votes\":[1]}\n", Options{K: 2}, 1, "1 votes, but K = 2"},
		{"counts differ", "{\"counts\":[1,2]}\n{\"counts\":[1,3]}\n", counts, 2,
			"sum to K = 4, but to K = 3 in line 1"},
		{"counts 0", "{\"counts\":[0,0]}\n", counts, 1, "no votes"},
		{"counts of three", "{\"counts\":[1,0,1]}\n", counts, 1, "3 counts, want 2"},
		{"count -1", "{\"counts\":[1,-1]}\n", counts, 1, "not a whole number"},
		{"count 1.0", "{\"counts\":[1,1.0]}\n", counts, 1, "not a whole number"},
		{"count null", "{\"counts\":[1,null]}\n", counts, 1, "the count is missing"},
		{"count huge", "{\"counts\":[1,2002]}\n", counts, 1, "at most 2001"},
		{"a count for nothing", "{\"zeros\":1,\"ones\":1,\"x\":1}\n", counts, 1,
			`key "x": the key is neither`},
		{"zeros twice", "{\"zeros\":1,\"n0\":1}\n", counts, 1, "could be the zeros too"},
		{"no ones", "{\"zeros\":1}\n", counts, 1, `no key with the ones`},
		{"bad UTF-8", "{\"votes\":[1]}\n{\"votes\":[1],\"\xff\":1}\n", Options{}, 2, "UTF-8"},
		{"lone CR", "{\"votes\":\r[1]}\n", Options{}, 1, "carriage return"},
		{"too long", "{\"votes\":[1]}\n{\"votes\":[1]" + strings.Repeat(" ", maxRecordBytes) + "}\n",
			Options{}, 2, "record longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Name = "v.jsonl"
			_, err := readAll(strings.NewReader(tt.in), jsonl(tt.opts))
			var p *ParseError
			if !errors.As(err, &p) || p.File != "v.jsonl" || p.Line != tt.line || p.Column != 0 ||
				!strings.Contains(p.Rule, tt.rule) {
				t.Fatalf("got %v, want line %d, no column: %s", err, tt.line, tt.rule)
			}
			if strings.Contains(p.Rule, "quote") {
				t.Errorf("%v: no quote is ever left open in JSON Lines", err)
			}
			tt.opts.chunkBytes, tt.opts.Workers = 2, 3
			if _, again := readAll(iotest.OneByteReader(strings.NewReader(tt.in)), jsonl(tt.opts)); again ==
				nil || again.Error() != err.Error() {
				t.Errorf("in small pieces %v, want %v", again, err)
			}
		})
	}
}

func TestJSONLReaderFailure(t *testing.T) {
	boom := errors.New("boom")
	in := "{\"votes\":[1]}\n{\"votes\":[0]}\n"
	for n := range in {
		r := io.MultiReader(strings.NewReader(in[:n]), iotest.ErrReader(boom))
		if got, err := readAll(r, jsonl(Options{chunkBytes: 4})); !errors.Is(err, boom) {
			t.Errorf("failure after %d bytes: %+v, %v", n, got, err)
		}
	}
}

// slowJSON is an independent reading with encoding/json: lists of votes, with ids
// and labels, and nothing else.
func slowJSON(data []byte) (*all, error) {
	a := &all{Classes: IntegerClasses(2)}
	for line := range bytes.Lines(data) {
		var v struct {
			Query *string
			Votes []json.Number
			Label *json.Number
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		if a.N == 0 {
			a.K = len(v.Votes)
		}
		if len(v.Votes) != a.K {
			return nil, errors.New("K")
		}
		counts := [2]int{}
		for _, n := range v.Votes {
			f, err := n.Float64()
			if err != nil || f != 0 && f != 1 {
				return nil, fmt.Errorf("vote %s", n)
			}
			counts[int(f)]++
		}
		a.Counts = append(a.Counts, counts[:]...)
		if v.Query != nil {
			a.IDs = append(a.IDs, strings.TrimSpace(*v.Query))
		}
		if v.Label != nil {
			f, err := v.Label.Float64()
			if err != nil || f != 0 && f != 1 {
				return nil, errors.New("label")
			}
			a.Labels = append(a.Labels, int(f))
		}
		a.N++
	}
	return a, nil
}

func TestJSONLAgainstEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "K")
		withID, withLabel := rapid.Bool().Draw(t, "id"), rapid.Bool().Draw(t, "label")
		number := rapid.SampledFrom([]string{"0", "1", "0.0", "1.0", "1e0", "-0", "10e-1"})
		space := rapid.SampledFrom([]string{"", " ", "\t", "  "})
		var b strings.Builder
		for i := range rapid.IntRange(1, 10).Draw(t, "lines") {
			var members []string
			var votes []string
			for range k {
				votes = append(votes, space.Draw(t, "space")+number.Draw(t, "vote")+space.Draw(t, "space"))
			}
			members = append(members, `"votes"`+space.Draw(t, "space")+":"+"["+strings.Join(votes, ",")+"]")
			if withID {
				id, _ := json.Marshal(fmt.Sprintf("%d %s", i,
					rapid.StringN(0, 5, -1).Filter(func(s string) bool {
						return !strings.ContainsAny(s, "\x00\r\ufeff")
					}).Draw(t, "id")))
				members = append(members, `"query":`+string(id))
			}
			if withLabel {
				members = append(members, `"label":`+number.Draw(t, "label"))
			}
			members = rapid.Permutation(members).Draw(t, "order")
			b.WriteString(space.Draw(t, "space") + "{" +
				strings.Join(members, space.Draw(t, "space")+","+space.Draw(t, "space")) + "}" +
				space.Draw(t, "space") + "\n")
		}
		want, err := slowJSON([]byte(b.String()))
		if err != nil {
			t.Fatalf("%s: %v", b.String(), err)
		}
		got, err := readAll(strings.NewReader(b.String()),
			jsonl(Options{chunkBytes: rapid.IntRange(0, 40).Draw(t, "chunk")}))
		same(t, b.String(), got, err, want, nil)
	})
}

// A number is a vote if it is exactly a class, not if it rounds to one.
// A number has at most 18 digits, as the names of classes have: more are never written out.
func TestJSONNumbersHaveFewDigits(t *testing.T) {
	for number, want := range map[string]int64{"1e17": 1e17, "-12.5e16": -125e15, "1e18": 0, "9e18": 0,
		"1e100": 0, "123456789012345678": 123456789012345678, "1234567890123456789": 0} {
		if n, ok := decimalInt(number); n != want || ok != (want != 0) {
			t.Errorf("%s: %d, %v", number, n, ok)
		}
	}
}

func TestJSONVotesAreExact(t *testing.T) {
	zeros := strings.Repeat("0", 400)
	for number, want := range map[string]int{
		"0": 0, "-0": 0, "0.0": 0, "-0.00": 0, "0e999999999999999999999": 0, "0E-400": 0, "1": 1,
		"1.0": 1, "1e0": 1, "10e-1": 1, "0.1e1": 1, "1" + zeros + "e-400": 1,
		"0." + zeros + "1e401": 1, "300": 2, "3e2": 2, "3.00E+2": 2, "-5": 3, "-0.5e1": 3,
		"9007199254740993": 4, "9007199254740993.0": 4,
		"1e-400": -1, "-1e-400": -1, "0.99999999999999999999": -1, "1.00000000000000000001": -1,
		"4.9e-324": -1, "299.99999999999999": -1,
		"1e1": -1, "1e400": -1, "1e999999999999999999999": -1, "1e-999999999999999999999": -1, "0.1": -1,
		"-1": -1, "9007199254740992": -1, "9007199254740992.5": -1, "5": -1,
	} {
		for _, chunk := range []int{0, 1} {
			opts := jsonl(Options{Classes: []string{"0", "1", "300", "-5", "9007199254740993"},
				chunkBytes: chunk})
			for _, line := range []string{`{"votes":[` + number + `,0]}`, `{"t1":` + number + `,"t2":0}`,
				`{"votes":[0,0],"label":` + number + `}`} {
				got, err := readAll(strings.NewReader(line), opts)
				switch {
				case want < 0 && err == nil && !(number == "-1" && got.Labels != nil):
					t.Errorf("%s: accepted as %+v", line, got)
				case want >= 0 && err != nil:
					t.Errorf("%s: %v", line, err)
				case want > 0 && got.Labels == nil && got.Counts[want] != 1, want >= 0 && got.Labels != nil &&
					got.Labels[0] != want:
					t.Errorf("%s: %+v, want class %d", line, got, want)
				}
			}
		}
	}
}

// Lines that are nearly right mean the same wherever the chunks are cut.
func TestJSONLInAnyChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := jsonl(Options{Classes: rapid.SampledFrom([][]string{nil, {"1", "a b", "true"}}).Draw(t,
			"classes")})
		var line func(i int) string
		space := func() string { return rapid.SampledFrom([]string{"", "", " ", "  "}).Draw(t, "space") }
		value := rapid.SampledFrom([]string{"0", "1", "1", "1", `"1"`, "true", "false", `"a b"`,
			`"\u0031"`, "1.0", "null", "2", "01", "é", `""`, "[1]", "truex"})
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			line = func(i int) string {
				return fmt.Sprintf(`{"votes":%s[%s,%s%s],"id":"%d"%s}`, space(), value.Draw(t, "vote"), space(),
					value.Draw(t, "vote"), i, space())
			}
		case 1:
			line = func(i int) string {
				return fmt.Sprintf(`{%s"a":%s%s,"label":%s,"b"%s:%s}`, space(), space(), value.Draw(t, "vote"),
					value.Draw(t, "label"), space(), value.Draw(t, "vote"))
			}
		case 2:
			opts.Layout = LayoutCounts
			count := rapid.SampledFrom([]string{"1", "2", "3", "00", "12345", "123456", "-1", "1.0", "null"})
			line = func(i int) string {
				return fmt.Sprintf(`%s{"counts":[%s,%s%s]}%s`, space(), count.Draw(t, "count"), space(),
					count.Draw(t, "count"), space())
			}
		}
		opts.KeepVotes = opts.Layout != LayoutCounts && rapid.Bool().Draw(t, "keep")
		var b strings.Builder
		for i := range rapid.IntRange(1, 6).Draw(t, "lines") {
			s := line(i)
			if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
				s = s[:at] + rapid.SampledFrom([]string{"", "}", ",", " ", "\"", "\\", "\t", "x"}).Draw(t,
					"change") + s[at+1:]
			}
			b.WriteString(s + "\n")
		}
		want, wantErr := readAll(strings.NewReader(b.String()), opts)
		opts.chunkBytes = rapid.IntRange(1, 30).Draw(t, "chunk")
		got, err := readAll(strings.NewReader(b.String()), opts)
		same(t, b.String(), got, err, want, wantErr)
	})
}

// What is accepted means the same to encoding/json, however it is cut.
func FuzzJSONL(f *testing.F) {
	for _, s := range []string{
		"{\"query\":\"q\",\"votes\":[0,1,1],\"label\":1}\n",
		"{\"id\":7,\"t1\":0,\"t2\":1.0}\n{\"t2\":0,\"t1\":true,\"id\":8}",
		"{\"counts\":[3,8]}\n{\"zeros\":1}", "\ufeff{\"votes\":[1]}\r\n\r\n",
		"{\"votes\":[[1],{\"a\":[\"]\"]}]}", "{\"a\\u0062\":\"\\\\\\\"\"}\n", "[",
		"{\"votes\":[1e0,-0,\"1\"]}",
	} {
		for mode := range uint8(8) {
			f.Add([]byte(s), mode)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		opts := Options{Format: FormatJSONL}
		if mode&1 == 1 {
			opts.Layout = LayoutCounts
		} else {
			opts.Missing = MissingPolicy(mode >> 1 & 1)
			opts.KeepVotes = mode>>2&1 == 1
		}
		want, wantErr := readAll(bytes.NewReader(data), opts)
		for _, size := range []int{0, 1, 9} {
			opts.chunkBytes, opts.Workers = size, 2
			got, err := readAll(iotest.OneByteReader(bytes.NewReader(data)), opts)
			same(t, fmt.Sprintf("chunks of %d", size), got, err, want, wantErr)
		}
		if wantErr != nil {
			return
		}
		objects := 0
		for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
				continue
			}
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("accepted %q, encoding/json says %v", line, err)
			}
			objects++
		}
		if objects != want.N || want.K < 1 {
			t.Fatalf("%d objects, %+v", objects, want)
		}
	})
}

// A list falls into the items that encoding/json finds in it.
func TestFirstItem(t *testing.T) {
	items := []string{`0`, `-1.5e3`, `"a"`, `",]"`, `"\\"`, `"\",["`, `[1,[2,"]"]]`, `{"a":[1,2],"b":",}"}`,
		`null`, `true`, `""`, `[]`, `{}`}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.SampledFrom(items)).Draw(t, "items")
		space := rapid.SampledFrom([]string{"", " ", "\t", " \r\n "})
		var text strings.Builder
		for i, item := range list {
			if i > 0 {
				text.WriteString(",")
			}
			text.WriteString(space.Draw(t, "before") + item + space.Draw(t, "after"))
		}
		var want []json.RawMessage
		if err := json.Unmarshal([]byte("["+text.String()+"]"), &want); err != nil {
			t.Fatal(err)
		}
		rest := trimJSON([]byte(text.String()))
		for n, w := range want {
			var item []byte
			if item, rest = firstItem(rest); string(item) != string(w) {
				t.Fatalf("%q: item %d is %q, want %q", text.String(), n+1, item, w)
			}
		}
		if len(rest) > 0 {
			t.Fatalf("%q: %q is left", text.String(), rest)
		}
	})
}
