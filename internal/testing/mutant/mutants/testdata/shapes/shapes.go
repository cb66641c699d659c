// Package shapes has a function of each shape, to be changed by the tests of mutants.
package shapes

type list[T any] struct{ all []T }

func (l *list[T]) add(x ...T) { l.all = append(l.all, x...) }

func (list[T]) two(int, string) (n int) { return 2 }

func last[S ~[]T, T any](s S, _ bool) (x T, err error) { x = s[len(s)-1]; return x, nil }

var ready = "no"

func init() { ready = "yes" }

const three = 3

func word() string { return "w" }

func sum(x []int) int {
	n := 0
	for _, v := range x {
		n += v
	}
	return n
}
