package experiment

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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

// hexColor is 0xRRGGBB, and six hexadecimal digits in a file.
type hexColor uint32

// UnmarshalText reads the digits.
func (c *hexColor) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 24)
	*c = hexColor(v)
	return err
}

func (s Series) styles() (draw.LineStyle, draw.GlyphStyle) {
	style := figure.Line(s.look.rgb(), s.look.Dashes...)
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{},
		draw.RingGlyph{}, draw.CrossGlyph{}, draw.TriangleGlyph{}}
	return style, draw.GlyphStyle{Color: s.look.rgb(), Radius: vg.Points(2.6),
		Shape: glyphs[s.look.Glyph]}
}

// legendOf collects the series of all panels with lines, each name once. Bars, and lines that are labelled
// directly, have their names beside them.
func legendOf(panels []Panel) ([]figure.Entry, error) {
	var entries []figure.Entry
	seen, listed := map[string]Method{}, map[string]bool{}
	for _, p := range panels {
		for _, s := range p.Series {
			if m, ok := seen[s.Name]; ok && m != s.Method {
				return nil, fmt.Errorf("%q stands for both %s and %s", s.Name, m, s.Method)
			}
			seen[s.Name] = s.Method
			if p.Direct || p.Bars || listed[s.Name] {
				continue
			}
			listed[s.Name] = true
			e := figure.Entry{Name: s.Name}
			line, glyph := s.styles()
			if !s.Marks {
				e.Line = line
			}
			if !s.Plain {
				e.Glyph = glyph
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}
