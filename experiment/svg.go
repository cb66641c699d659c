package experiment

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/figure"
)

// What a picture may consist of. These are all that the plotting library writes; none can
// load anything or run anything.
var (
	svgElements   = []string{"svg", "g", "path", "text", "rect", "line", "circle", "defs", "clipPath"}
	svgAttributes = []string{"width", "height", "viewBox", "transform", "d", "style", "x", "y", "r",
		"cx", "cy", "x1", "x2", "y1", "y2", "id", "clip-path", "points"}
)

// What an attribute's value may be: a style has no function but rgb and no escape, only a
// clip-path has an address, within the picture, and all others are names, numbers and transforms.
var svgValues = map[string]*regexp.Regexp{
	"style":     regexp.MustCompile(`^(?:[^\\()@]|rgb\([0-9, %.]*\))*$`),
	"clip-path": regexp.MustCompile(`^url\(#[\w-]+\)$`),
	"":          regexp.MustCompile(`^[^\\@:]*$`),
}

// inlineSVG returns the picture as an element for a page, with a label for readers who do
// not see it. A folder may come from anybody, so elements and attributes that pictures do
// not need are an error.
func inlineSVG(data []byte, label string) (string, error) {
	in := xml.NewDecoder(bytes.NewReader(data))
	var out strings.Builder
	for depth := 0; ; {
		token, err := in.Token()
		if err == io.EOF {
			if depth != 0 || out.Len() == 0 {
				return "", io.ErrUnexpectedEOF
			}
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if name == "style" && depth > 0 {
				// The page has the house's style sheet already, and takes no other.
				var sheet string
				if err := in.DecodeElement(&sheet, &t); err != nil {
					return "", err
				}
				if sheet != figure.StyleSheet {
					return "", fmt.Errorf("element <style> is not that of pictures here")
				}
				continue
			}
			if !slices.Contains(svgElements, name) || (depth == 0) != (name == "svg") || depth == 0 &&
				out.Len() > 0 {
				return "", fmt.Errorf("element <%s> is not what pictures here consist of", name)
			}
			out.WriteString("<" + name)
			viewBox := ""
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					continue // HTML knows what svg is
				}
				if !slices.Contains(svgAttributes, a.Name.Local) ||
					!cmp.Or(svgValues[a.Name.Local], svgValues[""]).MatchString(a.Value) {
					return "", fmt.Errorf("attribute %s of <%s> is not what pictures here consist of",
						a.Name.Local, name)
				}
				if depth == 0 {
					if a.Name.Local == "viewBox" {
						viewBox = a.Value
					}
					continue
				}
				writeAttribute(&out, a.Name.Local, a.Value)
			}
			if depth == 0 {
				// Width and height are the page's to choose; the natural width is the limit.
				f := strings.Fields(viewBox)
				if len(f) != 4 {
					return "", fmt.Errorf("viewBox = %q, but it must be four numbers", viewBox)
				}
				writeAttribute(&out, "viewBox", viewBox)
				style := "max-width:" + f[2] + "pt"
				// A small screen scrolls what it would make too small to read: three quarters
				// leave all text ten pixels.
				if w, err := strconv.ParseFloat(f[2], 64); err == nil && w > figure.SmallWidth {
					style += fmt.Sprintf(";min-width:%.0fpt", 0.75*w)
				}
				writeAttribute(&out, "style", style)
				writeAttribute(&out, "role", "img")
				writeAttribute(&out, "aria-label", label)
			}
			out.WriteByte('>')
			depth++
		case xml.EndElement:
			out.WriteString("</" + t.Name.Local + ">")
			depth--
		case xml.CharData:
			if depth > 0 {
				escape(&out, string(t))
			}
		}
	}
}

func writeAttribute(out *strings.Builder, name, value string) {
	out.WriteString(" " + name + `="`)
	escape(out, value)
	out.WriteByte('"')
}

func escape(out *strings.Builder, s string) {
	// EscapeText fails only where its writer does, and a Builder does not.
	_ = xml.EscapeText(out, []byte(s))
}
