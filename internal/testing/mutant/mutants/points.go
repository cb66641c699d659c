package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A point is one change to one file: its bytes from, …, to-1 become text.
type point struct {
	file, source string // path and content
	line         int
	from, to     int
	text         string
	pkg          string        // name of the package
	in           *ast.FuncDecl // in whose body it stands, nil elsewhere
	number       int           // chooses it among those of a woven copy
}

// where names the file and the line of p.
func (p point) where() string { return fmt.Sprintf("%s:%d", filepath.Base(p.file), p.line) }

// changed is the whole file with the change.
func (p point) changed() string { return p.source[:p.from] + p.text + p.source[p.to:] }

// lines are the changed lines of the source, before and after.
func (p point) lines() (before, after string) {
	start := strings.LastIndexByte(p.source[:p.from], '\n') + 1
	end := len(p.source)
	if n := strings.IndexByte(p.source[p.to:], '\n'); n >= 0 {
		end = p.to + n
	}
	before = strings.TrimSpace(p.source[start:end])
	return before, strings.TrimSpace(p.source[start:p.from] + p.text + p.source[p.to:end])
}

// points lists every change of the package in dir, as the default build sees it, in the order of
// the files' names and of the places. Changes that do not compile are among them.
func points(dir string) ([]point, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var all []point
	for _, name := range pkg.GoFiles {
		file, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f := finder{file: file, source: string(source), set: set, pkg: pkg.Name}
		ast.Inspect(tree, f.enter)
		slices.SortStableFunc(f.found, func(a, b point) int {
			return cmp.Or(a.from-b.from, a.to-b.to, strings.Compare(a.text, b.text))
		})
		all = append(all, slices.CompactFunc(f.found, func(a, b point) bool {
			return a.from == b.from && a.to == b.to && a.text == b.text
		})...)
	}
	return all, nil
}

// A finder walks over one file.
type finder struct {
	file, source string
	pkg          string
	set          *token.FileSet
	stack        []ast.Node
	found        []point
}

func (f *finder) enter(n ast.Node) bool {
	if n == nil {
		f.stack = f.stack[:len(f.stack)-1]
		return true
	}
	if len(f.stack) > 0 && idle(f.stack[len(f.stack)-1], n) {
		return false
	}
	f.change(n)
	if words(n) {
		return false
	}
	f.stack = append(f.stack, n)
	return true
}

// idle reports whether a change of n can change nothing. n is then the size that a call above
// reserves in advance, or a number that is returned beside an error or a false.
func idle(above, n ast.Node) bool {
	switch above := above.(type) {
	case *ast.CallExpr:
		if len(above.Args) == 0 || above.Args[len(above.Args)-1] != n {
			return false
		}
		called := name(above.Fun)
		return called == "make" && len(above.Args) == 3 || called == "slices.Grow" ||
			called == "bufio.NewReaderSize" || called == "bufio.NewWriterSize"
	case *ast.ReturnStmt:
		_, literal := n.(*ast.BasicLit)
		last := name(above.Results[len(above.Results)-1])
		return literal && (fails(above) || last == "err" || last == "false")
	}
	return false
}

// fails reports whether s returns an error that is made there.
func fails(s *ast.ReturnStmt) bool {
	call, ok := s.Results[len(s.Results)-1].(*ast.CallExpr)
	return ok && (name(call.Fun) == "fmt.Errorf" || name(call.Fun) == "errors.New")
}

// words reports whether n only words an error. Nothing below such an n is changed.
func words(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Recv != nil && (n.Name.Name == "String" || n.Name.Name == "Error")
	case *ast.CallExpr:
		switch name(n.Fun) {
		case "fmt.Errorf", "errors.New", "panic", "math.Inf", "math.IsInf", "strconv.ParseFloat":
			return true // Inf(2) is Inf(1), and ParseFloat knows 32 and anything else
		}
	}
	return false
}

// name is the name of a called function, with its package or receiver where that is one word.
func name(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if on, ok := x.X.(*ast.Ident); ok {
			return on.Name + "." + x.Sel.Name
		}
		return "." + x.Sel.Name
	}
	return ""
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

// text is the source of n.
func (f *finder) text(n ast.Node) string { return f.source[f.offset(n.Pos()):f.offset(n.End())] }

// replace adds the change of the source from, …, to-1 into text.
func (f *finder) replace(from, to token.Pos, text string) {
	at := f.set.Position(from)
	var in *ast.FuncDecl
	if len(f.stack) > 1 {
		in, _ = f.stack[1].(*ast.FuncDecl)
	}
	if in != nil && from <= in.Body.Lbrace {
		in = nil
	}
	f.found = append(f.found, point{
		file: f.file, source: f.source, line: at.Line, from: at.Offset, to: f.offset(to), text: text,
		pkg: f.pkg, in: in,
	})
}

// result is the list of results of the innermost function, and nil if it has none.
func (f *finder) result() *ast.FieldList {
	for _, n := range slices.Backward(f.stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Type.Results
		case *ast.FuncDecl:
			return n.Type.Results
		}
	}
	return nil
}
