package votes

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// An Answer is one reading of a file: what is stated beside what was stated already.
type Answer struct {
	// Text says in a few words what the answer presumes; "" where there is no question.
	Text    string
	Classes []string // nil where they are to be asked
	Same    []Spelling
	Missing MissingPolicy // MissingAbstain where a vote is missing
	// Votes has how many votes each class gets, Absent how many are missing.
	Votes  []int64
	Absent int64
}

// values are the rules about what a vote can be, for a file of unknown classes.
type values struct {
	*tallied
	told      []string
	questions []string
	answers   []Answer
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

// ask applies the rules: docs/votes.md has them.
func (v *values) ask() {
	plain := make(map[string]bool)  // values that are no missing votes
	absent := make(map[string]bool) // spellings that may be missing votes or classes, by their values
	for _, i := range v.occurring() {
		switch s := v.spellings[i]; {
		case s.blank:
		case s.missing:
			absent[s.value] = true
		default:
			plain[s.value] = true
		}
	}
	answers := []map[string]bool{plain} // the classes of each
	texts := [][]string{nil}            // what each presumes
	// double makes each answer two, of which the second has the value as a class
	double := func(value string) {
		for i := range answers {
			with := make(map[string]bool)
			for c := range answers[i] {
				with[c] = true
			}
			with[value] = true
			answers = append(answers, with)
			texts = append(texts, append(slices.Clone(texts[i]), value+" is a class"))
			texts[i] = append(texts[i], value+" is no answer")
		}
	}
	word := false
	for c := range plain {
		word = word || isWord(c)
	}
	for _, value := range sortedValues(absent) {
		switch {
		case value == "-1":
			v.askMinusOne(plain, &answers, &texts)
		case !strings.EqualFold(value, "NA") && !strings.EqualFold(value, "None"):
		case word && v.blanks() > 0:
			for _, classes := range answers {
				classes[value] = true
			}
			v.told = append(v.told, fmt.Sprintf("%s is a class: blank cells are the missing votes", value))
		case word:
			v.questions = append(v.questions, fmt.Sprintf("is %s a class, or no answer?", value))
			double(value)
		}
	}
	for i, classes := range answers {
		v.answer(strings.Join(texts[i], ", "), classes, i == 0)
	}
}

// askMinusOne decides whether -1 is a class.
func (v *values) askMinusOne(plain map[string]bool, answers *[]map[string]bool, texts *[][]string) {
	negative, others := false, false
	for c := range plain {
		n, ok := canonicalInt(c)
		negative = negative || ok && n < 0
		others = others || c != "0" && c != "1"
	}
	with := map[string]bool{"-1": true}
	for c := range plain {
		with[c] = true
	}
	switch {
	case negative:
		for _, classes := range *answers {
			classes["-1"] = true
		}
		v.told = append(v.told, "-1 is a class: other numbers are negative too")
	case others:
		v.told = append(v.told, "-1 is no answer, as in the matrices of weak supervision")
	case plain["0"] && plain["1"]:
		v.questions = append(v.questions, "are -1, 0 and 1 classes, or is -1 or 0 no answer?")
		*answers = []map[string]bool{with, plain, {"-1": true, "1": true}}
		*texts = [][]string{{"all three are classes"}, {"-1 is no answer"}, {"0 is no answer"}}
	default:
		v.questions = append(v.questions, "is -1 a class, or no answer?")
		*answers = []map[string]bool{with, plain}
		*texts = [][]string{{"-1 is a class"}, {"-1 is no answer"}}
	}
}

// answer adds the answer of these classes, if they can be stated. first is true of the first answer.
func (v *values) answer(text string, classes map[string]bool, first bool) {
	same, merged := mergeSpellings(classes)
	if len(same) > 0 {
		if first {
			v.questions = append(v.questions, askSame(same))
		}
		text = strings.TrimPrefix(text+", these are one class", ", ")
	}
	a := Answer{Text: text, Same: same}
	names := sortedValues(merged)
	if len(names) > 0 && !slices.ContainsFunc(names, func(c string) bool { return c != "0" && c != "1" }) {
		names = IntegerClasses(2)
	}
	list, err := newClassList(names, same)
	if len(names) < 2 || err != nil {
		v.answers = append(v.answers, a)
		return
	}
	a.Classes, a.Votes = names, make([]int64, len(names))
	for i, s := range v.spellings {
		if class := list.of(s.value); class >= 0 && !s.blank {
			a.Votes[class] += v.votes[i]
		} else {
			a.Absent += v.votes[i]
		}
	}
	if a.Absent > 0 {
		a.Missing = MissingAbstain
	}
	v.answers = append(v.answers, a)
}

// askSame is the question whether spellings are of one class.
func askSame(same []Spelling) string {
	var parts []string
	commas := true
	for i, s := range same {
		commas = commas && hasDecimalComma(s.Text)
		text := quoteUnlessPlain(s.Text)
		if i > 0 && same[i-1].Class == s.Class {
			parts[len(parts)-1] += ", " + text
		} else {
			parts = append(parts, quoteUnlessPlain(s.Class)+" = "+text)
		}
	}
	what := "are these one class"
	if commas {
		what = "are these decimal commas"
	}
	return fmt.Sprintf("%s: %s? Where they are not, the classes are to be named one by one", what,
		strings.Join(parts, "; "))
}

// sortedValues returns values in their order.
func sortedValues(of map[string]bool) []string {
	var all []string
	for value := range of {
		all = append(all, value)
	}
	slices.SortFunc(all, compareValues)
	return all
}

// truthWords are words for 1 and 0, in small letters.
var truthWords = map[string]string{"true": "1", "t": "1", "yes": "1", "y": "1", "false": "0", "f": "0",
	"no": "0", "n": "0"}

// mergeSpellings returns the spellings that make one class of values that a person may have meant as
// one, and the classes then.
func mergeSpellings(of map[string]bool) (same []Spelling, merged map[string]bool) {
	all := sortedValues(of)
	groups := make(map[string][]string)
	for _, value := range all {
		key := strings.ToLower(value)
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
			if len(values) > 1 && value == strings.ToLower(value) && isWord(value) && isWord(name) {
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

// decimal returns the one text of all numbers that are equal, with a decimal point or comma.
func decimal(value string) (string, bool) {
	if hasDecimalComma(value) {
		value = strings.Replace(value, ",", ".", 1)
	} else if !isNumber(value) {
		return "", false
	}
	if len(value) > 40 { // which no class is, and an exponent could be large
		return "", false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(value), "e")
	if len(exponent) > 3 {
		return "", false
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if exponent != "" {
		r, ok = new(big.Rat).SetString(value)
	}
	if !ok {
		return "", false
	}
	if r.IsInt() {
		return r.Num().String(), true
	}
	return r.String(), true
}
