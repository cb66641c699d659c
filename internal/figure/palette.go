package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"
)

// RGB returns the colour 0xRRGGBB.
func RGB(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

// The colours of Okabe and Ito (Color Universal Design, 2008), and greys.
var (
	Orange     = RGB(0xE69F00)
	Sky        = RGB(0x56B4E9)
	Green      = RGB(0x009E73)
	Blue       = RGB(0x0072B2)
	Vermillion = RGB(0xD55E00)
	Purple     = RGB(0xCC79A7)
	Grey       = RGB(0x777777)
	Ink        = RGB(0x222222) // text, axes, and what holds for everything

	paper     = RGB(0xFFFFFF)
	gridLines = RGB(0xE1E1E1)
)

// dark lists what other colours stand for those of a picture where the reader asks for dark
// pages: those that would vanish, and the two blues, which keep their distance.
var dark = [][2]string{
	{"#FFFFFF", "#14171C"}, {"#E1E1E1", "#363B44"}, {"#222222", "#E8E8E8"}, {"#333333", "#D4D4D4"},
	{"#777777", "#A6A6A6"}, {"#0072B2", "#3A96D6"}, {"#56B4E9", "#9AD5F7"}, {"#D55E00", "#E8742B"},
}

// StyleSheet is the CSS of a picture in the dark; on paper, pictures are light. It must be in every page that has a picture
// as an element; a picture by itself carries it.
var StyleSheet = func() string {
	var b strings.Builder
	b.WriteString("@media screen and (prefers-color-scheme: dark) {")
	for _, c := range dark {
		for _, property := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, ` svg [style*="%s:%s"] { %s: %s !important; }`, property, c[0], property, c[1])
		}
	}
	b.WriteString(" }")
	return b.String()
}()

// dress gives a picture the style sheet, and readers who have not got the font one of their own
// without serifs.
func dress(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return bytes.Replace(svg, []byte("\n<g "), []byte("\n<style>"+StyleSheet+"</style>\n<g "), 1)
}
