package ensemble

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
)

// What is left out is the worst case: a record reaches all teachers, who promise nothing, and δ is no smaller than
// theirs.
func TestWhatIsNotStatedIsTheWorstCase(t *testing.T) {
	all, two, one, small := AllTeachers, 2, 1.0, 1e-3
	for _, tt := range []struct {
		affected *int
		want     int
	}{{nil, 7}, {&all, 7}, {&two, 2}} {
		s := Stated{Neighbours: accountant.ReplaceOne, Affected: tt.affected, LabelEpsilon: &one}
		if got := s.Reach(7); got != tt.want {
			t.Errorf("%v: a record reaches %d teachers, want %d", tt.affected, got, tt.want)
		}
		if s.Promised() || !math.IsInf(s.Each().Epsilon, 1) {
			t.Errorf("teachers of whom nothing is stated promise %v", s.Each())
		}
		inf := math.Inf(1)
		s.Epsilon = &inf
		if p := must.Get(s.Problem(7))(t); p.Affected != tt.want || p.Delta != 0 {
			t.Errorf("%+v", p)
		}
		s.Epsilon, s.TeacherDelta = &one, &small
		if p := must.Get(s.Problem(7))(t); p.Affected != tt.want || p.Delta < small || p.Epsilon != 1 {
			t.Errorf("%+v", p)
		}
	}
}
