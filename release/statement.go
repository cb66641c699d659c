package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/votes"
)

// Statement holds all that decides on the mechanism, as it was stated before anybody looked at the
// votes. Each charge records it. A release with the same statement takes labels of an open charge,
// and a repeated release must have the same statement.
type Statement struct {
	K       int `json:"k"` // teachers; [Labels] takes it from the votes
	Classes int `json:"classes"`
	// Affected is t, the most teachers that one record reaches; AllTeachers means K.
	Affected int  `json:"affected"`
	Missing  bool `json:"missing,omitempty"` // votes may be missing
	// Several has L, τ and YesFrom of questions with several labels; nil where each has one.
	Several    *ensemble.Several `json:"several,omitempty"`
	Neighbours string            `json:"neighbours"`
	// Labels is how many labels, or questions with several, the budget is for, in all; 0 where that is left to the files of one
	// release, which then has a charge of its own.
	Labels int `json:"labels,omitempty"`
	// Budget is that of all labels, in numbers; nil where each label has its own price.
	Budget *accountant.Cost `json:"budget,omitempty"`
	Rest   string           `json:"rest,omitempty"` // of Budget, what was the ledger's rest: "ε", "δ" or "ε, δ"
	// Mechanism is what was stated of one label and of its mechanism, in the front end's words.
	Mechanism string `json:"mechanism,omitempty"`
	Prior     string `json:"prior"` // what labels are to be best for
	// For is what labels within a budget are for, which decides which mechanism is the first; "" for a student,
	// the default, and for labels that have prices of their own.
	For string `json:"for,omitempty"`
	// Shares and Costs are what was stated of classes that are not alike, in their order: with the classes in
	// another order, it is another statement.
	Shares []float64   `json:"shares,omitempty"`
	Costs  [][]float64 `json:"costs,omitempty"`
	// YesShares are those of the labels of a question, in their order, where each has its own.
	YesShares []float64 `json:"yes_shares,omitempty"`
	// PerTeacher, Teachers and Ensemble are what was stated of private teachers.
	PerTeacher *accountant.Cost `json:"per_teacher,omitempty"`
	Teachers   string           `json:"teachers,omitempty"`
	Ensemble   string           `json:"ensemble,omitempty"`
}

// Within returns the statement of labels within a budget, of which only what is no rest is in numbers.
func (s Statement) Within(b LabelBudget) *Statement {
	s.Budget = new(b.resolve(accountant.Cost{})) // what is the rest is compared by Rest alone
	switch {
	case b.Epsilon.Rest && b.Delta.Rest:
		s.Rest = "ε, δ"
	case b.Epsilon.Rest:
		s.Rest = "ε"
	case b.Delta.Rest:
		s.Rest = "δ"
	}
	return &s
}

// Of returns the statement of so many teachers, classes and labels, with what is stated of reading their votes.
func (s Statement) Of(k, classes, labels int, missing votes.MissingPolicy, several ensemble.Several) *Statement {
	s.K, s.Classes, s.Labels, s.Missing = k, classes, labels, missing == votes.MissingAbstain
	if several != (ensemble.Several{}) {
		s.Several = &several
	}
	if s.Affected == ensemble.AllTeachers {
		s.Affected = k
	}
	return &s
}

// several returns L and τ, zero where a label is a question of its own.
func (s *Statement) several() (of ensemble.Several) {
	if s.Several != nil {
		of = *s.Several
	}
	return of
}

// own reports whether a charge of the statement is one release's alone.
func (s *Statement) own() bool { return s == nil || s.Labels == 0 }

// differs names what two statements differ in, and how; "" for nothing. A rest that was resolved to
// another budget is the same statement.
func (s *Statement) differs(from *Statement) string {
	if said := differing(s.several(), from.several()); said != "" {
		return said
	}
	was := *from
	was.Several = s.Several
	if s.Rest == was.Rest && s.Budget != nil && was.Budget != nil && sameBudget(*s.Budget, *was.Budget, s.Rest) {
		was.Budget = s.Budget
	}
	return differing(*s, was)
}

// differing names the first field of two structs of one type that differs, and how; "" for none.
func differing(now, was any) string {
	a, b := reflect.ValueOf(now), reflect.ValueOf(was)
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			return fmt.Sprintf("%s = %s then, %s now", strings.ReplaceAll(name, "_", " "),
				shown(b.Field(i)), shown(a.Field(i)))
		}
	}
	return ""
}

// sameBudget compares what was not the ledger's rest.
func sameBudget(a, b accountant.Cost, rest string) bool {
	return (a.Epsilon == b.Epsilon || strings.Contains(rest, "ε")) &&
		(a.Delta == b.Delta || strings.Contains(rest, "δ"))
}

func shown(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool || v.Kind() == reflect.Slice && v.Len() == 0 {
		return "not stated"
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		return fmt.Sprintf("%q", v.Interface())
	}
	return fmt.Sprint(v.Interface())
}

// named is a digest of texts, of which no two lists have the same bytes, in hexadecimal.
func named(parts ...string) string {
	b, _ := json.Marshal(parts) // texts always have JSON
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
