package experiment

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
)

// FormatVersion is the version of definition files.
const FormatVersion = 1

// Kind says what an experiment computes.
type Kind string

// The kinds of experiments; each has parameters of its own.
const (
	KindGamma      Kind = "gamma"       // GammaParameters: shapes and errors of noise functions
	KindPriors     Kind = "priors"      // PriorParameters: functions made for one prior under another
	KindAccounting Kind = "accounting"  // AccountingParameters: totals over many queries
	KindNoise      Kind = "gnmax-noise" // NoiseParameters: how much noise GNMax needs
	KindImages     Kind = "images"      // ImageParameters: teachers trained on images
	KindTraining   Kind = "training"    // TrainingParameters: shuffled gradient methods on one data set
	KindPipeline   Kind = "pipeline"    // PipelineParameters: teachers trained so, and their majority
)

// Definition is an experiment that can be run. Get one from Load or Parse.
type Definition struct {
	Name   string // lower-case letters, digits, '.' and '-': also the name of its folder
	Kind   Kind
	Title  string // one line, for people
	Source string // which figures and tables of the source it repeats
	About  string // what a reader has to know

	full, quick parameters // validated; quick is full where the file has no quick part
}

// Quick reports whether the definition has a shorter form of its own.
func (d Definition) Quick() bool { return d.quick != nil }

// NeedsData returns the folder of IDX files that the experiment reads, "" if none.
func (d Definition) NeedsData() string {
	if p, ok := d.full.(*ImageParameters); ok {
		return p.Data
	}
	return ""
}

// parameters are those of one kind.
type parameters interface {
	validate() error
	run(r *run) error
	steps() int // how many steps run takes, for the progress
}

// reader are parameters of an experiment that reads files.
type reader interface {
	// inputs returns the hashes of what is read, by names for people.
	inputs(ctx context.Context, root string) (map[string]string, error)
}

// definitionFile is the JSON form of a Definition.
type definitionFile struct {
	FormatVersion int             `json:"format_version"`
	Name          string          `json:"name"`
	Kind          Kind            `json:"kind"`
	Title         string          `json:"title"`
	Source        string          `json:"source"`
	About         string          `json:"about"`
	Parameters    json.RawMessage `json:"parameters"`
	// Quick, if there, holds the parameters that are different in a quick run.
	Quick json.RawMessage `json:"quick,omitempty"`
}

//go:embed definitions/*.json
var builtin embed.FS

// order is that of the sources, the experiments that need data last.
var order = []string{
	"figure-3.2", "figure-b.4", "figure-b.5", "figure-b.6", "figure-b.7", "figure-b.8", "accounting",
	"crime", "compas", "credit-card", "mnist-69", "cifar-10", "pipeline",
	"mnist", "fashion-mnist",
}

// List returns the built-in experiments in the order of the sources, those that need
// data last.
func List() []Definition {
	files, err := fs.Glob(builtin, "definitions/*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	out := make([]Definition, 0, len(files))
	for _, f := range files {
		d, err := Load(strings.TrimSuffix(path.Base(f), ".json"))
		if err != nil {
			panic(fmt.Sprintf("experiment: built-in definition: %v", err)) // the tests load them all
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Definition) int {
		return slices.Index(order, a.Name) - slices.Index(order, b.Name)
	})
	return out
}

// maxDefinition is far more than any definition has: the built-in ones are below 3 kB.
const maxDefinition = 1 << 20

// Load returns the built-in experiment of that name, or the one in the file of that
// path: anything with a path separator or ending in ".json" is a path, of a regular file of
// at most a megabyte. An unknown name is an error that lists the known ones.
func Load(nameOrPath string) (Definition, error) {
	if strings.HasSuffix(nameOrPath, ".json") || strings.ContainsAny(nameOrPath, `/\`) {
		data, err := readfile.Whole(context.Background(), nameOrPath, maxDefinition)
		if err != nil {
			return Definition{}, err
		}
		d, err := Parse(data)
		if err != nil {
			return Definition{}, fmt.Errorf("%s: %w", nameOrPath, err)
		}
		return d, nil
	}
	data, err := Source(nameOrPath)
	if err != nil {
		return Definition{}, err
	}
	d, err := Parse(data)
	if err != nil {
		return Definition{}, fmt.Errorf("experiment %q: %w", nameOrPath, err)
	}
	return d, nil
}

// ErrUnknown is a name that no built-in experiment has.
var ErrUnknown = errors.New("experiment")

// Source returns the definition file of a built-in experiment, to be changed and given
// to Load.
func Source(name string) ([]byte, error) {
	if !slices.Contains(order, name) {
		return nil, fmt.Errorf("%w = %q, but it must be a file ending in .json or one of %s", ErrUnknown, name, strings.Join(order, ", "))
	}
	return builtin.ReadFile("definitions/" + name + ".json")
}

// nameRule keeps names fit for a folder on every system.
var nameRule = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,62}[a-z0-9]$`)

// Parse returns the definition in a file. Decoding is strict: an unknown or repeated
// field, a value out of range and anything after the object are errors that name it.
func Parse(data []byte) (Definition, error) {
	var f definitionFile
	if err := decodeStrict(data, &f); err != nil {
		return Definition{}, err
	}
	if f.FormatVersion != FormatVersion {
		return Definition{}, &check.Error{Name: "format_version", Value: f.FormatVersion, Rule: fmt.Sprint(FormatVersion)}
	}
	if !nameRule.MatchString(f.Name) || strings.HasSuffix(f.Name, quickSuffix) {
		return Definition{}, &check.Error{Name: "name", Value: fmt.Sprintf("%q", f.Name), Rule: "2 to 64 of a-z, 0-9, '.' and '-', a letter or digit at both ends, not ending in " + quickSuffix}
	}
	if f.Title == "" {
		return Definition{}, &check.Error{Name: "title", Value: `""`, Rule: "given"}
	}
	if len(f.Parameters) == 0 {
		return Definition{}, errors.New("parameters are missing")
	}
	d := Definition{Name: f.Name, Kind: f.Kind, Title: f.Title, Source: f.Source, About: f.About}
	var err error
	if d.full, err = f.Kind.decode(f.Parameters); err != nil {
		return Definition{}, fmt.Errorf("parameters: %w", err)
	}
	if len(f.Quick) > 0 {
		if d.quick, err = f.Kind.decode(f.Parameters, f.Quick); err != nil {
			return Definition{}, fmt.Errorf("quick: %w", err)
		}
	}
	return d, nil
}

// decode reads the layers of parameters, each over the one before.
func (k Kind) decode(layers ...json.RawMessage) (parameters, error) {
	var p parameters
	switch k {
	case KindGamma:
		p = &GammaParameters{}
	case KindPriors:
		p = &PriorParameters{}
	case KindAccounting:
		p = &AccountingParameters{}
	case KindNoise:
		p = &NoiseParameters{}
	case KindImages:
		p = &ImageParameters{}
	case KindTraining:
		p = &TrainingParameters{}
	case KindPipeline:
		p = &PipelineParameters{}
	default:
		return nil, &check.Error{Name: "kind", Value: fmt.Sprintf("%q", string(k)), Rule: fmt.Sprintf("one of %s, %s, %s, %s, %s, %s, %s", KindGamma, KindPriors, KindAccounting, KindNoise, KindImages, KindTraining, KindPipeline)}
	}
	for _, l := range layers {
		if bytes.Equal(bytes.TrimSpace(l), []byte("null")) {
			return nil, errors.New("null, but it must be an object")
		}
		if err := decodeStrict(l, p); err != nil {
			return nil, err
		}
	}
	return p, p.validate()
}
