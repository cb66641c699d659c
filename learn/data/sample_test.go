package data_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

var errLabel = errors.New("label = 7, but it must be 0 or 1")

// classes refuses what is no class, and a record without a response.
func classes(_ []float64, y float64) error {
	if y == 0 || y == 1 {
		return nil
	}
	return errLabel
}

func TestCheckNamesTheRecord(t *testing.T) {
	read := func(text string) *data.Records {
		r, err := data.ReadLIBSVM(strings.NewReader(text), 2)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good, bad := read("0 1:1\n1 2:1\n"), read("0 1:1\n1 2:1\n\n7 1:2\n")
	named := bad.From("a.svm")
	some, err := named.Select([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		err  error
		want string
	}{
		"nothing wrong":  {good.From("a.svm").Check(classes), ""},
		"without a file": {bad.Check(classes), "line 4: " + errLabel.Error()},
		"with a file":    {named.Check(classes), "a.svm: line 4: " + errLabel.Error()},
		"with an intercept": {named.WithIntercept().Check(classes),
			"a.svm: line 4: " + errLabel.Error()},
		"sparse": {data.SparseOf(named).Check(classes),
			"a.svm: line 4: " + errLabel.Error()},
		"sparse, named": {data.SparseOf(bad).From("b.svm").Check(classes),
			"b.svm: line 4: " + errLabel.Error()},
		"sparse, nothing wrong": {data.SparseOf(good).Check(classes), ""},
		"of no file":            {placeless(t, 7).Check(classes), "record 1: " + errLabel.Error()},
		"other numbers":         {some.Check(classes), "record 1: " + errLabel.Error()},
	} {
		var sample *data.SampleError
		switch {
		case x.want == "" && x.err != nil:
			t.Errorf("%s: %v", name, x.err)
		case x.want != "" && (x.err == nil || x.err.Error() != x.want || !errors.As(x.err, &sample) ||
			!errors.Is(x.err, errLabel)):
			t.Errorf("%s: %v, but it must be %q, a *SampleError", name, x.err, x.want)
		}
	}
}

// placeless returns a record that no file has.
func placeless(t *testing.T, y float64) *data.Records {
	r, err := data.NewRecords(1, 1, []float64{1}, []float64{y})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A label 2 leads to the classes 1 and 2, counted from 1, and -1 to -1 and 1, of a response that has a name.
func TestCheckLeadsToCategories(t *testing.T) {
	err := placeless(t, 2).Named(nil, "y").Check(classes)
	if settling := check.Settling(err); !slices.Equal(settling, []string{"categories=y=1,2"}) {
		t.Errorf("%v: settled by %q", err, settling)
	}
	if settling := check.Settling(placeless(t, -1).Named(nil, "y").Check(classes)); !slices.Equal(settling,
		[]string{"categories=y=-1,1"}) {
		t.Errorf("-1: settled by %q", settling)
	}
	if settling := check.Settling(placeless(t, 3).Named(nil, "y").Check(classes)); settling != nil {
		t.Errorf("3: settled by %q", settling)
	}
}

// A record without a response has none: not 0, which is a class.
func TestCheckWithoutResponses(t *testing.T) {
	r, err := data.NewRecords(2, 1, []float64{1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(func(_ []float64, y float64) error {
		if !math.IsNaN(y) {
			t.Errorf("response %v", y)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := r.Check(classes); err == nil || !strings.HasPrefix(err.Error(), "record 1: ") {
		t.Error(err)
	}
}
