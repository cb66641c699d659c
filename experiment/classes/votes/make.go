//go:build ignore

// Make trains the teachers of the images and writes their votes into the folder of this file:
//
//	scripts/fetch-mnist data
//	go run experiment/classes/votes/make.go data experiment/classes/votes
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

const (
	k     = 250
	few   = 25
	seed  = 20241122
	every = 2 // of the test images of ten classes, so many make one query
	side  = 2 // pixels are averaged in squares of this side
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: make DATA OUT, where DATA has the folders mnist and fashion-mnist")
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, set := range []struct {
		name, folder string
		three        []int // classes that are confused
	}{{"mnist", "mnist", []int{4, 7, 9}}, {"fashion", "fashion-mnist", []int{2, 4, 6}}} {
		dir := filepath.Join(os.Args[1], set.folder)
		votes, truth := vote(dir, all, every)
		write(set.name+"-10-250", votes, truth, 10)
		write(set.name+"-10-25", cut(votes, few), truth, 10)
		write(set.name+"-10-groups", grouped(votes, k/few), truth, 10)
		votes, truth = vote(dir, set.three, 1)
		write(set.name+"-3-250", votes, truth, 3)
	}
}

// vote trains the teachers of some classes and returns, for each query, the vote of each of them,
// and the truth, as places in classes.
func vote(dir string, classes []int, every int) (votes [][]int, truth []int) {
	ctx := context.Background()
	features, labels := images(ctx, dir, "train", classes, 1)
	models := make([][][]float64, len(classes))
	for c := range classes { // one class against the others
		parts, err := teachers.DisjointParts(len(labels), k)
		check(err)
		is := make([]float64, len(labels))
		for i, l := range labels {
			if l == c {
				is[i] = 1
			}
		}
		records, err := data.NewRecords(len(labels), len(features)/len(labels), features, is)
		check(err)
		plan, err := teachers.NewPlan(context.Background(), teachers.Config{
			Parts: parts,
			Teacher: shuffled.Config{
				// no noise: no privacy
				Task: loss.Logistic{}, Method: shuffled.ShuffleG, Epochs: 10, Order: iteration.Reshuffled,
				StepSize: 0.01, Clip: math.Inf(1),
			},
		}, records, nil)
		check(err)
		trained, err := plan.Simulate(ctx, seed)
		check(err)
		models[c] = trained.Models()
	}
	features, truth = images(ctx, dir, "t10k", classes, every)
	d := len(features) / len(truth)
	for i := range truth {
		row, of := features[i*d:(i+1)*d], make([]int, k)
		for j := range of {
			best := math.Inf(-1)
			for c := range classes {
				if s := floats.Dot(models[c][j], row); s > best {
					best, of[j] = s, c
				}
			}
		}
		votes = append(votes, of)
	}
	return votes, truth
}

// cut leaves the first n teachers.
func cut(votes [][]int, n int) [][]int {
	out := make([][]int, len(votes))
	for i, v := range votes {
		out[i] = v[:n]
	}
	return out
}

// grouped makes one voter of each size teachers in turn: their plurality, the first class of a tie.
func grouped(votes [][]int, size int) [][]int {
	out := make([][]int, len(votes))
	for i, v := range votes {
		for g := range slices.Chunk(v, size) {
			counts := make([]int, 10)
			for _, c := range g {
				counts[c]++
			}
			out[i] = append(out[i], slices.Index(counts, slices.Max(counts)))
		}
	}
	return out
}

// write writes the counts of votes for each class, and the truth.
func write(name string, votes [][]int, truth []int, classes int) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	check(err)
	for c := range classes {
		fmt.Fprintf(z, "n%d,", c)
	}
	fmt.Fprintln(z, "label")
	right, agree := 0, 0
	for i, of := range votes {
		counts := make([]int, classes)
		for _, c := range of {
			counts[c]++
		}
		for _, n := range counts {
			fmt.Fprintf(z, "%d,", n)
		}
		fmt.Fprintln(z, truth[i])
		most := slices.Max(counts)
		agree += most
		if slices.Index(counts, most) == truth[i] {
			right++
		}
	}
	check(z.Close())
	check(os.WriteFile(filepath.Join(os.Args[2], name+".csv.gz"), b.Bytes(), 0o666))
	n := float64(len(votes))
	log.Printf("%-20s %5d queries, plurality right on %.2f %%, has %.2f %% of the votes, %d bytes",
		name, len(votes), 100*float64(right)/n, 100*float64(agree)/n/float64(len(votes[0])), b.Len())
}

// images returns every so many of the images of some classes: means of squares of pixels, in [-1,
// 1], beside a constant; and the labels as places in classes.
func images(ctx context.Context, dir, part string, classes []int,
	every int) (features []float64, labels []int) {
	set, err := data.ReadLabelledImages(ctx, dir, part)
	check(err)
	size := set.Rows * set.Columns
	for i, l := range set.Labels {
		c := slices.Index(classes, int(l))
		if c < 0 || i%every != 0 {
			continue
		}
		image := set.Pixels[i*size : (i+1)*size]
		for y := 0; y < set.Rows; y += side {
			for x := 0; x < set.Columns; x += side {
				s := 0
				for dy := range side {
					for dx := range side {
						s += int(image[(y+dy)*set.Columns+x+dx])
					}
				}
				features = append(features, float64(s)/(127.5*side*side)-1)
			}
		}
		features = append(features, 1)
		labels = append(labels, c)
	}
	return features, labels
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
