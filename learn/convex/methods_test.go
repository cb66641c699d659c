package convex

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Every method is made by its name, which its price has too.
func TestNew(t *testing.T) {
	raced.Sequential(t)
	for _, name := range Methods() {
		o := Options{Setting: Setting{Loss: loss.Logistic{}, Radius: 1,
			Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}}
		text := "l2:1"
		if name == "frank-wolfe" || name == "poly-sfw" {
			text = "l1:1"
		}
		if name == "proximally-guided" {
			o.WeakConvexity = 1
		}
		var err error
		if o.Set, err = geometry.ParseSet(text, 3); err != nil {
			t.Fatal(err)
		}
		if name == "sufficient-statistics" {
			o.Set = nil
		}
		m, err := New(name, o)
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := m.Plan(100000, 3)
		if err != nil || p.Price.Method != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if _, err := New("sgd", Options{}); err == nil || !strings.Contains(err.Error(), "phased-sgd") {
		t.Error(err)
	}
}

// No option is left out in silence: each reaches some method, and the others refuse it.
func TestNewRefusesWhatIsNotUsed(t *testing.T) {
	options := reflect.TypeFor[Parameters]()
	ball, err := geometry.ParseSet("l2:1", 3)
	if err != nil {
		t.Fatal(err)
	}
	simplex, err := geometry.ParseSet("simplex:1", 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range options.NumField() {
		field := options.Field(i).Name
		taken := 0
		for _, name := range Methods() {
			o := Options{Set: ball}
			if name == "frank-wolfe" || name == "poly-sfw" {
				o.Set = simplex
			}
			if name == "sufficient-statistics" {
				o.Set = nil
			}
			v := reflect.ValueOf(&o.Parameters).Elem().Field(i)
			if v.Kind() == reflect.Struct {
				v = v.Field(0)
			}
			switch v.Kind() {
			case reflect.Int:
				v.SetInt(1)
			case reflect.Float64:
				v.SetFloat(1)
			case reflect.Bool:
				v.SetBool(true)
			default:
				v.SetString("x")
			}
			m, err := New(name, o)
			var unused *train.OptionError
			switch {
			case errors.As(err, &unused) && unused.Option == field:
			case err != nil:
				t.Errorf("%s, %s: %v", name, field, err)
			default:
				taken++
				got := reflect.ValueOf(m).FieldByName(field)
				if !got.IsValid() { // of a method that reads batches
					got = reflect.ValueOf(m).FieldByName("Batches").FieldByName(strings.Replace(field, "Batch", "Size", 1))
				}
				if got.IsZero() {
					t.Errorf("%s takes %s and leaves it out", name, field)
				}
			}
		}
		if taken == 0 {
			t.Errorf("no method takes %s", field)
		}
	}
}

func TestNewNeedsItsSet(t *testing.T) {
	for name, want := range map[string]string{"frank-wolfe": "l1 ball", "poly-sfw": "l1 ball",
		"nsfw": "l2 or lp"} {
		if _, err := New(name, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ball, err := geometry.ParseSet("lp:1.5:1", 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"phased-sgd", "frank-wolfe", "dp-sgd"} {
		if _, err := New(name, Options{Set: ball}); err == nil ||
			!strings.Contains(err.Error(), "set = ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Records are measured in the norm that is dual to the set's, and in the Euclidean one where there is no set.
func TestDualNorm(t *testing.T) {
	if got := DualNorm(nil); got != 2 {
		t.Errorf("without a set: %g", got)
	}
	for set, want := range map[string]float64{"l1:1": math.Inf(1), "l2:1": 2, "lp:1.5:1": 3} {
		s, err := geometry.ParseSet(set, 3)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, set, 1/DualNorm(s), 1/want, 1e-12)
	}
}

// Rounds are rounds of batches for the methods whose rounds those are.
func TestNewTakesRoundsOfBatches(t *testing.T) {
	set, err := geometry.ParseSet("l1:1", 3)
	if err != nil {
		t.Fatal(err)
	}
	for o, want := range map[*Options]int{{Set: set, Parameters: Parameters{Rounds: 4}}: 4, {Set: set}: 0} {
		poly, err := New("poly-sfw", *o)
		if err != nil || poly.(PolySFW).Batches.Rounds != want {
			t.Errorf("%+v: %+v, %v", *o, poly, err)
		}
		o.Set, err = geometry.ParseSet("l2:1", 3)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := New("nsfw", *o); err != nil || m.(NSFW).Batches.Rounds != want {
			t.Errorf("%+v: %+v, %v", *o, m, err)
		}
	}
}
