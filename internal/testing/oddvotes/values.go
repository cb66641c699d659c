package oddvotes

import "slices"

// A spelling is a text of a vote, and the value that it has where no class is stated.
type spelling struct{ text, value string }

// A family is a set of spellings that occur together. The first is that of a class, whatever is
// answered. A family that is not asked about has one answer.
type family struct {
	name      string
	spellings []spelling
	asked     bool
	answers   []Answer
	number    bool // all are whole numbers or blank, as arrays have them
}

// plain returns spellings that are their values.
func plain(values ...string) (all []spelling) {
	for _, v := range values {
		all = append(all, spelling{v, v})
	}
	return all
}

// missing returns spellings of missing votes.
func missing(texts ...string) (all []spelling) {
	for _, text := range texts {
		all = append(all, spelling{text, ""})
	}
	return all
}

// as returns an answer of classes, each with the values that are it besides its name.
func as(classes []string, also ...string) Answer {
	a := Answer{classes, make(map[string]string)}
	for _, c := range classes {
		a.Class[c] = c
	}
	for i := 0; i < len(also); i += 2 {
		a.Class[also[i]] = also[i+1]
	}
	return a
}

func clear(name string, number bool, classes []string, spellings ...[]spelling) family {
	return family{name, slices.Concat(spellings...), false, []Answer{as(classes)}, number}
}

func asked(name string, number bool, spellings []spelling, answers ...Answer) family {
	return family{name, spellings, true, answers, number}
}

var (
	bits    = []string{"0", "1"}
	animals = []string{"cat", "dog", "emu"}
)

var families = []family{
	clear("bits", true, bits, plain("1", "0")),
	clear("ones alone", true, bits, plain("1")),
	clear("bits and blanks", true, bits, plain("0", "1"), missing("")),
	clear("bits and spellings of missing", false, bits, plain("1", "0"), missing("NA", "n/a", "NaN", "?", "null",
		"None", "<NA>", "#N/A")),
	clear("floats", false, bits, []spelling{{"1.0", "1"}, {"0.0", "0"}}, missing("")),
	clear("floats beside whole numbers", false, bits, []spelling{{"1", "1"}, {"1.0", "1"}, {"1e0", "1"}, {"0", "0"}}),
	clear("numbers", true, []string{"1", "2", "3"}, plain("2", "1", "3")),
	clear("numbers of two digits", true, []string{"9", "10"}, plain("10", "9"), missing("")),
	clear("numbers beside -1", true, []string{"0", "2"}, plain("2", "0"), missing("-1")),
	clear("negative numbers", true, []string{"-2", "-1", "1"}, plain("-2", "-1", "1")),
	clear("words", false, animals, plain("cat", "dog", "emu")),
	clear("words and missing", false, animals, plain("dog", "cat", "emu"), missing("", "null", "NaT", "?", "#N/A")),
	clear("words beside -1", false, animals[:2], plain("dog", "cat"), missing("-1")),
	clear("words, NA and blanks", false, []string{"BW", "NA", "ZA"}, plain("BW", "NA", "ZA"), missing("")),
	clear("yes and no", false, []string{"no", "yes"}, plain("yes", "no")),
	clear("words with commas", false, []string{"Books", "Toys, Games"}, plain("Toys, Games", "Books")),
	clear("composed and decomposed", false, []string{"d\u00e9faut", "ok"}, []spelling{{"ok", "ok"},
		{"d\u00e9faut", "d\u00e9faut"}, {"de\u0301faut", "d\u00e9faut"}}),
	clear("numbers with a point", false, []string{"1.1", "1.2"}, plain("1.1", "1.2")),
	clear("codes with zeros in front", false, []string{"01", "02"}, plain("01", "02")),

	asked("NA or Namibia", false, plain("BW", "ZA", "NA"), as([]string{"BW", "ZA"}), as([]string{"BW", "NA", "ZA"})),
	asked("None or none", false, plain("mild", "severe", "None"), as([]string{"mild", "severe"}),
		as([]string{"None", "mild", "severe"})),
	asked("-1 beside 1", true, plain("1", "-1"), as([]string{"-1", "1"}), as(bits)),
	asked("-1 beside 0", true, plain("0", "-1"), as([]string{"-1", "0"}), as(bits)),
	asked("-1, 0 and 1", true, plain("1", "0", "-1"), as([]string{"-1", "0", "1"}), as(bits),
		as([]string{"-1", "1"})),
	asked("case", false, plain("dog", "cat", "Cat", "CAT"), as(animals[:2], "Cat", "cat", "CAT", "cat")),
	asked("TRUE beside 1", false, plain("1", "0", "TRUE", "False"), as(bits, "TRUE", "1", "False", "0")),
	asked("01 beside 1", false, plain("1", "0", "01"), as(bits, "01", "1")),
	asked("decimal commas", false, plain("1,0", "0,0"), as(bits, "1,0", "1", "0,0", "0")),
	asked("one word", false, plain("cat")),
	asked("999 beside bits", true, plain("1", "0", "999"), as(bits), as([]string{"0", "1", "999"})),
	asked("99 beside numbers", true, plain("2", "1", "99"), as([]string{"1", "2"}), as([]string{"1", "2", "99"})),
	asked("9 beside a scale", true, plain("2", "1", "9"), as([]string{"1", "2"}), as([]string{"1", "2", "9"})),
	asked("an error of a spreadsheet", false, plain("dog", "cat", "#REF!"), as(animals[:2]),
		as([]string{"#REF!", "cat", "dog"})),
	asked("a dash beside words", false, plain("dog", "cat", "-"), as(animals[:2]), as([]string{"-", "cat", "dog"})),
	asked("a dot beside bits", false, plain("1", "0", "."), as(bits), as([]string{"0", "1", "."})),
	asked("unknown", false, plain("dog", "cat", "unknown"), as(animals[:2]), as([]string{"cat", "dog", "unknown"})),
	asked("+1 beside -1", false, plain("+1", "-1"), as([]string{"-1", "+1"})),
	asked("probabilities", false, plain("0.25", "0.5", "0.75"), as([]string{"0.25", "0.5", "0.75"})),
	clear("plus and minus", false, []string{"+", "-"}, plain("+", "-")),
}
