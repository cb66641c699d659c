package main

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"strings"
	"testing"
)

func figureSample() []measurement {
	var list []measurement
	for i, c := range cases(true) {
		list = append(list, measurement{solveCase: c, runs: 1, seconds: 0.004 * float64(1+i%4),
			peakBytes: 1, constraints: 1})
	}
	return list
}

func TestFigureSVG(t *testing.T) {
	var b bytes.Buffer
	if err := drawFigure(&b, figureSample(), "svg"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{">seconds<", ">K, teachers<", ">11<", ">101<", ">0.01<",
		">free, Δ = 0<", ">monotone, Δ = 1e-5<"} {
		if !strings.Contains(text, want) {
			t.Errorf("the figure lacks %q", want)
		}
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

func TestFigurePNG(t *testing.T) {
	var b bytes.Buffer
	if err := drawFigure(&b, figureSample(), "png"); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 200_000 {
		t.Errorf("%d bytes, want at most 200,000", b.Len())
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X < 600 || size.Y < 400 {
		t.Errorf("%v pixels", size)
	}
}

func TestFigureFormat(t *testing.T) {
	if err := drawFigure(io.Discard, figureSample(), "bmp"); err == nil {
		t.Error("no error for an unknown format")
	}
}

func TestLines(t *testing.T) {
	got := lines(figureSample())
	if len(got) != 4 {
		t.Fatalf("%d lines, want one per shape and Δ", len(got))
	}
	for _, l := range got {
		if len(l.points) != 4 {
			t.Errorf("%s has %d points, want 4", l.name(), len(l.points))
		}
		for i := 1; i < len(l.points); i++ {
			if l.points[i].X <= l.points[i-1].X {
				t.Errorf("%s: K = %g follows %g", l.name(), l.points[i].X, l.points[i-1].X)
			}
		}
	}
}
