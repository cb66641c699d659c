package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// watched is an output that tells when it is to be written.
type watched struct {
	Output
	before func()
}

func (w watched) Write(ctx context.Context, encode func(io.Writer) error) error {
	if w.before != nil {
		w.before()
	}
	return w.Output.Write(ctx, encode)
}

// text is a Draw whose result is s.
func text(s string) func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
	return func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }, nil
	}
}

// inFile is a Draw whose result is a file of two labels.
func inFile(t *testing.T, f *labelFile) func(context.Context,
	*ledger.Receipt) (func(io.Writer) error, error) {
	return func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		if err := errors.Join(f.file.Write("x", 0), f.file.Write("y", 0), f.file.Commit()); err != nil {
			t.Fatal(err)
		}
		return f.encode, nil
	}
}

// keyedBill is a bill for 0.9 whose coins are named, so that it can be resumed.
func keyedBill(t *testing.T, key string) *Bill {
	return newBill(t, private(t, 1e-5, 3), Charge{RequestID: "march", Teachers: "fresh", Key: key})
}

func removeLedger(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	if err := errors.Join(os.Remove(l.Path()), os.Remove(l.Path()+ledger.AnchorSuffix),
		os.Remove(l.Path()+ledger.SecretSuffix)); err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// killEnv makes TestNotedBeforeItIsSeen a process that dies when the result is noted.
const killEnv = "DARRM_TEST_KILL_WHEN_NOTED"

// The digest of a result is in the ledger when the result is complete and nothing of it can
// be seen: not on stdout, not in the file, which holds what it held. If it cannot be noted,
// or the process dies then, that stays so.
func TestNotedBeforeItIsSeen(t *testing.T) {
	const old, document = "what was released before", "{\"labels\": []}\n"
	run := func(t *testing.T, out FileOutput, labels bool, l *ledger.Ledger, ready,
		noted func()) (Outcome, error) {
		b := newBill(t, private(t, 1e-5, 3), fresh)
		draw := text(document)
		var inner Output = out
		if labels {
			file := &labelFile{FileOutput: out, options: votes.LabelOptions{Classes: []string{"0", "1"}}}
			defer file.remove()
			inner, draw = file, inFile(t, file)
		}
		transaction := Transaction{Ledger: l, Bill: b, Output: watched{inner, noted}, Force: true,
			Draw: func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
				encode, err := draw(ctx, paid)
				ready()
				return encode, err
			}}
		return transaction.Run(t.Context())
	}
	if dir := os.Getenv(killEnv); dir != "" {
		l, err := ledger.Open(t.Context(), filepath.Join(dir, "ledger"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(t, FileOutput{Path: filepath.Join(dir, "labels")},
			os.Getenv(killEnv+"_LABELS") != "", l, func() {}, func() {
				if p, err := os.FindProcess(os.Getpid()); err == nil {
					_ = p.Kill()
				}
				time.Sleep(time.Minute)
			})
		t.Fatal("not killed", err)
	}
	for _, labels := range []bool{false, true} {
		for _, toFile := range []bool{false, true} {
			name := fmt.Sprintf("labels %t, file %t", labels, toFile)
			dir := t.TempDir()
			path := filepath.Join(dir, "labels")
			if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout bytes.Buffer
			out, before, seen := FileOutput{Stdout: &stdout}, "", stdout.String
			if toFile {
				out, before, seen = FileOutput{Path: path}, old, func() string { return contentOf(t, path) }
			}
			unseen := func(when string) {
				if got := seen(); got != before {
					t.Errorf("%s: seen %s: %q", name, when, got)
				}
			}

			// The ledger is gone, or another one, when the result is ready: the charge cannot be
			// shown any more.
			for _, another := range []bool{false, true} {
				gone := newLedger(t, 100)
				o, err := run(t, out, labels, gone, func() {
					removeLedger(t, gone)
					if another {
						b, _ := ledger.NewBudget(100, 0.9)
						if _, err := ledger.Create(t.Context(), gone.Path(), b, ledger.ReplaceOne); err != nil {
							t.Fatal(err)
						}
					}
				}, func() { t.Errorf("%s: written without a note", name) })
				var unnoted *LedgerError
				if !errors.As(err, &unnoted) || !strings.Contains(err.Error(), `request "march" is charged`) ||
					o.Done() || o.Receipt == nil {
					t.Errorf("%s, another ledger %t: %+v, %v", name, another, o, err)
				}
				unseen("without a note")
			}
			if toFile {
				budget, _ := ledger.NewBudget(100, 0.9)
				l, err := ledger.Create(t.Context(), filepath.Join(dir, "ledger"), budget, ledger.ReplaceOne)
				if err != nil {
					t.Fatal(err)
				}
				c := exec.Command(os.Args[0], "-test.run=^TestNotedBeforeItIsSeen$")
				c.Env = append(os.Environ(), killEnv+"="+dir)
				if labels {
					c.Env = append(c.Env, killEnv+"_LABELS=1")
				}
				// by a signal
				if said, err := c.CombinedOutput(); err == nil || c.ProcessState.ExitCode() != -1 {
					t.Fatalf("%s: not killed: %v, %s", name, err, said)
				}
				unseen("after a death")
				if h, err := l.History(t.Context()); err != nil || len(h) != 2 ||
					h[1].Kind != ledger.KindResult {
					t.Errorf("%s: entries %v, %v", name, h, err)
				}
			}
			l := newLedger(t, 100)
			var noted ledger.Digest
			o, err := run(t, out, labels, l, func() {
				unseen("before it was noted")
				if h, _ := l.History(t.Context()); len(h) != 1 {
					t.Errorf("%s: %d entries when it was drawn", name, len(h))
				}
			}, func() {
				unseen("before it was noted")
				if h, _ := l.History(t.Context()); len(h) == 2 {
					noted = h[1].Result
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			got := seen()
			if ledger.Digest(sha256.Sum256([]byte(got))) != noted || noted != o.Digest || !o.Done() ||
				o.Before {
				t.Errorf("%s: %q, noted %v, %+v", name, got, noted, o)
			}
			if want := map[bool]string{false: document, true: "query,label\nx,0\ny,0\n"}[labels]; got !=
				want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			if left, err := filepath.Glob(filepath.Join(dir, ".*labels*")); err != nil || toFile &&
				left != nil && !labels {
				t.Errorf("%s: left %v, %v", name, left, err)
			}
		}
	}
}

// uninterrupted is an output that writes nothing once its context is done, as a file system across
// a network.
type uninterrupted struct{ FileOutput }

func (o uninterrupted) Write(ctx context.Context, encode func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.FileOutput.Write(ctx, encode)
}

// An interruption comes before the note, and then nothing is noted, or the result that is noted is
// seen.
func TestNothingIsInterruptedAfterTheNote(t *testing.T) {
	for _, when := range []string{"while the digest is taken", "when it is noted"} {
		ctx, cancel := context.WithCancel(t.Context())
		path, l := filepath.Join(t.TempDir(), "labels"), newLedger(t, 100)
		transaction := Transaction{Ledger: l, Bill: newBill(t, private(t, 1e-5, 3), fresh),
			Output: watched{uninterrupted{FileOutput{Path: path}}, cancel}}
		transaction.Draw = func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
			return func(w io.Writer) error {
				if when == "while the digest is taken" {
					cancel()
				}
				_, err := io.WriteString(w, "labels")
				return err
			}, nil
		}
		o, err := transaction.Run(ctx)
		h, herr := l.History(t.Context())
		if herr != nil {
			t.Fatal(herr)
		}
		noted, seen := h[len(h)-1].Kind == ledger.KindResult, contentOf(t, path)
		if ctx.Err() == nil || noted != (seen == "labels") || noted != o.Done() || noted != (err == nil) {
			t.Errorf("interrupted %s: noted %t, seen %q, %+v, %v", when, noted, seen, o, err)
		}
		if before := when == "while the digest is taken"; before == noted ||
			before != errors.Is(err, context.Canceled) {
			t.Errorf("interrupted %s: noted %t, %v", when, noted, err)
		}
		cancel()
	}
}

// What is written is what was noted, or nothing.
func TestResultThatChangesIsNotSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels")
	n := 0
	transaction := Transaction{Output: FileOutput{Path: path},
		Draw: func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
			return func(w io.Writer) error { n++; _, err := fmt.Fprint(w, n); return err }, nil
		}}
	o, err := transaction.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "changed while it was written") || o.Done() ||
		contentOf(t, path) != "" {
		t.Errorf("%+v, %v, %q", o, err, contentOf(t, path))
	}
}

// The error of a release that was paid for and failed states that it was paid for, and whether the
// same command goes on. That of a release that was not paid for does not.
func TestPaidAndNotReleasedIsSaid(t *testing.T) {
	fails := func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		return nil,
			context.Canceled
	}
	unreadable := func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		return func(io.Writer) error { return context.Canceled }, nil
	}
	n := 0
	changes := func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		return func(w io.Writer) error {
			if n++; n > 1 {
				return context.Canceled
			}
			return nil
		}, nil
	}
	for name, draw := range map[string]func(context.Context, *ledger.Receipt) (func(io.Writer) error,
		error){"drawing": fails, "digesting": unreadable, "writing": changes} {
		for _, kept := range []bool{false, true} {
			n = 0
			dir := t.TempDir()
			transaction := Transaction{Ledger: newLedger(t, 100), Bill: keyedBill(t, "a"),
				Output: FileOutput{Path: filepath.Join(dir, "labels")}, Draw: draw}
			want := `request "march" is charged, but nothing was released, and nothing is given back: `
			if kept {
				s, _, err := openSecret(t.Context(), filepath.Join(dir, "secret"), owner{}, 100)
				if err != nil {
					t.Fatal(err)
				}
				s.state = func() []byte { return []byte("key") }
				transaction.secret, want = s,
					`request "march" is charged, but nothing was released; the same release finishes it: `
			}
			o, err := transaction.Run(t.Context())
			if !errors.Is(err, context.Canceled) || o.Done() || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, secret %v: %v, want %q", name, kept, err, want)
			}
		}
		transaction := Transaction{Output: FileOutput{Path: filepath.Join(t.TempDir(), "labels")},
			Draw: fails}
		if _, err := transaction.Run(t.Context()); err == nil || err.Error() != context.Canceled.Error() {
			t.Errorf("without a ledger: %v", err)
		}
	}
}

// The secret is on disk when the ledger is charged, stays there till the result is out, and
// is gone then. After a death anywhere in between the same release goes on: it is charged
// once and has one result.
func TestSecretOutlivesEveryDeath(t *testing.T) {
	dir := t.TempDir()
	at, out := filepath.Join(dir, "secret"), filepath.Join(dir, "labels")
	l := newLedger(t, 100)
	run := func(fails error, result string) (Outcome, error) {
		s, b, err := openSecret(t.Context(), at, owner{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		if s.resumed && string(b) != "key" {
			t.Fatalf("the secret is %q", b)
		}
		s.state = func() []byte {
			if got := entries(t, l); got != nil {
				t.Errorf("charged before the secret is kept: %q", got)
			}
			return []byte("key")
		}
		transaction := Transaction{Ledger: l, Bill: keyedBill(t, "a"), Output: FileOutput{Path: out},
			secret: s, Draw: func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
				if len(entries(t, l)) == 0 || paid == nil || !errors.Is(paid.Redeem(), ledger.ErrReceipt) {
					t.Errorf("drawn before it is paid for: receipt %v", paid)
				}
				if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("the secret: %v, %v", info, err)
				}
				if fails != nil {
					return nil, fails
				}
				return text(result)(ctx, paid)
			}}
		return transaction.Run(t.Context())
	}
	broken := errors.New("broken")
	for range 2 {
		if o, err := run(broken, ""); !errors.Is(err, broken) || o.Done() || stateOf(t, at) != "key" ||
			contentOf(t, out) != "" {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if o, err := run(nil, "labels"); err != nil || !o.Done() || contentOf(t, out) != "labels" ||
		contentOf(t, at) != "" {
		t.Errorf("%+v, %v, %q", o, err, contentOf(t, out))
	}
	checkSpent(t, l, 0.9)
	// Another result of the same coins is another release.
	if err := os.WriteFile(at, owner{}.seal([]byte("key")), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := run(nil, "others"); !errors.Is(err, ledger.ErrConflict) || o.Done() ||
		contentOf(t, out) != "labels" || stateOf(t, at) != "key" {
		t.Errorf("another result: %+v, %v", o, err)
	}
	if got := entries(t, l); len(got) != 2 {
		t.Errorf("entries %q", got)
	}
}

// A release that is not paid for draws nothing, writes nothing and leaves no secret, unless
// the secret was there before: it may be of a release that is paid for.
func TestRefusalLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget float64
		out    string // in the directory
		want   func(error) bool
	}{
		{"beyond the budget", 0.5, "labels", func(err error) bool {
			return errors.Is(err, ledger.ErrExceeded)
		}},
		{"no directory", 100, "missing/labels", func(err error) bool {
			var o *OutputError
			return errors.As(err, &o)
		}},
		{"a directory", 100, ".", func(err error) bool { var o *OutputError; return errors.As(err, &o) }},
	} {
		for _, resumed := range []bool{false, true} {
			dir := t.TempDir()
			at := filepath.Join(dir, "secret")
			if resumed {
				if err := os.WriteFile(at, owner{}.seal([]byte("key")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, _, err := openSecret(t.Context(), at, owner{}, 100)
			if err != nil {
				t.Fatal(err)
			}
			s.state = func() []byte { return []byte("key") }
			l := newLedger(t, tt.budget)
			transaction := Transaction{Ledger: l, Bill: keyedBill(t, "a"),
				Output: FileOutput{Path: filepath.Join(dir, tt.out)}, secret: s,
				Draw: func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
					t.Errorf("%s: drawn", tt.name)
					return nil, errors.New("drawn")
				}}
			o, err := transaction.Run(t.Context())
			if !tt.want(err) || o.Done() || o.Receipt != nil {
				t.Errorf("%s: %+v, %v", tt.name, o, err)
			}
			if left, _ := os.ReadDir(dir); len(left) != map[bool]int{true: 1}[resumed] {
				t.Errorf("%s, resumed %t: left %v", tt.name, resumed, left)
			}
			if got := entries(t, l); got != nil {
				t.Errorf("%s: entries %q", tt.name, got)
			}
		}
	}
}

// A request that was released before, and whose output has its result, needs no writing: it
// is found, also where nothing can be written any more, and its secret is gone.
func TestReleasedBefore(t *testing.T) {
	dir := t.TempDir()
	at, out := filepath.Join(dir, "secret"), filepath.Join(dir, "labels")
	l := newLedger(t, 100)
	first := Transaction{Ledger: l, Bill: keyedBill(t, "a"), Output: FileOutput{Path: out},
		Draw: text("labels")}
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, locked := range []bool{false, true} {
		if locked {
			if err := os.Chmod(out, 0o400); err != nil {
				t.Fatal(err)
			}
		}
		s, _, err := openSecret(t.Context(), at, owner{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		s.state = func() []byte { return []byte("another key") }
		again := Transaction{Ledger: l, Bill: keyedBill(t, "b"), Output: FileOutput{Path: out},
			Draw: text("others"), secret: s}
		if o, err := again.Run(t.Context()); err != nil || !o.Before || !o.Done() || o.Receipt != nil {
			t.Errorf("locked %t: %+v, %v", locked, o, err)
		}
		if contentOf(t, at) != "" || contentOf(t, out) != "labels" || len(entries(t, l)) != 2 {
			t.Errorf("locked %t: secret %q, %q, entries %q", locked, contentOf(t, at), contentOf(t, out),
				entries(t, l))
		}
	}
	elsewhere := Transaction{Ledger: l, Bill: keyedBill(t, "b"), Output: FileOutput{Path: out + "2"},
		Draw: text("others")}
	if o, err := elsewhere.Run(t.Context()); !errors.Is(err, ledger.ErrReplayed) || o.Done() ||
		contentOf(t, out+"2") != "" {
		t.Errorf("another output: %+v, %v", o, err)
	}
}
