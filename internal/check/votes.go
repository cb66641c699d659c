package check

import "fmt"

// Votes checks the votes of one query: a count of at least 0 for each class, which add up to k
// with those that are missing. Where a vote may be none, the counts add up to at most k, and
// missing is 0, since a vote that is none takes no place.
func Votes(counts []int, missing, k, classes int, none bool) error {
	if len(counts) != classes {
		return &Error{"number of vote counts", len(counts),
			fmt.Sprintf("the number of classes, %d", classes)}
	}
	if none && missing != 0 {
		return &Error{"missing votes", missing, "0 where a vote may be none"}
	}
	if missing < 0 || missing > k {
		return &Error{"missing votes", missing, fmt.Sprintf("between 0 and K = %d", k)}
	}
	sum := missing
	for c, n := range counts {
		if n < 0 || n > k { // so few that the sum does not overflow
			return &Error{fmt.Sprintf("votes for class %d", c), n,
				fmt.Sprintf("between 0 and K = %d", k)}
		}
		sum += n
	}
	switch {
	case none && sum > k:
		return &Error{"sum of the vote counts", sum, fmt.Sprintf("at most K = %d", k)}
	case !none && sum != k:
		return &Error{"sum of the vote counts", sum, fmt.Sprintf("K = %d", k)}
	}
	return nil
}
