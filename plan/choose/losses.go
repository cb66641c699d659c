package choose

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
)

// Ways to state costs in one word.
const (
	OrderedCosts  = "ordered"  // |i - j| between classes i and j, in their order
	BalancedCosts = "balanced" // 1/share of the class that has the most votes
)

// ParseShares reads how frequent the classes are: shares in the order of the classes ("0.95,0.05"), or each
// after its class's name ("no=0.95,yes=0.05"). names are the classes, in order. The error is a
// *release.UsageError that names what is missing or unknown.
func ParseShares(text string, names []string) (plurality.Shares, error) {
	if text == "" {
		return nil, nil
	}
	shares, err := sharesOf(text, names, "class", "classes")
	if err != nil {
		return nil, err
	}
	return shares, rename(plurality.Shares(shares).Validate(len(names)))
}

// ParseYes reads the share of yes of each label of a question: each after its label's name ("cat=0.1,dog=0.4"), or, of
// more than two labels, in their order. ok is false of a text that is of the classes no and yes, which are all labels'.
func ParseYes(text string, classes, labels []string) (yes []float64, ok bool, err error) {
	list := parts(text, func(name string) bool { return index(labels, name) >= 0 || index(classes, name) >= 0 })
	named := false
	for _, part := range list {
		name, _, found := cutLast(part, "=")
		named = named || found
		if found && index(classes, strings.TrimSpace(name)) < 0 {
			ok = true
		}
	}
	if ok = ok || !named && len(list) == len(labels) && len(labels) != len(classes); !ok {
		return nil, false, nil
	}
	if yes, err = sharesOf(text, labels, "label", "labels"); err != nil {
		return nil, true, err
	}
	for _, q := range yes {
		if !(q > 0 && q < 1) {
			return nil, true, usagef("shares = %q: a label's share of yes is %v, but it must be in (0, 1)", text, q)
		}
	}
	return yes, true, nil
}

// sharesOf reads a share of each of the names, in their order or each after its name.
func sharesOf(text string, names []string, one, all string) ([]float64, error) {
	shares := make([]float64, len(names))
	seen := make([]bool, len(names))
	for i, part := range parts(text, func(name string) bool { return index(names, name) >= 0 }) {
		name, number, found := cutLast(part, "=")
		at := i
		if found {
			at = index(names, strings.TrimSpace(name))
		} else {
			number = part
		}
		if at < 0 || at >= len(names) || seen[at] {
			return nil, usagef("shares = %q: %q is of no %s, or the second of one; the %s are %s (%s)", text, part, one, all,
				strings.Join(names, ", "), check.Parameter(all))
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, usagef("shares = %q: %q is no number", text, number)
		}
		shares[at], seen[at] = x, true
	}
	for c, ok := range seen {
		if !ok {
			return nil, usagef("shares = %q: %s %s has none", text, one, names[c])
		}
	}
	return shares, nil
}

// ParseCosts reads what answers cost: "ordered", "balanced" (which needs shares), or a list of
// answered:plurality=cost ("no:yes=9,yes:no=1"). A pair that is not listed costs 1. The error is a
// *release.UsageError.
func ParseCosts(text string, names []string, shares plurality.Shares) (plurality.Costs, error) {
	if text == "" {
		return nil, nil
	}
	costs := make(plurality.Costs, len(names))
	for a := range costs {
		costs[a] = make([]float64, len(names))
		for b := range costs[a] {
			switch {
			case a == b:
			case text == OrderedCosts:
				costs[a][b] = math.Abs(float64(a - b))
			case text == BalancedCosts && shares == nil:
				return nil, usagef("cost = %q goes with shares, whose inverse it is", text)
			case text == BalancedCosts:
				costs[a][b] = 1 / shares[b]
			default:
				costs[a][b] = 1
			}
		}
	}
	if text == OrderedCosts || text == BalancedCosts {
		return costs, nil
	}
	seen := map[[2]int]bool{}
	for _, part := range parts(text, func(pair string) bool { a, _ := pairOf(names, pair); return a >= 0 }) {
		pair, number, found := cutLast(part, "=")
		a, b := pairOf(names, strings.TrimSpace(pair))
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !found || a < 0 || a == b || err != nil {
			return nil, usagef("cost = %q: %q is not answered:plurality=number of two of the classes %s, nor is all of it %q "+
				"or %q", text, part, strings.Join(names, ", "), OrderedCosts, BalancedCosts)
		}
		if seen[[2]int{a, b}] {
			return nil, usagef("cost = %q: %q is stated twice", text, strings.TrimSpace(pair))
		}
		costs[a][b], seen[[2]int{a, b}] = x, true
	}
	return costs, rename(costs.Validate(len(names)))
}

// parts splits a list at its commas, but for those in names: a part that has = behind it, and no name before
// that, goes on.
func parts(text string, is func(name string) bool) (out []string) {
	pieces := strings.Split(text, ",")
	for len(pieces) > 0 {
		n := 1
		for i := range pieces {
			name, _, found := cutLast(strings.Join(pieces[:i+1], ","), "=")
			if found && is(strings.TrimSpace(name)) {
				n = i + 1
				break
			}
		}
		out, pieces = append(out, strings.Join(pieces[:n], ",")), pieces[n:]
	}
	return out
}

// rename returns the error of a statement.
func rename(err error) error {
	if err == nil {
		return nil
	}
	return usagef("%w", err)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// pairOf returns the classes of "answered:plurality", -1 for none. Names may have colons themselves.
func pairOf(names []string, pair string) (a, b int) {
	for a, x := range names {
		for b, y := range names {
			if pair == x+":"+y {
				return a, b
			}
		}
	}
	return -1, -1
}

// Numbered returns the names of classes that have none: 0, 1, ….
func Numbered(classes int) []string {
	names := make([]string, max(0, classes))
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}
