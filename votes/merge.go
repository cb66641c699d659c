package votes

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// truthWords are words for 1 and 0, in small letters.
var truthWords = map[string]string{"true": "1", "t": "1", "yes": "1", "y": "1", "false": "0", "f": "0",
	"no": "0", "n": "0"}

// mergeSpellings returns the spellings that make one class of values that a person may have meant as
// one, and the classes then.
func mergeSpellings(of map[string]bool) (same []Spelling, merged map[string]bool) {
	all := sortedValues(of)
	groups := make(map[string][]string)
	for _, value := range all {
		key := strings.ToLower(visible(value))
		if word, ok := truthWords[key]; ok && (of["0"] || of["1"]) {
			key = word
		} else if number, ok := decimal(value); ok {
			key = number
		}
		groups[key] = append(groups[key], value)
	}
	merged = make(map[string]bool)
	for key, values := range groups {
		name := values[0]
		if _, whole := canonicalInt(key); whole && (len(values) > 1 || hasDecimalComma(name) ||
			truthWords[strings.ToLower(name)] != "") {
			name = key
		}
		for _, value := range values { // small letters first
			if len(values) > 1 && value == strings.ToLower(visible(value)) && isWord(value) && isWord(name) {
				name = value
			}
		}
		merged[name] = true
		for _, value := range values {
			if value != name {
				same = append(same, Spelling{name, value})
			}
		}
	}
	slices.SortFunc(same, func(a, b Spelling) int {
		if c := compareValues(a.Class, b.Class); c != 0 {
			return c
		}
		return strings.Compare(a.Text, b.Text)
	})
	return same, merged
}

// visible returns a text without the characters of formats, such as blanks of no width, that nobody sees.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// decimal returns the one text of all numbers that are equal, with a decimal point or comma.
func decimal(value string) (string, bool) {
	r, ok := rational(value)
	switch {
	case !ok:
		return "", false
	case r.IsInt():
		return r.Num().String(), true
	}
	return r.String(), true
}

// rational returns a number as people write it, with a decimal point or comma.
func rational(value string) (*big.Rat, bool) {
	if hasDecimalComma(value) {
		value = strings.Replace(value, ",", ".", 1)
	} else if !isNumber(value) {
		return nil, false
	}
	if len(value) > 40 { // which no class is, and an exponent could be large
		return nil, false
	}
	if _, exponent, _ := strings.Cut(strings.ToLower(value), "e"); len(exponent) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(value)
}

// isNumber reports whether text is a number as people write it: -3, 1.50 or 2e4.
func isNumber(text string) bool {
	unsigned := strings.TrimLeft(text, "+-")
	if unsigned == "" || unsigned[0] < '0' || unsigned[0] > '9' ||
		strings.Trim(unsigned, "0123456789.eE+-") != "" {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// hasDecimalComma reports whether text is a number with a decimal comma.
func hasDecimalComma(text string) bool {
	whole, fraction, ok := strings.Cut(text, ",")
	return ok && fraction != "" && strings.Trim(whole+fraction, "0123456789+-") == "" &&
		isNumber(whole+"."+fraction)
}

// isWord reports whether a value is no number.
func isWord(value string) bool {
	return !isNumber(value) && !hasDecimalComma(value)
}
