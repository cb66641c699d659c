package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
)

// Field is a field of research: its kinds of computation, the looks of its methods, and the
// experiments of its sources.
type Field struct {
	Kinds []Kind
	Looks map[Method]Look
	Paper string // that the experiments repeat, as people cite it
	// Files holds definitions/NAME.json for each of Names, which are in the source's order.
	Files fs.FS
	Names []string
}

// Kind is one thing that experiments compute. Definitions call it by its name.
type Kind struct {
	Name string
	// New returns the parameters that a definition is decoded over: a pointer, with whatever
	// Run needs that is no parameter in unexported fields.
	New func() Parameters
	// Spec is field.json's if nil.
	Spec *Spec
}

// KindOf returns a kind whose parameters are a T that New sets to zero.
func KindOf[T any, P interface {
	*T
	Parameters
}](name string) Kind {
	return Kind{Name: name, New: func() Parameters { return P(new(T)) }}
}

// Parameters are the parameters of one experiment, the JSON object of its definition.
type Parameters interface {
	// Validate returns the first rule that a parameter breaks.
	Validate() error
	// Steps returns the number of times Run calls Step, for the progress.
	Steps() int
	// Run works the experiment out by Step, and tells r what it found: tables, claims,
	// notes, figures. It depends on nothing but the parameters, r.Seed, and what Inputs
	// names.
	Run(r *Run) error
}

// inputs is implemented by the Parameters of an experiment that reads files.
type inputs interface {
	// Inputs returns the hash of what is read below the folder root, by names for people.
	Inputs(ctx context.Context, root string) (map[string]string, error)
}

// needy is implemented by the Parameters of an experiment that cannot run without files.
type needy interface {
	// NeedsData returns the folder of those files, below Options.Data.
	NeedsData() string
}

// Catalog holds the kinds and the built-in experiments of some fields.
type Catalog struct {
	kinds   map[string]Kind
	looks   map[Method]Look
	builtin []Definition // in the order of the fields, those that need data last
	sources map[string][]byte
}

// New returns the catalog of the fields. Two kinds, methods or experiments of one name, and
// a built-in definition that is not valid, are mistakes of a program and panic.
func New(fields ...Field) *Catalog {
	c := &Catalog{kinds: map[string]Kind{}, looks: map[Method]Look{}, sources: map[string][]byte{}}
	for _, f := range fields {
		for _, k := range f.Kinds {
			addOnce(c.kinds, k.Name, k)
		}
		for m, l := range f.Looks {
			addOnce(c.looks, m, l)
		}
		for _, name := range f.Names {
			source, err := fs.ReadFile(f.Files, "definitions/"+name+".json")
			if err != nil {
				panic(fmt.Sprintf("experiment: built-in %s: %v", name, err))
			}
			addOnce(c.sources, name, source)
		}
	}
	for _, f := range fields {
		for _, name := range f.Names {
			d, err := c.Load(name)
			if err != nil {
				panic(fmt.Sprintf("experiment: built-in %v", err))
			}
			d.Paper = f.Paper
			c.builtin = append(c.builtin, d)
		}
	}
	slices.SortStableFunc(c.builtin, func(a, b Definition) int {
		return cmp.Compare(min(1, len(a.NeedsData())), min(1, len(b.NeedsData())))
	})
	return c
}

func addOnce[K comparable, V any](m map[K]V, key K, value V) {
	if _, taken := m[key]; taken {
		panic(fmt.Sprintf("experiment: %v is registered twice", key))
	}
	m[key] = value
}

// List returns the built-in experiments in the order of the sources, those that need data
// last.
func (c *Catalog) List() []Definition { return slices.Clone(c.builtin) }

// position returns the index of an experiment in List, where others come last.
func (c *Catalog) position(name string) int {
	i := slices.IndexFunc(c.builtin, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return len(c.builtin)
	}
	return i
}

// maxDefinition is far more than any definition has: the built-in ones are below 3 kB.
const maxDefinition = 1 << 20

// Load returns the built-in experiment of that name, or the one in the file of that
// path: anything with a path separator or ending in ".json" is a path, of a regular file of
// at most a megabyte. An unknown name is ErrUnknown and lists the known ones.
func (c *Catalog) Load(nameOrPath string) (Definition, error) {
	var data []byte
	var err error
	if strings.HasSuffix(nameOrPath, ".json") || strings.ContainsAny(nameOrPath, `/\`) {
		data, err = readfile.Whole(context.Background(), nameOrPath, maxDefinition)
	} else {
		data, err = c.Source(nameOrPath)
	}
	if err != nil {
		return Definition{}, err
	}
	d, err := c.Parse(data)
	if err != nil {
		return Definition{}, fmt.Errorf("%s: %w", nameOrPath, err)
	}
	return d, nil
}

// ErrUnknown is a name that no built-in experiment has.
var ErrUnknown = errors.New("experiment")

// Source returns the definition file of a built-in experiment, to be changed and given
// to Load.
func (c *Catalog) Source(name string) ([]byte, error) {
	data, ok := c.sources[name]
	if !ok {
		var names []string
		for _, d := range c.builtin {
			names = append(names, d.Name)
		}
		return nil, fmt.Errorf("%w = %q, but it must be a file ending in .json or one of %s", ErrUnknown,
			name, strings.Join(names, ", "))
	}
	return slices.Clone(data), nil
}

func (c *Catalog) kind(name string) (Kind, error) {
	k, ok := c.kinds[name]
	if !ok {
		return k, check.Want("kind", fmt.Sprintf("%q", name), "one of "+
			strings.Join(slices.Sorted(maps.Keys(c.kinds)), ", "))
	}
	return k, nil
}
