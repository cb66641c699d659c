package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a reader of the documentation sees names nothing that he cannot look up: no name that is not
// exported, and no package of internal.
func TestCommentsNameWhatIsExported(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch d.Name() {
		case "internal", "testdata", "cmd", "docs", "examples", "bench", "proofs", "python", "web":
			return fs.SkipDir
		}
		if strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		found := unexportedNames(t, path)
		for place, name := range found {
			t.Errorf("%s names %s", place, name)
		}
		seen++
		return nil
	})
	if err != nil || seen < 40 {
		t.Fatalf("%d folders, %v", seen, err)
	}
}

// unexportedNames returns the names in the comments of a folder's exported declarations, by place.
func unexportedNames(t *testing.T, dir string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	files, hidden := []*ast.File{}, map[string]bool{}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" {
			return nil
		}
		files = append(files, f)
		for _, d := range f.Decls {
			for _, id := range declared(d) {
				hidden[id] = hidden[id] || !ast.IsExported(id)
			}
		}
	}
	found := map[string]string{}
	for _, f := range files {
		for _, c := range exportedComments(f) {
			for _, name := range named(c.Text(), hidden) {
				found[set.Position(c.Pos()).String()] = name
			}
		}
	}
	return found
}

var (
	words = regexp.MustCompile(`\[[a-z]\w*\]|\b[a-z]+[A-Z]\w*\b|\bcheck\.[A-Z]\w*`)
	plain = regexp.MustCompile(`\w+\.$`)
)

// named returns what of a text is a hidden name: in brackets, or written as no word is.
func named(text string, hidden map[string]bool) (names []string) {
	for _, at := range words.FindAllStringIndex(text, -1) {
		word := strings.Trim(text[at[0]:at[1]], "[]")
		if strings.HasPrefix(word, "check.") || hidden[word] && !plain.MatchString(text[:at[0]]) {
			names = append(names, word)
		}
	}
	return names
}

// declared returns the names that a declaration makes at the top of its package.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names = append(names, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// exportedComments returns the comments that the documentation of a file shows.
func exportedComments(f *ast.File) (shown []*ast.CommentGroup) {
	shown = append(shown, f.Doc)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && ofExported(d) {
				shown = append(shown, d.Doc)
			}
		case *ast.GenDecl:
			shown = append(shown, ofSpecs(d)...)
		}
	}
	var there []*ast.CommentGroup
	for _, c := range shown {
		if c != nil {
			there = append(there, c)
		}
	}
	return there
}

// ofExported reports whether a function is no method, or one of an exported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	id, ok := of.(*ast.Ident)
	return ok && id.IsExported()
}

func ofSpecs(d *ast.GenDecl) (shown []*ast.CommentGroup) {
	exported := false
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				exported = true
				shown = append(shown, s.Doc, s.Comment)
				shown = append(shown, ofFields(s.Type)...)
			}
		case *ast.ValueSpec:
			if s.Names[0].IsExported() {
				exported = true
				shown = append(shown, s.Doc, s.Comment)
			}
		}
	}
	if exported {
		shown = append(shown, d.Doc)
	}
	return shown
}

func ofFields(t ast.Expr) (shown []*ast.CommentGroup) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		if len(f.Names) > 0 && f.Names[0].IsExported() {
			shown = append(shown, f.Doc, f.Comment)
		}
	}
	return shown
}
