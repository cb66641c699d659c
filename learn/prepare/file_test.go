package prepare

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFile(t *testing.T) {
	rules, err := ParseFile([]byte(`
response = "income_above:50000"
[[column]]
name = "age"
scale = [0, 120]
fill = 40
[[column]]
name = "row_id"
use = false
[[column]]
name = "sex"
categories = ["Male", "Female"]
fill = "missing"
`))
	want := Rules{Response: "income_above:50000", Only: []string{"age", "sex"},
		AllBut: []string{"row_id"},
		Columns: []Column{{Name: "age", Scale: &Range{0, 120}, Fill: text("40")},
			{Name: "sex", Categories: []string{"Male", "Female"}, Fill: text(Missing)}}}
	if err != nil || !reflect.DeepEqual(rules, want) {
		t.Errorf("%+v, %v", rules, err)
	}
	for in, want := range map[string]string{
		"response = 1":                                   "",
		"scales = 1":                                     `"scales" is not known`,
		"[[column]]\nname=\"a\"\nscael=[0,1]":            `"column.scael" is not known`,
		"[[column]]\nname=\"a\"\nscale=[0,1,2]":          `column "a": scale = [0 1 2]`,
		"[[column]]\nname=\"a\"\nscale=[]":               `column "a": scale = []`,
		"[[column]]\nname=\"a\"\n[[column]]\nname=\"a\"": `column "a" is given twice`,
		"response = \"a":                                 "line 1 is no TOML",
	} {
		if _, err := ParseFile([]byte(in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// A described table is read again with its columns, whatever their names are.
func TestDescribeIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.String(), 1, 6, rapid.ID[string]).Draw(t, "names")
		var s Schema
		for _, name := range names {
			s = append(s, SchemaColumn{name, rapid.SampledFrom([]Type{Undeclared, Number, Boolean,
				Text}).Draw(t, "type")})
		}
		response := rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "response")
		var b strings.Builder
		if err := Describe(&b, s, response); err != nil {
			t.Fatal(err)
		}
		rules, err := ParseFile([]byte(b.String()))
		if err != nil || rules.Response != response {
			t.Fatalf("%s\n%v", b.String(), err)
		}
		var used, left []string
		for _, c := range s {
			if Identifier(c.Name) && c.Name != response {
				left = append(left, c.Name)
			} else {
				used = append(used, c.Name)
			}
		}
		if !reflect.DeepEqual(append([]string{}, used...), rules.Only) ||
			!reflect.DeepEqual(left, rules.AllBut) {
			t.Fatalf("%q became %q and %q", names, rules.Only, rules.AllBut)
		}
	})
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("response = \"y\"\n[[column]]\nname = \"a\"\nscale = [0, 1]\n"))
	f.Add([]byte("[[column]]\nuse = false\nfill = 1979-05-27\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ParseFile(in)
		if err == nil && (r.Only == nil || len(r.Columns) != len(r.Only)) {
			t.Errorf("%+v", r)
		}
	})
}
