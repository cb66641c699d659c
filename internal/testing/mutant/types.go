package mutant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// A typed package is one that the compiler has seen, to be checked with another content of a file.
type typed struct {
	set      *token.FileSet
	names    []string
	files    []*ast.File
	importer types.Importer
}

var (
	loading sync.Mutex
	loaded  = map[string]*typed{} // by folder
)

// load returns the package in dir as the go command sees it on this system, with its tags.
func load(dir string) (*typed, error) {
	loading.Lock()
	defer loading.Unlock()
	if p := loaded[dir]; p != nil {
		return p, nil
	}
	cmd := exec.Command("go", "list", "-export", "-deps",
		"-json=ImportPath,Export,Dir,GoFiles,CgoFiles", ".")
	cmd.Dir = dir
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, talk.String())
	}
	p := &typed{set: token.NewFileSet()}
	exports := map[string]string{} // from path of a package to the file of its types
	p.importer = importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var one struct {
		ImportPath, Export, Dir string
		GoFiles, CgoFiles       []string
	}
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		one.GoFiles, one.CgoFiles = nil, nil
		if err := in.Decode(&one); err != nil {
			return nil, err
		}
		exports[one.ImportPath] = one.Export
	}
	p.names = append(one.GoFiles, one.CgoFiles...) // the last is the package itself
	for _, name := range p.names {
		f, err := parser.ParseFile(p.set, filepath.Join(one.Dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	loaded[dir] = p
	return p, nil
}

// check returns what the compiler would say of the package with other contents of files. A file that
// is none of the package on this system does not count.
func (p *typed) check(contents map[string]string) error {
	loading.Lock() // of the set of files
	defer loading.Unlock()
	files := slices.Clone(p.files)
	for name, content := range contents {
		i := slices.Index(p.names, name)
		if i < 0 {
			continue
		}
		changed, err := parser.ParseFile(p.set, name, content, 0)
		if err != nil {
			return err
		}
		files[i] = changed
	}
	config := types.Config{Importer: p.importer, FakeImportC: true,
		Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := config.Check(files[0].Name.Name, p.set, files, nil)
	return err
}
