package experiment

import (
	"image/color"
	"strings"

	"github.com/darrm/darrm/internal/figure"
)

// Method is a way to answer, or to train. Its name is used in files, its Look, which a Field
// brings, in every picture.
type Method string

// Look is a method's title and its style in pictures.
type Look struct {
	Title string   `json:"title"`
	Color hexColor `json:"color"`
	// Dashes are lengths of line and gap in points; none is a full line. Lines that lie on
	// each other are told apart by them.
	Dashes []float64 `json:"dashes"`
	Glyph  int       `json:"glyph"` // 0 circle, 1 pyramid, 2 square, 3 ring, 4 cross, 5 triangle
}

func (l Look) rgb() color.RGBA { return figure.RGB(uint32(l.Color)) }

// Title returns the method's name for people: its name if no field has a look for it.
func (c *Catalog) Title(m Method) string {
	if l, ok := c.looks[m]; ok {
		return l.Title
	}
	return string(m)
}

// Title returns the method's name for people.
func (r *Run) Title(m Method) string { return r.def.catalog.Title(m) }

// Titles returns the methods' names for people, separated by commas.
func (r *Run) Titles(methods []Method) string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = r.Title(m)
	}
	return strings.Join(names, ", ")
}
