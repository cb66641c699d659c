package ledger

import "testing"

// Of a course with more commits than it has steps the first and the last stay, and steps lie
// evenly.
func TestCourseIsThinned(t *testing.T) {
	var c course
	var now state
	for i := range 10*maxSteps + 1 {
		now.commit, now.head.Seq = now.commit+1, now.head.Seq+1
		if i%3 > 0 { // else a commit that spends nothing
			now.spent = now.spent.Plus(unitOfOne)
		}
		c.add(now)
		if len(c.kept) >= maxSteps || c.last.Spent != now.spent {
			t.Fatalf("after %d commits: %d steps, the last at %v", i+1, len(c.kept), c.last.Spent)
		}
	}
	if c.kept[0].Seq != 2 || len(c.kept) < maxSteps/2 {
		t.Errorf("%d steps from entry %d", len(c.kept), c.kept[0].Seq)
	}
	for i, s := range c.kept {
		if want := unitOfOne.Times(1 + uint64(i)*c.every); s.Spent != want {
			t.Fatalf("step %d of every %d is at %v, want %v", i, c.every, s.Spent, want)
		}
	}
}
