package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/strictjson"
)

// formatVersion is the version of definition files and of records.
const formatVersion = 1

// Definition is an experiment that can be run. Get one from a Catalog.
type Definition struct {
	Name   string // lower-case letters, digits, '.' and '-': also the name of its folder
	Kind   string
	Title  string // one line, for people
	Source string // which figures and tables of the source it repeats
	About  string // what a reader has to know
	Paper  string // the Field's, of a built-in experiment

	catalog     *Catalog
	full, quick Parameters // validated; quick is nil where the file has no quick part
}

// Quick reports whether the definition has a shorter form of its own.
func (d Definition) Quick() bool { return d.quick != nil }

// NeedsData returns the folder of files that the experiment cannot do without, "" if none.
func (d Definition) NeedsData() string {
	if p, ok := d.full.(needy); ok {
		return p.NeedsData()
	}
	return ""
}

// definitionFile is the JSON form of a Definition.
type definitionFile struct {
	FormatVersion int             `json:"format_version"`
	Name          string          `json:"name"`
	Kind          string          `json:"kind"`
	Title         string          `json:"title"`
	Source        string          `json:"source"`
	About         string          `json:"about"`
	Parameters    json.RawMessage `json:"parameters"`
	// Quick, if there, holds the parameters that are different in a quick run.
	Quick json.RawMessage `json:"quick,omitempty"`
}

// nameRule keeps names fit for a folder on every system.
var nameRule = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,62}[a-z0-9]$`)

// Parse returns the definition in a file. Decoding is strict: an unknown or repeated
// field, a value out of range and anything after the object are errors that name it.
func (c *Catalog) Parse(data []byte) (Definition, error) {
	var f definitionFile
	if err := strictjson.DecodeKnown(data, maxDefinition, &f); err != nil {
		return Definition{}, err
	}
	if f.FormatVersion != formatVersion {
		return Definition{}, check.Want("format_version", f.FormatVersion, fmt.Sprint(formatVersion))
	}
	if !nameRule.MatchString(f.Name) || strings.HasSuffix(f.Name, quickSuffix) {
		return Definition{}, check.Want("name", fmt.Sprintf("%q", f.Name),
			"2 to 64 of a-z, 0-9, '.' and '-', a letter or digit at both ends, not ending in "+
				quickSuffix)
	}
	if f.Title == "" {
		return Definition{}, check.Want("title", `""`, "given")
	}
	if len(f.Parameters) == 0 {
		return Definition{}, errors.New("parameters are missing")
	}
	kind, err := c.kind(f.Kind)
	if err != nil {
		return Definition{}, err
	}
	d := Definition{Name: f.Name, Kind: f.Kind, Title: f.Title, Source: f.Source, About: f.About,
		catalog: c}
	if d.full, err = kind.decode(f.Parameters); err != nil {
		return Definition{}, fmt.Errorf("parameters: %w", err)
	}
	if len(f.Quick) > 0 {
		if d.quick, err = kind.decode(f.Parameters, f.Quick); err != nil {
			return Definition{}, fmt.Errorf("quick: %w", err)
		}
	}
	return d, nil
}

// decode reads the layers of parameters, each over the one before: a field of a later layer
// replaces the earlier one's, lists as a whole.
func (k Kind) decode(layers ...json.RawMessage) (Parameters, error) {
	p := k.New()
	var all json.RawMessage
	for _, l := range layers {
		if bytes.Equal(bytes.TrimSpace(l), []byte("null")) {
			return nil, errors.New("null, but it must be an object")
		}
		all = overlay(all, l)
	}
	if err := strictjson.DecodeKnown(all, maxDefinition, p); err != nil {
		return nil, err
	}
	return p, p.Validate()
}

// overlay returns an object with the fields of both, the later one's where both have them. What
// is no object replaces all. (encoding/json, decoding over a list, would leave fields of its old
// elements in the new ones.)
func overlay(before, after json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil || a == nil || b == nil {
		return after
	}
	for name, v := range b {
		a[name] = overlay(a[name], v)
	}
	merged, err := json.Marshal(a)
	if err != nil {
		return after // cannot happen: its parts were valid
	}
	return merged
}
