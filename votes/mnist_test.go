package votes

import (
	"os"
	"testing"
)

// The published figures of testdata/mnist-5v8, counted from its rows.
func TestMNISTVotes(t *testing.T) {
	f, err := os.Open("../testdata/mnist-5v8/votes.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := ReadCSV(f, CSVOptions{Name: "votes.csv", K: 11})
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 1866 || table.K != 11 || table.IDs == nil || table.Labels == nil {
		t.Fatalf("%d queries, K = %d, want 1866 and 11, with ids and labels", table.Len(), table.K)
	}
	right := 0
	for q := range table.All() {
		if q.Label == NoLabel {
			t.Fatalf("query %s has no label", q.ID)
		}
		if q.Majority() == q.Label {
			right++
		}
	}
	if right != 1585 { // 84.94 %
		t.Errorf("the majority is right on %d queries, want 1585", right)
	}
}

// Every single teacher, read as a file of its own through a counts layout of
// one vote, is right on 63 to 78 % of the queries.
func TestMNISTSingleTeachers(t *testing.T) {
	data, err := os.ReadFile("../testdata/mnist-5v8/votes.csv")
	if err != nil {
		t.Fatal(err)
	}
	accuracies := singleTeacherAccuracies(t, data)
	if len(accuracies) != 11 {
		t.Fatalf("%d teachers", len(accuracies))
	}
	for i, a := range accuracies {
		if a < 0.625 || a > 0.785 {
			t.Errorf("teacher %d is right on %g of the queries, want 0.63 to 0.78", i+1, a)
		}
	}
}
