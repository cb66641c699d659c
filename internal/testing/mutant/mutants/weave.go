package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chosen is the environment variable that names the change that a woven binary has.
const chosen = "DARRM_MUTANT"

// called is the environment variable that names the file in which a woven binary notes, by the
// numbers of their changes, the functions that are called.
const called = "DARRM_CALLED"

// chooser is the file of a woven package that knows which change is chosen. A note is one write at
// the end of the file, so that several processes can share it.
const chooser = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	darrmMutant, _ = strconv.Atoi(os.Getenv(%q))
	darrmNotes     = os.Getenv(%q)
	darrmCalled    sync.Map
)

// darrmCall notes a call of the function of change i, and is false.
func darrmCall(i int) bool {
	if _, known := darrmCalled.LoadOrStore(i, true); known {
		return false
	}
	f, err := os.OpenFile(darrmNotes, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(strconv.Itoa(i) + "\n")
		f.Close()
	}
	if err != nil {
		panic(err)
	}
	return false
}
`

// A woven package has many changes at once, so that it is compiled once. Each changed function
// stands there a second time for each of its changes, with a number, and begins with a choice (and
// with a note of the call, where notes are asked for):
//
//	func f(x int) int { if darrmMutant == 7 { return f_7(x) }; … }
type woven struct {
	parts map[string][]part // by base name of the file
	files map[string]string // path to content
}

// A part is a range of lines with the change of the given number.
type part struct{ from, to, number int }

// weave puts the changes, of which there must be one, into one copy of their package.
func weave(points []point) woven {
	w := woven{parts: map[string][]part{}, files: map[string]string{}}
	byFile := map[string][]point{}
	for _, p := range points {
		byFile[p.file] = append(byFile[p.file], p)
	}
	for file, of := range byFile {
		w.files[file] = w.file(filepath.Base(file), of)
	}
	w.files[filepath.Join(filepath.Dir(points[0].file), "darrm_mutant.go")] = fmt.Sprintf(
		chooser, points[0].pkg, chosen, called)
	return w
}

// file returns the source of one file with its points.
func (w *woven) file(base string, of []point) string {
	source := of[0].source
	var edits []point // of the functions as they are
	var copies strings.Builder
	lines := strings.Count(source, "\n") + 2
	named := map[*ast.FuncDecl]bool{}
	for _, p := range of {
		f := newFunction(p)
		edits = append(edits, f.choice(p.number))
		if !named[p.in] {
			named[p.in] = true
			edits = append(edits, f.names...)
		}
		text := f.copied(p)
		n := strings.Count(text, "\n") + 1
		w.parts[base] = append(w.parts[base], part{lines, lines + n - 1, p.number})
		lines += n
		copies.WriteString(text + "\n")
	}
	return apply(source, edits) + "\n" + copies.String()
}

// apply makes all edits, which do not overlap.
func apply(source string, edits []point) string {
	slices.SortStableFunc(edits, func(a, b point) int { return b.from - a.from })
	for _, e := range edits {
		source = source[:e.from] + e.text + source[e.to:]
	}
	return source
}

// A function is the declaration of a changed one.
type function struct {
	decl   *ast.FuncDecl
	source string
	names  []point  // edits that name what has no name
	args   []string // what hands its parameters on
	on     string   // the receiver and a dot
}

func newFunction(p point) *function {
	f := &function{decl: p.in, source: p.source}
	if f.decl.Recv != nil {
		f.on = f.nameAll(f.decl.Recv)[0] + "."
	}
	f.args = f.nameAll(f.decl.Type.Params)
	return f
}

// offset is the place of p in the source, which was parsed alone.
func (f *function) offset(p token.Pos) int { return int(p) - 1 }

// nameAll returns the names of the parameters, and adds edits for those that have none.
func (f *function) nameAll(list *ast.FieldList) []string {
	var all []string
	edit := func(from, to token.Pos, space string) string {
		name := fmt.Sprintf("darrmParameter%d", len(f.names))
		f.names = append(f.names, point{from: f.offset(from), to: f.offset(to), text: name + space})
		return name
	}
	for _, field := range list.List {
		dots := ""
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			dots = "..."
		}
		if len(field.Names) == 0 {
			all = append(all, edit(field.Type.Pos(), field.Type.Pos(), " ")+dots)
		}
		for _, n := range field.Names {
			if n.Name == "_" {
				all = append(all, edit(n.Pos(), n.End(), "")+dots)
			} else {
				all = append(all, n.Name+dots)
			}
		}
	}
	return all
}

// choice is the edit that calls copy i where it is chosen.
func (f *function) choice(i int) point {
	var types []string
	if list := f.decl.Type.TypeParams; list != nil {
		for _, field := range list.List {
			for _, n := range field.Names {
				types = append(types, n.Name)
			}
		}
	}
	call := f.on + fmt.Sprintf("%s_%d", f.decl.Name.Name, i)
	if len(types) > 0 {
		call += "[" + strings.Join(types, ", ") + "]"
	}
	call += "(" + strings.Join(f.args, ", ") + ")"
	if f.decl.Type.Results.NumFields() > 0 {
		call = "return " + call
	} else {
		call += "; return"
	}
	at := f.offset(f.decl.Body.Lbrace) + 1
	return point{from: at, to: at, text: fmt.Sprintf(
		` if darrmMutant == %[1]d || darrmNotes != "" && darrmCall(%[1]d) { %[2]s };`, i, call)}
}

// copied is a copy of the function, with the change p.
func (f *function) copied(p point) string {
	from, to := f.offset(f.decl.Pos()), f.offset(f.decl.End())
	name := f.offset(f.decl.Name.End())
	return fmt.Sprintf("%s_%d%s%s%s", f.source[from:name], p.number,
		f.source[name:p.from], p.text, f.source[p.to:to])
}

var position = regexp.MustCompile(`(?m)^(?:\S*/)?([^/\s]+\.go):(\d+):\d+: `)

// broken returns the numbers of the changes of which the compiler speaks.
func (w *woven) broken(output []byte) map[int]bool {
	found := map[int]bool{}
	for _, m := range position.FindAllSubmatch(output, -1) {
		line, _ := strconv.Atoi(string(m[2])) // the expression admits digits alone
		for _, part := range w.parts[string(m[1])] {
			if part.from <= line && line <= part.to {
				found[part.number] = true
			}
		}
	}
	return found
}
