package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var ofGoroutines = regexp.MustCompile(`(?i)concurrent\s+use|goroutine|immutable`)

// Which values several goroutines may use is stated of every exported struct with methods, in its
// comment or in its package's. A type whose exported methods write to it has to state it itself.
func TestGoroutinesAreStated(t *testing.T) {
	types := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch d.Name() {
		case "internal", "testdata", "cmd", "docs", "examples", "bench", "proofs", "python", "web",
			"experiment", "beam", "scripts":
			return fs.SkipDir
		}
		if strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		types += checkGoroutines(t, path)
		return nil
	})
	if err != nil || types < 150 {
		t.Fatalf("%d types, %v", types, err)
	}
}

// checkGoroutines checks the types of a folder and returns their number.
func checkGoroutines(t *testing.T, dir string) (types int) {
	t.Helper()
	set, files := token.NewFileSet(), []*ast.File{}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return 0
	}
	writers := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				if name, writes := writesToReceiver(d); writes {
					writers[name] = true
				}
			}
		}
	}
	p, err := doc.NewFromFiles(set, files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range p.Types {
		if !isStruct(typ.Decl) || len(typ.Methods) == 0 || strings.HasSuffix(typ.Name, "Error") {
			continue
		}
		types++
		own := ofGoroutines.MatchString(typ.Doc)
		if !own && !ofGoroutines.MatchString(p.Doc) {
			t.Errorf("%s.%s: which goroutines may use it?", dir, typ.Name)
		}
		if writers[typ.Name] && !own {
			t.Errorf("%s.%s has methods that write to it, and its comment does not name goroutines", dir,
				typ.Name)
		}
	}
	return types
}

func isStruct(d *ast.GenDecl) bool {
	for _, s := range d.Specs {
		if s, ok := s.(*ast.TypeSpec); ok {
			if _, ok := s.Type.(*ast.StructType); ok {
				return true
			}
		}
	}
	return false
}

// writesToReceiver reports whether an exported method assigns to a part of its receiver, and of
// which type.
func writesToReceiver(d *ast.FuncDecl) (name string, writes bool) {
	if d.Recv == nil || !d.Name.IsExported() || len(d.Recv.List[0].Names) == 0 {
		return "", false
	}
	star, ok := d.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return "", false
	}
	id, ok := star.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	receiver := d.Recv.List[0].Names[0].Name
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, e := range s.Lhs {
				writes = writes || partOf(e, receiver)
			}
		case *ast.IncDecStmt:
			writes = writes || partOf(s.X, receiver)
		}
		return true
	})
	return id.Name, writes
}

// partOf reports whether e is a field of the variable, or of its fields, or what it points to.
func partOf(e ast.Expr, name string) bool {
	for part := false; ; part = true {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			return part && x.Name == name
		default:
			return false
		}
	}
}
