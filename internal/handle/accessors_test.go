package handle_test

import (
	"bytes"
	"encoding/json"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// notProduct are packages for evidence, tests and commands.
var notProduct = regexp.MustCompile(`/(internal|cmd|bench|experiment|examples|web|docs|scripts|\w+test)(/|$)`)

// notReached has the reason of each accessor that no mechanism, plan or release leads to.
var notReached = map[string]string{}

// everyAccessor demands that each exported method of the product that takes nothing, or a context
// alone, and gives out a pointer, a slice or a map was reached, or has its reason.
func everyAccessor(t *testing.T, reached map[string]bool) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var one struct{ ImportPath, Export string }
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		if err := in.Decode(&one); err != nil {
			t.Fatal(err)
		}
		exports[one.ImportPath] = one.Export
	}
	source := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	accessors := 0
	for path := range exports {
		if !strings.HasPrefix(path+"/", module+"/") || notProduct.MatchString(path) || exports[path] == "" {
			continue
		}
		p, err := source.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			of, ok := p.Scope().Lookup(name).(*types.TypeName)
			named, isNamed := types.Unalias(p.Scope().Lookup(name).Type()).(*types.Named)
			if !ok || !isNamed || !of.Exported() || of.IsAlias() || types.IsInterface(named) {
				continue
			}
			for m := range named.Methods() {
				if !m.Exported() || !takesNothing(m.Signature()) || !givesOut(m.Signature().Results()) {
					continue
				}
				accessors++
				key := path + "." + name + "." + m.Name()
				reason := notReached[strings.TrimPrefix(key, module+"/")]
				if reached[key] == (reason != "") {
					t.Errorf("%s: reached %t, reason %q", key, reached[key], reason)
				}
			}
		}
	}
	if accessors < 60 {
		t.Errorf("%d accessors were found", accessors)
	}
	t.Logf("%d accessors, %d of them with a reason", accessors, len(notReached))
}

func takesNothing(s *types.Signature) bool {
	p := s.Params()
	return p.Len() == 0 || p.Len() == 1 && p.At(0).Type().String() == "context.Context"
}

// givesOut reports whether a result leads to memory that its receiver may share.
func givesOut(results *types.Tuple) bool {
	for v := range results.Variables() {
		if shares(v.Type(), 0) {
			return true
		}
	}
	return false
}

func shares(of types.Type, depth int) bool {
	switch u := of.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && depth < 4 && shares(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}
