package votes

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/num"
)

// An Answer is one way to read a file: the statements that are still missing.
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

// A choice is the classes that follow from one answer to the questions.
type choice struct {
	classes map[string]bool
	silent  []string // values that are no answer though no table of spellings says so
	texts   []string // what is presumed
}

// with returns the choice in which these values are classes.
func (c choice) with(text string, values ...string) choice {
	c.classes = maps.Clone(c.classes)
	for _, value := range values {
		c.classes[value] = true
	}
	c.texts = append(slices.Clone(c.texts), text)
	return c
}

// without returns the choice in which these values are no answer.
func (c choice) without(text string, values ...string) choice {
	c.classes, c.silent = maps.Clone(c.classes), slices.Clone(c.silent)
	for _, value := range values {
		if c.classes[value] {
			c.silent = append(c.silent, value)
		}
		delete(c.classes, value)
	}
	c.texts = append(slices.Clone(c.texts), text)
	return c
}

// ask applies the rules: docs/formats.md has them.
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
	choices := []choice{{classes: plain}}
	// split makes each choice two: the second has the values as classes.
	split := func(what string, values ...string) {
		v.questions = append(v.questions, fmt.Sprintf("is %s a class, or no answer?", what))
		for _, c := range slices.Clone(choices) {
			choices = append(choices, c.with(what+" is a class", values...))
		}
		for i, c := range choices[:len(choices)/2] {
			choices[i] = c.without(what+" is no answer", values...)
		}
	}
	word := false
	for c := range plain {
		word = word || isWord(c)
	}
	said := make(map[string]bool) // what says by itself that a vote is missing, in small letters
	for value := range absent {
		if value != "-1" {
			said[strings.ToLower(value)] = true
		}
	}
	for _, value := range sortedValues(absent) {
		switch {
		case value == "-1":
			choices = v.askMinusOne(plain)
		case !strings.EqualFold(value, "NA") && !strings.EqualFold(value, "None"):
		case word && v.blanks() > 0 && len(said) == 1:
			for _, c := range choices {
				c.classes[value] = true
			}
			v.told = append(v.told, fmt.Sprintf("%s is a class: blank cells are the missing votes", value))
		case word:
			split(value, value)
		}
	}
	switch silent := maybeSilent(plain); {
	case len(silent) > 2: // one question for all, since each would double the answers
		all := slices.Concat(silent...)
		split("each of "+quoteAll(all), all...)
	default:
		for _, values := range silent {
			split(shownValues(values), values...)
		}
	}
	v.askNumbers(plain, choices)
	for i, c := range choices {
		v.answer(c, i == 0)
	}
}

// mostNumbers is the largest number of numbers that are taken for classes without a question.
const mostNumbers = 20

// askNumbers asks whether numbers are classes that may be measurements, such as probabilities, and
// says what each choice presumes.
func (v *values) askNumbers(plain map[string]bool, choices []choice) {
	numbers, fractions, shares := 0, 0, 0
	for value := range plain {
		x, ok := rational(strings.TrimRight(value, "% "))
		if !ok {
			continue
		}
		if numbers++; !x.IsInt() {
			fractions++
			if abs := new(big.Rat).Abs(x); abs.Cmp(big.NewRat(1, 1)) < 0 {
				shares++
			}
		}
	}
	what := ""
	switch {
	case shares > 0 || fractions > 0 && numbers > mostNumbers/2:
		what = "probabilities or measurements"
	case numbers > mostNumbers:
		what = "counts or measurements"
	default:
		return
	}
	v.questions = append(v.questions, fmt.Sprintf("are these %s the names of classes, or %s? A vote names one "+
		"class: of %[2]s, write each teacher's class, such as 1 where a probability is at least 0.5",
		num.Count(numbers, "number"), what))
	for i, c := range choices {
		if c.texts = append(c.texts, "the numbers are names of classes"); numbers > mostNumbers {
			c.classes = nil // no command lists so many
		}
		choices[i] = c
	}
}

// silentWords are words for no answer, in small letters.
var silentWords = []string{"abstain", "abstained", "abstention", "skip", "skipped", "unknown", "unsure", "not sure",
	"undecided", "missing", "no answer", "no vote", "don't know", "dont know", "idk", "not applicable", "unlabeled",
	"unlabelled", "undefined", "nil", "blank", "empty", "invalid", "error",
	"k. a.", "k.a.", "keine angabe", "#ref!", "#value!", "#div/0!", "#name?", "#num!", "#null!"}

// maybeSilent returns those of the values that may be no answer, each with its spellings in other
// cases: words for that; marks of punctuation beside others, but not - beside +; numbers of nines (99,
// -9) that have more digits than all other numbers, and 9 beside others that are at most 6.
func maybeSilent(plain map[string]bool) (groups [][]string) {
	nines := func(value string) bool {
		digits := strings.TrimPrefix(value, "-")
		return digits != "" && strings.Trim(digits, "9") == ""
	}
	words, others, digits := 0, 0, 0 // no marks; no nines; the most digits of numbers that are no nines
	const mostBeside9 = 6            // of a scale that may have 9 for no answer
	small := true                    // all numbers that are no nines are whole, and at most that
	for value := range plain {
		if !isMarks(value) {
			words++
		}
		if !nines(value) {
			others++
			n, whole := canonicalInt(value)
			if whole {
				digits = max(digits, len(value))
			}
			small = small && whole && n >= 0 && n <= mostBeside9
		}
	}
	of := make(map[string][]string)
	for _, value := range sortedValues(plain) {
		key := strings.ToLower(value)
		switch {
		case slices.Contains(silentWords, key) && len(plain) > 1, isMarks(value) && words > 0 && !plain["+"],
			value != "9" && nines(value) && others > 0 && len(value) > digits, value == "9" && others > 1 && small:
			of[key] = append(of[key], value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, of[key])
	}
	return groups
}

// isMarks reports whether a value is marks of punctuation alone.
func isMarks(value string) bool {
	return strings.Trim(value, "-–—_.,;:*/\\|~#()[]{}<>…'\" ") == ""
}

func shownValues(values []string) string {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoteUnlessPlain(value)
	}
	return strings.Join(shown, ", ")
}

// askMinusOne decides whether -1 is a class.
func (v *values) askMinusOne(plain map[string]bool) []choice {
	negative, others := false, false
	var zeros, ones []string
	for _, c := range sortedValues(plain) {
		n, ok := canonicalInt(c)
		negative = negative || ok && n < 0
		switch number, _ := decimal(c); number { // +1 is 1 as people write it beside -1
		case "0":
			zeros = append(zeros, c)
		case "1":
			ones = append(ones, c)
		default:
			others = true
		}
	}
	all := choice{classes: plain}
	switch {
	case negative:
		v.told = append(v.told, "-1 is a class: other numbers are negative too")
		plain["-1"] = true
		return []choice{all}
	case others:
		v.told = append(v.told, "-1 is no answer, as in the matrices of weak supervision")
		return []choice{all}
	case len(zeros) > 0 && len(ones) > 0:
		v.questions = append(v.questions, "are -1, 0 and 1 classes, or is -1 or 0 no answer?")
		third := all.with("0 is no answer", "-1").without("", zeros...)
		third.texts = third.texts[:1]
		if plain["0"] && plain["1"] && len(plain) == 2 {
			third.silent = nil // 0 is no answer between these two classes
		}
		return []choice{all.with("all three are classes", "-1"), all.with("-1 is no answer"), third}
	}
	v.questions = append(v.questions, "is -1 a class, or no answer?")
	return []choice{all.with("-1 is a class", "-1"), all.with("-1 is no answer")}
}

// answer adds the answer of a choice, if it can be stated. first is true of the first.
func (v *values) answer(c choice, first bool) {
	same, merged := mergeSpellings(c.classes)
	text := strings.Join(c.texts, ", ")
	if len(same) > 0 {
		if first {
			v.questions = append(v.questions, askSame(same))
		}
		text = strings.TrimPrefix(text+", these are one class", ", ")
	}
	for _, value := range c.silent {
		same = append(same, Spelling{Text: value})
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
