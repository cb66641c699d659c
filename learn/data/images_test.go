package data

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestReadIDX(t *testing.T) {
	images := encode(8, []byte{0, 51, 255, 102, 1, 2}, 3, 1, 2)
	labels := encode(8, []byte{6, 1, 9}, 3)
	read := func(images, labels []byte, positive []int) (x, y []float64, err error) {
		var l io.Reader
		if labels != nil {
			l = bytes.NewReader(labels)
		}
		r, err := ReadIDX(bytes.NewReader(images), l, positive)
		if err != nil {
			return nil, nil, err
		}
		for i := range r.Len() {
			x = append(x, r.Row(i)...)
			if r.HasResponses() {
				y = append(y, r.Response(i))
			}
		}
		return x, y, nil
	}
	pixels := []float64{0, 0.2, 1, 0.4, 1. / 255, 2. / 255}
	for name, v := range map[string]struct {
		labels   []byte
		positive []int
		y        []float64
	}{
		"without labels": {nil, nil, nil},
		"as numbers":     {labels, nil, []float64{6, 1, 9}},
		"one positive":   {labels, []int{9}, []float64{0, 0, 1}},
		"two positive":   {labels, []int{9, 6}, []float64{1, 0, 1}},
		"none positive":  {labels, []int{3}, []float64{0, 0, 0}},
	} {
		x, y, err := read(images, v.labels, v.positive)
		if err != nil || !slices.Equal(x, pixels) || !slices.Equal(y, v.y) {
			t.Errorf("%s: %v, %v, %v", name, x, y, err)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(images); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if x, _, err := read(packed.Bytes(), nil, nil); err != nil || !slices.Equal(x, pixels) {
		t.Errorf("gzip: %v, %v", x, err)
	}
	for want, f := range map[string]func() error{
		"positive labels = [1], but it must be left out": func() error {
			_, _, err := read(images, nil, []int{1})
			return err
		},
		"positive label = 256": func() error {
			_, _, err := read(images, labels, []int{256})
			return err
		},
		"positive label = -1": func() error {
			_, _, err := read(images, labels, []int{-1})
			return err
		},
		"positive label = 9": func() error {
			_, _, err := read(images, labels, []int{9, 9})
			return err
		},
		"2 labels for 3 images": func() error {
			_, _, err := read(images, encode(8, []byte{6, 1}, 2), nil)
			return err
		},
		"images: header: 11 of 16 bytes": func() error {
			_, _, err := read(labels, labels, nil)
			return err
		},
		"labels: 3 dimensions": func() error {
			_, _, err := read(images, images, nil)
			return err
		},
		"images: values: 5 of 6 bytes": func() error {
			_, _, err := read(images[:len(images)-1], labels, nil)
			return err
		},
		"images: begins with": func() error {
			_, _, err := read([]byte("a,b,c,d,e,f,g,h,i"), nil, nil)
			return err
		},
		"no records": func() error {
			_, _, err := read(encode(8, nil, 0, 1, 2), nil, nil)
			return err
		},
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
