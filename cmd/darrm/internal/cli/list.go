package cli

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/sweep"
)

// List is a flag that takes numbers and ranges, separated by commas:
//
//	11,21,41    1:10    0.1:0.3:0.1    1:3,5
//
// A range first:last:step has the values first, first+step, … up to last; the step
// is 1 where none is given. Given twice, the flag takes the values of both.
type List[T any] struct {
	parse  func(string) ([]T, error)
	Values []T
	text   string
	Given  bool
}

// NewList returns the list with a default, "" for none. The default must parse.
func NewList[T any](text string, parse func(string) ([]T, error)) *List[T] {
	l := &List[T]{parse: parse, text: text}
	if text != "" {
		var err error
		if l.Values, err = parse(text); err != nil {
			panic(err) // a default is part of the program
		}
	}
	return l
}

func (l *List[T]) String() string { return l.text }
func (l *List[T]) Type() string   { return "list" }

// Set is called once for every time that the flag is given.
func (l *List[T]) Set(text string) error {
	values, err := l.parse(text)
	if err != nil {
		return err
	}
	if l.Given {
		values, text = append(l.Values, values...), l.text+","+text
	}
	l.Values, l.text, l.Given = values, text, true
	return nil
}

// EpsilonList reads a list of numbers in which "inf" may stand too.
func EpsilonList(rule func(float64) error) func(string) ([]float64, error) {
	return func(text string) ([]float64, error) {
		return parseList(text, func(item string) ([]float64, error) {
			if item == "inf" {
				return []float64{math.Inf(1)}, nil
			}
			return expand(item, float(rule))
		})
	}
}

// AffectedList reads a list of whole numbers in which "all" may stand too.
func AffectedList(rule func(int) error) func(string) ([]int, error) {
	return func(text string) ([]int, error) {
		return parseList(text, func(item string) ([]int, error) {
			if item == "all" {
				return []int{sweep.All}, nil
			}
			return expand(item, whole(rule))
		})
	}
}

// IntList parses whole numbers, and ranges of them, by a rule for each.
func IntList(rule func(int) error) func(string) ([]int, error) {
	return func(text string) ([]int, error) {
		return parseList(text, func(item string) ([]int, error) { return expand(item, whole(rule)) })
	}
}

// FloatList parses numbers, and ranges of them, by a rule for each.
func FloatList(rule func(float64) error) func(string) ([]float64, error) {
	return func(text string) ([]float64, error) {
		return parseList(text, func(item string) ([]float64, error) { return expand(item, float(rule)) })
	}
}

func parseList[T any](text string, parse func(item string) ([]T, error)) ([]T, error) {
	var out []T
	for item := range strings.SplitSeq(text, ",") {
		values, err := parse(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		if out = append(out, values...); len(out) > sweep.MaxPoints {
			return nil, fmt.Errorf("the list has more than %d values", sweep.MaxPoints)
		}
	}
	return out, nil
}

// expand returns the values of a number or a range. The steps are exact: the
// third value of 0.1:0.3:0.1 is 0.3, which no sum of float64 is.
func expand[T any](item string, convert func(*big.Rat) (T, error)) ([]T, error) {
	parts := strings.Split(item, ":")
	if len(parts) > 3 {
		return nil, fmt.Errorf("%q, but a range must be first:last or first:last:step", item)
	}
	var numbers []*big.Rat
	for _, part := range parts {
		x, err := decimal(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, x)
	}
	first, last, step := numbers[0], numbers[0], big.NewRat(1, 1)
	if len(parts) > 1 {
		last = numbers[1]
	}
	if len(parts) > 2 {
		step = numbers[2]
	}
	if step.Sign() <= 0 {
		return nil, fmt.Errorf("step %s of range %q, but it must be > 0", strings.TrimSpace(parts[2]),
			item)
	}
	if last.Cmp(first) < 0 {
		return nil, fmt.Errorf("range %q ends before it begins, but first must be at most last", item)
	}
	steps := new(big.Rat).Sub(last, first)
	steps.Quo(steps, step)
	n := new(big.Int).Quo(steps.Num(), steps.Denom())
	if n.Cmp(big.NewInt(sweep.MaxPoints)) >= 0 {
		return nil, fmt.Errorf("range %q has more than %d values", item, sweep.MaxPoints)
	}
	var out []T
	x := new(big.Rat).Set(first)
	for range n.Int64() + 1 {
		v, err := convert(x)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		x.Add(x, step)
	}
	return out, nil
}

// written matches a decimal as people write it: no fraction, hexadecimal or underscore, and no
// exponent so large that the exact number would fill the memory.
var written = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?0*[0-9]{1,3})?$`)

// maxDigits bounds the length of a number. A float64 needs 17 digits.
const maxDigits = 100

func decimal(text string) (*big.Rat, error) {
	if len(text) <= maxDigits && written.MatchString(text) {
		if x, ok := new(big.Rat).SetString(text); ok {
			return x, nil
		}
	}
	return nil, fmt.Errorf("%q, but it must be a decimal number such as 3, 0.5 or 1e-5", text)
}

// whole returns a conversion to an int that keeps the rule.
func whole(rule func(int) error) func(*big.Rat) (int, error) {
	return func(x *big.Rat) (int, error) {
		if !x.IsInt() {
			return 0, fmt.Errorf("%s, but it must be a whole number", show(x))
		}
		if !x.Num().IsInt64() || int64(int(x.Num().Int64())) != x.Num().Int64() {
			return 0, fmt.Errorf("%s, but it must be smaller", show(x))
		}
		n := int(x.Num().Int64())
		return n, rule(n)
	}
}

// float returns a conversion to the float64 that prints as this decimal. One that needs more digits
// is refused: rounding it would certify a promise that was not asked for.
func float(rule func(float64) error) func(*big.Rat) (float64, error) {
	return func(x *big.Rat) (float64, error) {
		f, _ := x.Float64()
		if math.IsInf(f, 0) || num.Decimal(f).Cmp(x) != 0 {
			return 0, fmt.Errorf(
				"%s, but it must be a decimal that a float64 keeps, as it does up to 15 digits between "+
					"1e-300 and 1e300", show(x))
		}
		return f, rule(f)
	}
}

// show writes a decimal, shortened where it is long.
func show(x *big.Rat) string {
	digits, _ := x.FloatPrec()
	if s := x.FloatString(digits); len(s) <= 40 {
		return s
	}
	f := new(big.Float).SetPrec(128).SetRat(x)
	return "about " + f.Text('g', 20)
}
