package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
)

// The example asks a server of this checkout, and prints what its comment says: three answers, the
// first once more at no cost, and a refusal.
func TestExample(t *testing.T) {
	folder, err := os.MkdirTemp("", "serve") // the name of a socket has little room
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	for name, from := range map[string]string{"darrm": "../../cmd/darrm", "example": "."} {
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(folder, name),
			from).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	budget, err := ledger.NewBudget(8, 0)
	if err != nil {
		t.Fatal(err)
	}
	book, socket := filepath.Join(folder, "patients.ledger"), filepath.Join(folder, "s")
	if _, err := ledger.Create(t.Context(), book, budget, ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	s := &servetest.Server{Program: filepath.Join(folder, "darrm"), Socket: socket, Args: []string{
		"serve", "--ledger", book, "--key", filepath.Join(folder, "key"), "--listen", "unix:" + socket,
		"--mechanism", "permute-and-flip", "--K", "11", "--label-eps", "0.5", "--affected", "1",
	}}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	run := func(secret string) []byte {
		t.Helper()
		var said bytes.Buffer
		c := exec.CommandContext(t.Context(), filepath.Join(folder, "example"), socket,
			filepath.Join(folder, secret))
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return out
	}
	out := run("replay.secret")
	m := regexp.MustCompile(`^image-1: ([01]), charged before: false, \(7.5, 0\) is left
image-2: [01], charged before: false, \(7, 0\) is left
image-3: [01], charged before: false, \(6.5, 0\) is left
image-1: ([01]), charged before: true, \(6.5, 0\) is left
image-1: refused, conflict
$`).FindSubmatch(out)
	if m == nil || !bytes.Equal(m[1], m[2]) {
		t.Errorf("it prints\n%s", out)
	}
	// Started again it has the same answers for nothing, and with another secret none.
	again := regexp.MustCompile(`charged before: [a-z]+, \([0-9.]+,`).ReplaceAll(out,
		[]byte("charged before: true, (6.5,"))
	if got := run("replay.secret"); !bytes.Equal(got, again) {
		t.Errorf("started again it prints\n%s", got)
	}
	if got := run("another.secret"); bytes.Count(got, []byte("refused, conflict")) != 5 {
		t.Errorf("with another secret it prints\n%s", got)
	}
	if code, said := s.Stop(); code != 0 || !bytes.Contains([]byte(said), []byte("msg=stopped")) {
		t.Errorf("the server ends with %d: %s", code, said)
	}
}
