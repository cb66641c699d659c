package votes

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// surveyOf surveys a file of which nothing is stated.
func surveyOf(t *testing.T, file []byte, o Options) (*Survey, error) {
	t.Helper()
	return Look(context.Background(), o, Known{}, func(o Options) (*Reader, error) {
		return NewReader(context.Background(), bytes.NewReader(file), o)
	}, nil)
}

// Cells with names between separators are asked about, and the reading that is proposed is that of the labels:
// the same counts as where they are stated.
func TestSurveyAsksAboutSets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	s := drawSets(random, 30, 12, 5)
	files := s.files(t, random)
	for _, name := range []string{"CSV", "CSV, separated", "JSON text", "JSON lists", "Parquet"} {
		f := files[name]
		survey, err := surveyOf(t, f.file, Options{Format: f.o.Format})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(survey.Readings) == 0 || !strings.Contains(strings.Join(survey.Asked, " "), "sets of labels") {
			t.Errorf("%s: %d readings, asked %q", name, len(survey.Readings), survey.Asked)
			continue
		}
		o := survey.Readings[0].Options
		labels := slices.Clone(s.labels)
		slices.SortFunc(labels, compareValues)
		if !slices.Equal(o.Labels, labels) || len(o.Classes) > 0 || survey.Queries != 30 || survey.K != 12 {
			t.Errorf("%s: labels %q of %d queries, K = %d", name, o.Labels, survey.Queries, survey.K)
		}
		o.KeepVotes = false
		got, err := gather(f.file, o)
		want, err2 := gather(f.file, Options{Format: f.o.Format, Separator: f.o.Separator, Labels: labels, Missing: MissingNo})
		if err != nil || err2 != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the proposed reading is another (%v, %v)", name, err, err2)
		}
	}
}

// Few values are asked about both ways, and text with separators that is no set is left alone.
func TestSurveyOfTextWithSeparators(t *testing.T) {
	survey, err := surveyOf(t, []byte("query,t1,t2,t3\na,cat|dog,cat,dog\nb,dog,dog,cat\nc,cat,dog|cat,cat\n"), Options{})
	if err != nil || len(survey.Readings) != 2 || survey.Readings[1].Options.Labels != nil ||
		len(survey.Readings[1].Options.Classes) != 4 {
		t.Errorf("%v: %+v", err, survey)
	}
	for _, file := range []string{
		"query,t1,t2,t3\na,A+,B,B+\nb,A,A+,B\n",
		"query,t1,t2\na,\"Rome, Italy\",\"Rome, Italy\"\nb,\"Oslo, Norway\",\"Rome, Italy\"\n",
	} {
		survey, err := surveyOf(t, []byte(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(survey.Readings, func(r *Reading) bool { return r.Options.Labels == nil })
		if i < 0 {
			t.Errorf("%q is no more proposed as classes: %q", file, survey.Asked)
		}
	}
}
