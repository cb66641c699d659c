package datasets

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch/stream"
)

// Streams of the stand-ins, behind the seed and stream.Synthetic. The numbers are part of the
// stand-ins' definition: any language can make the same points.
const (
	streamPrototypes = 100 // + class
	streamGarments   = 101 // + image
	streamStations   = 200
	streamReadings   = 201 // + reading
	streamRows       = 202 // which rows of real files are taken
	streamOrder      = 203 // and in which order
	streamClients    = 300 // + client
	streamClasses    = 301 // + record
)

func standinPoints(name string, n int, seed uint64) (Points, error) {
	p := Points{Name: name, Standin: true, Source: fmt.Sprintf("stand-in for %s, seed %d", name, seed)}
	var err error
	switch {
	case name == FashionMNIST:
		p.Records, err = garments(n, seed)
	case name == Indoor:
		p.Records, err = readings(n, seed)
	case isClasses(name):
		p.Records, err = gaussianClasses(name, n, seed)
	default:
		p.Records, err = clients(n, seed)
	}
	return p, err
}

// blob is a bright spot.
type blob struct{ y, x, height, width, bright float64 }

// garments draws images with the properties that the tasks need: ten distinguishable classes, dark
// background, smooth shapes and a dominant first eigenvector. Each class is six blobs. An image is
// its class, shifted, with its own brightness and texture.
func garments(n int, seed uint64) (*data.Records, error) {
	var classes [10][side * side]float64
	for c := range classes {
		s := stream.New(seed, stream.Synthetic, streamPrototypes, uint64(c))
		var blobs [6]blob
		for i := range blobs {
			blobs[i].y = 8 + 16*s.Float64()
			blobs[i].x = 8 + 16*s.Float64()
			blobs[i].height = 2 + 5*s.Float64()
			blobs[i].width = 2 + 5*s.Float64()
			blobs[i].bright = 0.4 + 0.6*s.Float64()
		}
		for p := range classes[c] {
			v := 0.0
			for _, b := range blobs {
				dy, dx := (float64(p/side)-b.y)/b.height, (float64(p%side)-b.x)/b.width
				v += b.bright * math.Exp(-(dy*dy+dx*dx)/2)
			}
			if v = min(v, 1); v >= 0.15 {
				classes[c][p] = v
			}
		}
	}
	var wave [side + 4]float64 // cos(πk/16) for k from -2
	for k := range wave {
		wave[k] = math.Cos(math.Pi * float64(k-2) / 16)
	}
	x, y := make([]float64, n*side*side), make([]float64, n)
	for i := range n {
		s := stream.New(seed, stream.Synthetic, streamGarments, uint64(i))
		c := i % len(classes)
		y[i] = float64(c)
		down, right := int(s.Bound(5))-2, int(s.Bound(5))-2
		gain := 0.5 + 0.6*s.Float64()
		t1 := 0.25 * s.Normal()
		t2 := 0.25 * s.Normal()
		for p := range side * side {
			row, column := p/side-down, p%side-right
			noise := s.Normal() // drawn for every pixel, also where it is not used
			if row < 0 || row >= side || column < 0 || column >= side {
				continue
			}
			if v := classes[c][row*side+column]; v > 0 {
				v = v*gain*(1+t1*wave[row+2]+t2*wave[column+2]) + 0.1*noise
				x[i*side*side+p] = clipToUnit(v)
			}
		}
	}
	return data.NewRecords(n, side*side, x, y)
}

// clients draws features with the properties of the real ones that distinguish the methods. There
// are twelve marks of late payment that come together, the first few of which predict most. Amounts
// are correlated with each other and predict little. One feature is 1, and about 22 % default.
func clients(n int, seed uint64) (*data.Records, error) {
	x, y := make([]float64, n*ClientFeatures), make([]float64, n)
	for i := range n {
		s := stream.New(seed, stream.Synthetic, streamClients, uint64(i))
		row := x[i*ClientFeatures : (i+1)*ClientFeatures]
		late, rich := s.Normal(), s.Normal()
		for j := range row {
			switch {
			case j == ClientFeatures-1:
				row[j] = 1
			case j < 2*months: // late by a month or more, by two or more
				if late+0.7*s.Normal() > 1.1 {
					row[j] = 1
				}
			case j < 4*months: // bills and payments
				row[j] = clipToUnit(0.6 + 0.15*rich + 0.1*s.Normal())
			default:
				row[j] = 2*s.Float64() - 1
			}
		}
		z := -1.97 + 1.2*row[0] + 0.8*row[1] + 0.8*row[months] + 0.4*row[4*months] - 0.3*rich
		if s.Float64() < 1/(1+math.Exp(-z)) {
			y[i] = 1
		}
	}
	return data.NewRecords(n, ClientFeatures, x, y)
}

// gaussianClasses draws records of a set of two classes: N(±(distance/2)·e₁, I) with its share of
// class 1, whose best linear score has the AUC Φ(distance/√2) that the literature finds. The first
// feature alone says anything; the real ones share it out.
func gaussianClasses(name string, n int, seed uint64) (*data.Records, error) {
	c := classes[name]
	columns, y := make([][]float64, c.features), make([]float64, n)
	for i := range y {
		s := stream.New(seed, stream.Synthetic, streamClasses, uint64(i))
		shift := -c.distance / 2
		if s.Float64() < c.share {
			y[i], shift = 1, -shift
		}
		for j := range columns {
			columns[j] = append(columns[j], shift+s.Normal())
			shift = 0
		}
	}
	return scaledColumns(columns, y)
}

// readings draws signal strengths in a hall of 400 m × 270 m by the logarithmic law of distance,
// in whole dBm, with the sentinel for what is too weak, and prepares them as the real ones.
func readings(n int, seed uint64) (*data.Records, error) {
	x, y := rawReadings(n, seed)
	return signals(x, y)
}

func rawReadings(n int, seed uint64) (x, y []float64) {
	type station struct{ x, y, power float64 }
	s := stream.New(seed, stream.Synthetic, streamStations)
	var all [stations]station
	for j := range all {
		all[j].x = 400 * s.Float64()
		all[j].y = 270 * s.Float64()
		all[j].power = -40 + 6*s.Normal()
	}
	x, y = make([]float64, n*stations), make([]float64, n)
	for i := range n {
		s := stream.New(seed, stream.Synthetic, streamReadings, uint64(i))
		east := 400 * s.Float64()
		north := 270 * s.Float64()
		for j, a := range all {
			v := a.power - 45*math.Log10(1+math.Hypot(east-a.x, north-a.y)/2) + 5*s.Normal()
			if v < -97 {
				v = unheard
			} else {
				v = math.Round(v)
			}
			x[i*stations+j] = v
		}
		y[i] = -7691 + east
	}
	return x, y
}
