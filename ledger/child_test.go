package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The tests of crashes run this test binary again as a process of its own, which
// plays a program that charges and releases. "Released" is a line on its standard
// output: once written, it can't be taken back.

// behindSuffix is added to the path of a ledger for that of its anchor of one commit before.
// In the mode "behind" it takes the anchor's place under an open handle, as if another process
// had been killed between ledger and anchor.
const behindSuffix = ".behind"

const childEnv = "DARRM_LEDGER_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		if err := runChild(mode, os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Println("error", err)
			os.Exit(3)
		}
		return
	}
	os.Exit(m.Run())
}

// child returns a command that charges n times one unit under ids with a prefix. In the mode "take"
// it takes n answers of the quota "quota", in "drawn" each charge has its result.
func child(mode, path, prefix string, n int) *exec.Cmd {
	cmd := exec.Command(os.Args[0], path, prefix, strconv.Itoa(n))
	// The race detector sleeps a second at every exit otherwise.
	cmd.Env = append(os.Environ(), childEnv+"="+mode, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

func runChild(mode, path, prefix, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if mode == "refund" {
		if err := refund(path); err != nil {
			return err
		}
	}
	if mode == "full" {
		if err := limitFileSize(path); err != nil {
			return err
		}
	}
	if mode == "read only" {
		if err := giveUpRoot(); err != nil {
			return err
		}
	}
	l, err := Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) && mode == "create" {
		budget, _ := NewBudget(1000, 0)
		l, err = Create(ctx, path, budget, ReplaceOne)
	}
	if err != nil {
		return err
	}
	if mode == "behind" && prefix == "first" {
		if err := os.Rename(path+behindSuffix, path+AnchorSuffix); err != nil {
			return err
		}
	}
	for i := range n {
		id := fmt.Sprintf("%s-%d", prefix, i)
		if mode == "release first" {
			fmt.Printf("released %s\n", id)
		}
		if mode == "refund" {
			if err := keepCopy(path); err != nil {
				return err
			}
		}
		r := Request{
			Relation: ReplaceOne, ID: id, Count: 1, Unit: unitOfOne,
			Ensemble: "e", EnsembleDigest: "v1", Draw: childDraw(id, i%2 == 1),
		}
		if mode == "take" {
			r = taking("quota", id, 1, 1)
		}
		if strings.HasPrefix(mode, "drawn") {
			err = chargeDrawn(l, r, mode, prefix, i)
		} else {
			var receipt *Receipt
			if receipt, err = l.Charge(ctx, r); err == nil {
				err = receipt.Redeem()
			}
		}
		switch {
		case err != nil:
			fmt.Printf("refused %s %v\n", id, err)
		case mode != "release first" && mode != "drawn and seen":
			fmt.Printf("released %s\n", id)
		}
		if mode == "refund" && err == nil {
			if err := os.Remove(path + ".copy"); err != nil {
				return err
			}
		}
	}
	return nil
}

// chargeDrawn draws with the charge. In the mode "drawn and killed" the first process dies with its
// second result in memory. "drawn and seen" is a planted mutant: the result leaves before it is on
// disk.
func chargeDrawn(l *Ledger, r Request, mode, prefix string, i int) error {
	receipt, _, err := l.ChargeDrawn(context.Background(), []Request{r}, func() (Digest, error) {
		if mode == "drawn and killed" && prefix == "first" && i == 1 {
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			select {}
		}
		if mode == "drawn and seen" {
			fmt.Printf("released %s\n", r.ID)
		}
		return drawnOf(r.ID), nil
	})
	if err == nil && receipt.Redeem() == nil {
		err = errors.New("the receipt admits another draw")
	}
	return err
}

// drawnOf is the result that the children draw for an id.
func drawnOf(id string) Digest { return sha256.Sum256([]byte(id)) }

// keepCopy and refund are a planted mutant: a program that takes the charge back
// if it finds, after a crash, that the release was not noted as done.
func keepCopy(path string) error {
	db, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	a, err := os.ReadFile(path + AnchorSuffix)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".copy", append(a, db...), 0o600) // the anchor is one line
}

func refund(path string) error {
	b, err := os.ReadFile(path + ".copy")
	if err != nil {
		return nil
	}
	anchor, db, _ := bytes.Cut(b, []byte("\n"))
	return errors.Join(os.WriteFile(path+AnchorSuffix, append(anchor, '\n'), 0o600),
		os.WriteFile(path, db, 0o600))
}

// said collects what children printed.
type said struct {
	released map[string]bool
	refused  []string
	errors   []string
}

func (s *said) read(t testing.TB, output string) {
	t.Helper()
	if s.released == nil {
		s.released = map[string]bool{}
	}
	// A line that a kill cut short says nothing.
	for line := range strings.Lines(output[:strings.LastIndexByte(output, '\n')+1]) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "released":
			if s.released[rest] {
				t.Errorf("%s was released twice", rest)
			}
			s.released[rest] = true
		case "refused":
			s.refused = append(s.refused, rest)
		case "error":
			s.errors = append(s.errors, rest)
		default:
			t.Errorf("child says %q", line)
		}
	}
}

// violation describes how a ledger contradicts what was released, "" if it does not. A crash must
// leave it openable: nobody damaged it.
func (s *said) violation(path string) string {
	l, err := Open(context.Background(), path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && len(s.released) == 0 {
			return ""
		}
		return err.Error()
	}
	entries, err := l.History(context.Background())
	if err != nil {
		return err.Error()
	}
	charged, spent := map[string]bool{}, Cost{}
	for i, e := range entries {
		if e.Kind == KindResult { // of a draw: stored with its charge
			if last := entries[i-1]; last.ID != e.ID || last.Commit != e.Commit || e.Result != drawnOf(e.ID) {
				return fmt.Sprintf("the result of %s is not with its charge", e.ID)
			}
			continue
		}
		charged[e.ID] = true
		if e.Quota == nil || e.Quota.Answers > 0 { // an answer that is taken costs nothing
			spent = spent.Plus(unitOfOne)
		}
	}
	for id := range s.released {
		if !charged[id] {
			return fmt.Sprintf("%s was released and is not charged", id)
		}
	}
	if got, err := l.Spent(context.Background()); err != nil || got != spent {
		return fmt.Sprintf("%v is spent, %v; want %v", got, err, spent)
	}
	return ""
}

// childDraw has votes that no other draw has.
func childDraw(id string, covers bool) *Draw {
	h := newVoteHash(secret{1})
	h.add('v', []int{len(id)})
	for _, c := range []byte(id) {
		h.add('v', []int{int(c)})
		h.sum[0] *= 3
	}
	d := h.Draw("e", id)
	d.Covers = covers
	return d
}

// honest fails on a violation, and if the second child could not work.
func honest(t *testing.T) func(at, path string, first, second said) {
	return func(at, path string, first, second said) {
		t.Helper()
		for id := range second.released {
			first.released[id] = true
		}
		if v := first.violation(path); v != "" {
			t.Errorf("%s: %s", at, v)
		}
		if len(second.released) != 2 {
			t.Errorf("%s: the next process released %d of 2", at, len(second.released))
		}
		os.RemoveAll(filepath.Dir(path))
	}
}

// existing returns a function that makes copies of one small ledger.
func existing(t *testing.T) func() string {
	u := newUnderAttack(t, 2)
	return func() string {
		path := filepath.Join(tempDir(t), "ledger")
		u.last().write(t, path)
		if err := os.WriteFile(path+behindSuffix, u.states[len(u.states)-2].anchor, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// tempDir is t.TempDir without the numbers: there are hundreds of them.
func tempDir(t *testing.T) string {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
