package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// Names of files in the shared folder.
const (
	PlanName = "plan.json"
	KeyName  = "shuffler.pub"
)

// State is the progress of a run, as a role sees it after a step.
type State struct {
	Round    int  `json:"round"` // the newest, from 0
	Rounds   int  `json:"rounds"`
	Finished bool `json:"finished"` // all rounds are done
	Waits    Wait `json:"waits_for,omitempty"`
	// Silos are the numbers, from 1, of the silos that the role waits for, or that are missing in the
	// round that it released.
	Silos []int `json:"silos,omitempty"`
	// Did is the action of the step, "" for none.
	Did Action `json:"-"`
	// Faults are files that do not fit, which the role passes over until they change.
	Faults []error `json:"-"`
}

// Wait names the message that a role waits for.
type Wait string

// What roles wait for.
const (
	ForReports  Wait = "reports"
	ForShuffled Wait = "shuffled reports"
	ForReply    Wait = "local steps"
	ForRound    Wait = "the next round"
)

// Action names what a step did.
type Action string

// Actions of steps.
const (
	Answered Action = "answered"
	SatOut   Action = "sat out"
	Shuffled Action = "shuffled"
	Stepped  Action = "next round"
)

// Place names the folders where a role meets the others and keeps its secrets.
type Place struct {
	Shared  string // folder
	Secrets string // folder; "" of a leader, who has none
}

// Prepare makes the folder of secrets. It refuses secrets in the shared folder.
func (p Place) Prepare() error {
	if info, err := os.Stat(p.Shared); err != nil {
		return &release.InputError{Err: err}
	} else if !info.IsDir() {
		return &release.InputError{Err: fmt.Errorf("%s is no folder", p.Shared)}
	}
	if p.Secrets == "" {
		return nil
	}
	if err := os.MkdirAll(p.Secrets, 0o700); err != nil {
		return &release.OutputError{Err: err}
	}
	shared, secrets, err := p.realPaths(p.Secrets)
	if err != nil {
		return err
	}
	if within(secrets, shared) || within(shared, secrets) {
		return &release.UsageError{Err: check.Want("folder of secrets", p.Secrets,
			"apart from the shared folder, which others read")}
	}
	return nil
}

// meets refuses a role without a run or a shared folder.
func (p Place) meets(run *rounds.Run) error {
	if run == nil || p.Shared == "" {
		return &release.UsageError{Err: errors.New("run and shared folder must be given")}
	}
	return nil
}

// realPaths returns where the shared folder and another path lie, without links.
func (p Place) realPaths(other string) (shared, path string, err error) {
	if shared, err = realPath(p.Shared); err == nil {
		path, err = realPath(other)
	}
	if err != nil {
		return "", "", &release.InputError{Err: err}
	}
	return shared, path, nil
}

func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// within reports whether path is the folder or lies in it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// claim notes in the folder of secrets which role of which run it belongs to, and fails if that is
// another one: everybody would have to trust a process with the secrets of two roles.
func (p Place) claim(role string) error {
	path := filepath.Join(p.Secrets, "role")
	line := "darrm federated role 1\n" + role + "\n"
	err := writeNew(path, 0o600, []byte(line))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return &release.InputError{Err: err}
	}
	if string(was) != line {
		return &release.UsageError{Err: check.Wantf("folder of secrets", p.Secrets,
			"that of the %s alone: another role or run has its secrets there", role)}
	}
	return nil
}

func (p Place) shared(name string) string { return filepath.Join(p.Shared, name) }
func (p Place) secret(name string) string { return filepath.Join(p.Secrets, name) }

func name(round int, what string) string { return fmt.Sprintf("%04d.%s", round, what) }

func sealedName(round, silo int) string {
	return fmt.Sprintf("%04d.%04d.sealed", round, silo+1)
}

// OwnPlan reads this role's own copy of the plan, in a file that lies apart from the shared folder:
// whoever can write there could put another plan in, with a larger price or fewer colluding silos.
// Silos and the shuffler use no other copy. OwnPlan prices the plan, which takes a tenth of a second.
func (p Place) OwnPlan(ctx context.Context, path string) (*rounds.Run, error) {
	shared, own, err := p.realPaths(path)
	if err != nil {
		return nil, err
	}
	if within(own, shared) {
		return nil, &release.UsageError{Err: check.Want("plan", path,
			"a copy of this role's own, apart from the shared folder, which others write to")}
	}
	return readPlan(ctx, path)
}

// Plan reads the shared folder's plan, nil where none is there yet. It is for the leader, who could
// break no promise of privacy. Plan prices the plan, as OwnPlan does.
func (p Place) Plan(ctx context.Context) (*rounds.Run, error) {
	return readPlan(ctx, p.shared(PlanName))
}

func readPlan(ctx context.Context, path string) (*rounds.Run, error) {
	b, err := read(ctx, path, rounds.MaxPlan)
	if b == nil || err != nil {
		return nil, err
	}
	run, err := rounds.ReadPlan(b)
	return run, fault(path, err)
}

func (p Place) publishRound(r *rounds.Round) error {
	b, err := r.Encode()
	if err != nil {
		return err
	}
	what := "round"
	if r.Local != nil {
		what = "asks"
	}
	return writeOnce(p.shared(name(r.Round, what)), b)
}

// newest returns the newest round from the given one on, nil where there is none. A round has up to
// two files: NNNN.round, and NNNN.asks once it waits for a silo's local steps, which comes later.
func (p Place) newest(ctx context.Context, run *rounds.Run, from int) (*rounds.Round, error) {
	for from < run.Rounds() && exists(p.shared(name(from+1, "round"))) {
		from++
	}
	for _, what := range []string{"asks", "round"} {
		path := p.shared(name(from, what))
		b, err := read(ctx, path, run.MaxRound())
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue
		}
		r, err := run.ReadRound(b)
		if err == nil && (r.Round != from || (r.Local != nil) != (what == "asks")) {
			err = fmt.Errorf("%w: its round or its kind is not that of its name", rounds.ErrFormat)
		}
		return r, fault(path, err)
	}
	return nil, nil
}

// Leader works out the rounds. It needs no secret and no trust. It is for one goroutine at a time.
type Leader struct {
	Place
	Run *rounds.Run
	at  int
}

// Step does what the files allow. After the last round the State is finished, and last is its
// result.
func (l *Leader) Step(ctx context.Context) (s State, last *rounds.Round, err error) {
	l = handle.Made(l)
	if err := l.meets(l.Run); err != nil {
		return s, nil, err
	}
	r, err := l.newest(ctx, l.Run, l.at)
	if err == nil && r == nil {
		r = l.Run.First()
		err = l.publishRound(r)
	}
	if err != nil {
		return s, nil, err
	}
	l.at = r.Round
	s = State{Round: r.Round, Rounds: l.Run.Rounds(), Waits: ForShuffled}
	if l.Run.Finished(r) {
		s.Finished, s.Waits = true, ""
		return s, r, nil
	}
	what, limit := "shuffled", l.Run.MaxShuffled()
	if r.Local != nil {
		what, limit = "reply", l.Run.MaxRound()
		s.Waits, s.Silos = ForReply, []int{r.Local.Silo + 1}
	}
	path := l.shared(name(r.Round, what))
	answer, err := read(ctx, path, limit)
	if answer == nil || err != nil {
		return s, nil, err
	}
	var next *rounds.Round
	if r.Local != nil {
		next, err = l.Run.Accept(r, answer)
	} else {
		next, err = l.Run.Aggregate(ctx, r, answer)
	}
	if err == nil {
		err = l.publishRound(next)
	}
	if err != nil {
		return s, nil, fault(path, err)
	}
	s.Did = Stepped
	return s, nil, nil
}

// read returns a file's bytes, nil where there is none.
func read(ctx context.Context, path string, limit int64) ([]byte, error) {
	b, err := readfile.Whole(ctx, path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, release.Unreadable(ctx, err)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func writeNew(path string, perm fs.FileMode, b []byte) error {
	err := atomicfile.WriteNew(path, perm, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return &release.OutputError{Err: err}
	}
	return err
}

// writeOnce writes a file that may be there already with the same bytes.
func writeOnce(path string, b []byte) error {
	err := writeNew(path, 0o666, b)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	was, err := readfile.Whole(context.Background(), path, int64(len(b)))
	if err == nil && !bytes.Equal(was, b) {
		err = fmt.Errorf("%s: the file exists and holds something else", path)
	}
	if err != nil {
		return &release.OutputError{Err: err}
	}
	return nil
}

// fault names the file of an error that is of its format.
func fault(path string, err error) error {
	if err != nil && errors.Is(err, rounds.ErrFormat) {
		return &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return err
}
