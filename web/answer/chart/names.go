package chart

import (
	"math"
	"slices"
)

// placed is the name of a line: beside it, or in the legend where no place beside it is free.
type placed struct {
	name, class, anchor string
	dashed, beside      bool
	x, y                float64 // of its baseline
}

// box is a rectangle of a picture.
type box struct{ left, top, right, bottom float64 }

func (a box) meets(b box) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// crosses reports whether the segment from (x, y) to (u, v) goes through the box.
func (a box) crosses(x, y, u, v float64) bool {
	from, to := 0., 1. // the part of the segment that is in the box
	for _, axis := range []struct{ at, by, low, high float64 }{{x, u - x, a.left, a.right}, {y, v - y, a.top, a.bottom}} {
		if axis.by == 0 {
			if axis.at < axis.low || axis.at > axis.high {
				return false
			}
			continue
		}
		p, q := (axis.low-axis.at)/axis.by, (axis.high-axis.at)/axis.by
		from, to = max(from, min(p, q)), min(to, max(p, q))
	}
	return from <= to
}

// letter is the width of a letter of a name, at most in the mean.
const letter = 6.4

// names returns the names of the lines and of the level in their places, and how many are in the legend.
func (c *Chart) names(x, y func(float64) float64) (names []placed, legend int) {
	type curve struct{ x, y []float64 }
	var curves []curve
	for _, l := range c.Lines {
		var of curve
		for i := range l.X {
			if !math.IsNaN(l.Y[i]) && !math.IsInf(l.Y[i], 0) {
				of.x, of.y = append(of.x, x(l.X[i])), append(of.y, y(l.Y[i]))
			}
		}
		curves = append(curves, of)
	}
	if c.Level != nil {
		curves = append(curves, curve{[]float64{left, width - right}, []float64{y(*c.Level), y(*c.Level)}})
	}
	var taken []box
	for i := range c.Marks { // above the axis
		taken = append(taken, box{left, float64(baseline - 20 - 15*i), width - right, baseline})
	}
	free := func(b box) bool {
		return b.left >= left && b.right <= width && b.top >= top-14 && b.bottom <= baseline &&
			!slices.ContainsFunc(taken, b.meets) && !slices.ContainsFunc(curves, func(of curve) bool {
			for i := range of.x {
				if j := min(i+1, len(of.x)-1); b.crosses(of.x[i], of.y[i], of.x[j], of.y[j]) {
					return true
				}
			}
			return false
		})
	}
	place := func(name, class string, dashed bool, of curve) {
		n := placed{name: name, class: class, dashed: dashed}
		long := letter * float64(len([]rune(name)))
		for i := len(of.x) - 1; i >= 0 && !n.beside; i-- { // from the right, where a line is read last
			for _, at := range []struct {
				by     float64
				anchor string
				from   float64
			}{{-8, "end", -long}, {17, "end", -long}, {-8, "start", 0}, {17, "start", 0}} {
				base := of.y[i] + at.by
				b := box{of.x[i] + at.from, base - 11, of.x[i] + at.from + long, base + 3}
				if free(b) {
					n.beside, n.anchor, n.x, n.y = true, at.anchor, of.x[i], base
					taken = append(taken, box{b.left - letter, b.top, b.right + letter, b.bottom}) // names are a letter apart
					break
				}
			}
		}
		if !n.beside {
			legend++
		}
		names = append(names, n)
	}
	for i, l := range c.Lines {
		if l.Name != "" {
			place(l.Name, l.Class, l.Dashed, curves[i])
		}
	}
	if c.Level != nil {
		place(c.LevelName, "wanted", true, curves[len(curves)-1])
	}
	return names, legend
}
