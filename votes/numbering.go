package votes

import (
	"slices"
	"strings"
)

// numbering groups names by what stands before the number at their end.
type numbering struct {
	names   []string
	numbers []string // without zeros in front; "" for a name without number
	stems   []string
	groups  map[string]int // how many numbers each stem has
}

func number(names []string) *numbering {
	by := &numbering{names: names, groups: make(map[string]int)}
	for _, name := range names {
		stem := strings.TrimRight(name, "0123456789")
		digits := name[len(stem):]
		if digits != "" {
			if digits = strings.TrimLeft(digits, "0"); digits == "" {
				digits = "0"
			}
		}
		if isNameless(name) {
			digits = ""
		}
		if digits != "" {
			by.groups[stem]++
		}
		by.stems, by.numbers = append(by.stems, stem), append(by.numbers, digits)
	}
	return by
}

// isNameless reports whether a column has no name: blank, or what pandas calls a blank one.
func isNameless(name string) bool {
	return strings.TrimSpace(name) == "" || strings.HasPrefix(name, "Unnamed: ")
}

// order returns the indices in the order of the numbers, nil unless all names have one
// stem and different numbers.
func (by *numbering) order() []int {
	order := make([]int, len(by.names))
	if len(order) == 0 {
		return order
	}
	for i := range order {
		if by.numbers[i] == "" || by.stems[i] != by.stems[0] {
			return nil
		}
		order[i] = i
	}
	compare := func(i, j int) int { return compareNumbers(by.numbers[i], by.numbers[j]) }
	slices.SortFunc(order, compare)
	for i := range order[1:] {
		if compare(order[i], order[i+1]) == 0 { // as t1 and t01
			return nil
		}
	}
	return order
}

// compareNumbers compares numbers in digits without zeros in front.
func compareNumbers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// allowsTeachers reports whether the names may all be teachers', if their number is right:
// every column has a name, and it is not so that some names share a stem and others
// stand alone, as y does beside t1, t2 and t3.
func (by *numbering) allowsTeachers() bool {
	shared, alone := false, false
	for i := range by.names {
		if by.numbers[i] != "" && by.groups[by.stems[i]] > 1 {
			shared = true
		} else {
			alone = true
		}
	}
	return (!shared || !alone) && !slices.ContainsFunc(by.names, isNameless)
}

// outliers returns the names outside the largest group, or all if no two share a stem, or
// if all are in one group.
func (by *numbering) outliers() []int {
	most, stem := 1, ""
	for i, s := range by.stems {
		if by.numbers[i] != "" && by.groups[s] > most {
			most, stem = by.groups[s], s
		}
	}
	var odd, all []int
	for i, s := range by.stems {
		if most == 1 || by.numbers[i] == "" || s != stem {
			odd = append(odd, i)
		}
		all = append(all, i)
	}
	if len(odd) == 0 {
		return all
	}
	return odd
}

// largest returns how many names the largest group of one stem and numbers has.
func (by *numbering) largest() (n int) {
	for _, size := range by.groups {
		n = max(n, size)
	}
	return n
}

// alike returns those of these names that are in the largest group of one stem and numbers, in the
// order of the numbers; nil where two groups are as large, or a number appears twice.
func (by *numbering) alike(of []int) []int {
	groups := make(map[string][]int)
	for _, i := range of {
		if by.numbers[i] != "" {
			groups[by.stems[i]] = append(groups[by.stems[i]], i)
		}
	}
	var largest []int
	equal := false
	for _, g := range groups {
		if len(g) == len(largest) {
			equal = true
		} else if len(g) > len(largest) {
			largest, equal = g, false
		}
	}
	if equal || len(largest) == 0 {
		return nil
	}
	names := make([]string, len(largest))
	for i, at := range largest {
		names[i] = by.names[at]
	}
	order := number(names).order()
	for j, i := range order {
		order[j] = largest[i]
	}
	return order
}
