package choose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/darrm/darrm/release"
)

func TestLossesAreRead(t *testing.T) {
	names := []string{"no", "yes", "a:b=c"}
	for text, want := range map[string]string{
		"0.7,0.2,0.1": "[0.7 0.2 0.1]", "a:b=c=0.1, no=0.7,yes=.2": "[0.7 0.2 0.1]", "": "[]",
	} {
		if got, err := ParseShares(text, names); err != nil || fmt.Sprint(got) != want {
			t.Errorf("shares %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "[]", "ordered": "[[0 1 2] [1 0 1] [2 1 0]]", "balanced": "[[0 5 10] [2 0 10] [2 5 0]]",
		"no:yes=9,yes:a:b=c=0": "[[0 9 1] [1 0 0] [1 1 0]]",
	} {
		if got, err := ParseCosts(text, names, []float64{0.5, 0.2, 0.1}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("costs %q: %v, %v", text, got, err)
		}
	}
	var usage *release.UsageError
	for _, text := range []string{"0.7,0.3", "0.7,0.2,0.2", "no=0.5,no=0.5", "maybe=1", "x,y,z", "1,0,0", "NaN,0.5,0.5"} {
		if _, err := ParseShares(text, names); !errors.As(err, &usage) {
			t.Errorf("shares %q: %v", text, err)
		}
	}
	for _, text := range []string{"no:no=1", "no:yes", "no:yes=x", "no:maybe=1", "no:yes=-1", "no:yes=NaN", "order",
		"no:yes=1,no:yes=9"} {
		if _, err := ParseCosts(text, names, nil); !errors.As(err, &usage) {
			t.Errorf("costs %q: %v", text, err)
		}
	}
	if _, err := ParseCosts("no:yes=0,yes:no=0", names[:2], nil); !errors.As(err, &usage) {
		t.Errorf("costs that are all 0: %v", err)
	}
	commas := []string{"Toys, Games", "Books"}
	if got, err := ParseShares("Toys, Games=0.9,Books=0.1", commas); err != nil || fmt.Sprint(got) != "[0.9 0.1]" {
		t.Errorf("shares of a name with a comma: %v, %v", got, err)
	}
	if got, err := ParseCosts("Books:Toys, Games=2,Toys, Games:Books=3", commas, nil); err != nil ||
		fmt.Sprint(got) != "[[0 3] [2 0]]" {
		t.Errorf("costs of a name with a comma: %v, %v", got, err)
	}
	if _, err := ParseCosts("balanced", names, nil); !errors.As(err, &usage) {
		t.Errorf("balanced costs without shares: %v", err)
	}
}
