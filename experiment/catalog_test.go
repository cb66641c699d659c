package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// nothing is a kind that finds nothing.
type nothing struct{ Needs string }

func (*nothing) Validate() error     { return nil }
func (*nothing) Steps() int          { return 0 }
func (*nothing) Run(*Run) error      { return nil }
func (n *nothing) NeedsData() string { return n.Needs }

// Two things of one name, and a built-in definition that is missing or wrong, are found when
// the catalog is made.
func TestNewRefuses(t *testing.T) {
	kind := Kind{Name: "nothing", New: func() Parameters { return &nothing{} }}
	file := func(text string) fstest.MapFS {
		return fstest.MapFS{"definitions/one.json": {Data: []byte(text)}}
	}
	const good = `{"format_version": 1, "name": "one", "kind": "nothing", "title": "one", "parameters": {}}`
	for want, fields := range map[string][]Field{
		"":                      {{Kinds: []Kind{kind}, Files: file(good), Names: []string{"one"}}},
		"nothing is registered": {{Kinds: []Kind{kind}}, {Kinds: []Kind{kind}}},
		"opt is registered twice": {{Looks: map[Method]Look{"opt": {}}},
			{Looks: map[Method]Look{"opt": {}}}},
		"one is registered twice": {{Kinds: []Kind{kind}, Files: file(good),
			Names: []string{"one", "one"}}},
		"two":  {{Kinds: []Kind{kind}, Files: file(good), Names: []string{"two"}}},
		"kind": {{Files: file(good), Names: []string{"one"}}},
	} {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.Contains(text, want) || (text == "") != (want == "") {
					t.Errorf("panic %q, want one with %q", text, want)
				}
			}()
			New(fields...)
		}()
	}
}

// Experiments that need data are the last ones, whichever field they are of.
func TestListEndsWithThoseThatNeedData(t *testing.T) {
	field := func(kind string, names ...string) Field {
		f := Field{Kinds: []Kind{{Name: kind, New: func() Parameters { return &nothing{} }}},
			Files: fstest.MapFS{}, Names: names}
		for _, name := range names {
			needs := ""
			if strings.HasPrefix(name, "data") {
				needs = `"needs": "x"`
			}
			f.Files.(fstest.MapFS)["definitions/"+name+
				".json"] = &fstest.MapFile{Data: []byte(`{"format_version": 1, "name": "` + name +
				`", "kind": "` + kind + `", "title": "x", "parameters": {` + needs + `}}`)}
		}
		return f
	}
	var names []string
	for _, d := range New(field("a", "data-1", "one"), field("b", "two", "data-2")).List() {
		names = append(names, d.Name)
	}
	if want := []string{"one", "two", "data-1", "data-2"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// A method that no field has a look for is an error, not a black line.
func TestFigureWantsLooks(t *testing.T) {
	r := Definition{catalog: New()}.NewRun(context.Background(), Options{})
	if err := r.Figure("x", "", 1,
		[]Panel{{Series: []Series{{Method: "opt", X: []float64{1}, Y: []float64{1}}}}}); err == nil ||
		!strings.Contains(err.Error(), `"opt"`) {
		t.Errorf("got %v", err)
	}
}
