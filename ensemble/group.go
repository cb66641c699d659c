package ensemble

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality"
)

// drawGroup answers by the masses of one histogram: masses[g] belongs to the classes with the g-th
// largest number of votes, and one more mass to abstaining. They sum to plurality.One. One uniform
// 53-bit integer chooses a group, and then each of its classes is equally likely. So every
// probability is exactly what was certified.
func drawGroup(src randsrc.Source, masses []uint64, counts []int) (int, error) {
	u, err := noise.Uniform(src, plurality.One)
	if err != nil {
		return noAnswer, err
	}
	group := 0
	for ; u >= masses[group]; group++ { // the masses sum to One > u
		u -= masses[group]
	}
	votes := slices.Clone(counts)
	slices.Sort(votes)
	votes = slices.Compact(votes)
	slices.Reverse(votes)
	var classes []int
	if group < len(votes) {
		for class, v := range counts {
			if v == votes[group] {
				classes = append(classes, class)
			}
		}
	}
	// Drawn of one class, or of abstaining, too, so that the number of draws says nothing about the
	// votes.
	nth, err := noise.Uniform(src, max(2, uint64(len(classes))))
	switch {
	case err != nil:
		return noAnswer, err
	case group == len(votes):
		return Abstained, nil
	case len(classes) == 0:
		panic(fmt.Sprintf("ensemble: %d masses for %d numbers of votes", len(masses), len(votes)))
	}
	return classes[nth%uint64(len(classes))], nil
}

// drawClass draws a class from integer masses, one for each class, which sum to plurality.One.
func drawClass(src randsrc.Source, masses []uint64) (int, error) {
	u, err := noise.Uniform(src, plurality.One)
	if err != nil {
		return noAnswer, err
	}
	class := 0
	for ; u >= masses[class]; class++ {
		u -= masses[class]
	}
	return class, nil
}
