package mutant

import (
	"fmt"
	"strings"
	"testing"
)

// A test is skipped too where nothing but its parts was, and one that did not end has failed.
func TestRead(t *testing.T) {
	var stream strings.Builder
	for _, e := range []string{
		"run TestA", "pass TestA", "run TestB", "skip TestB",
		"run TestC", "run TestC/x", "skip TestC/x", "pass TestC",
		"run TestD", "run TestD/x", "skip TestD/x", "run TestD/y", "pass TestD/y", "pass TestD",
		"run TestE", "fail TestE", "run TestF", "run TestF/x", "pass TestF/x",
	} {
		action, name, _ := strings.Cut(e, " ")
		fmt.Fprintf(&stream, "{\"Action\":%q,\"Package\":\"p\",\"Test\":%q,\"Elapsed\":0.5}\n", action, name)
	}
	stream.WriteString("# a compiler's line\n" + `{"Action":"output","Package":"p","Output":"ok p\n"}` + "\n" +
		`{"Action":"pass","Package":"p","Elapsed":2}` + "\n")
	o := Read([]byte(stream.String()))
	got := fmt.Sprint(o.Passed, o.Failed, o.Skipped, o.Parts)
	if want := "[TestA TestD] [TestE TestF] [TestB TestC] map[TestD:[TestD/y] TestF:[TestF/x]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if o.Text != "# a compiler's line\nok p\n" || o.Seconds["TestA"] != 0.5 {
		t.Errorf("%q, %v", o.Text, o.Seconds)
	}
}
