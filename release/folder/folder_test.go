package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/mutant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// meeting is a run of three silos of 8, 6 and 6 records over a folder.
type meeting struct {
	t    *testing.T
	dir  string
	plan *rounds.Run
	key  rounds.ShufflerKey
}

func newMeeting(t *testing.T, change func(*federated.PSGM)) *meeting {
	t.Helper()
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: loss.Logistic{}, Silos: []int{8, 6, 6}, Rounds: 3, StepSize: 0.3, GradientClip: 1,
			DifferenceClip: 1, Target: accountant.Cost{Delta: 1e-5},
		},
		Momentum: 0.4, Epsilon: 1, Account: federated.Unshuffled, Missing: 6,
	}
	if change != nil {
		change(&c)
	}
	m := &meeting{t: t, dir: t.TempDir(), plan: must.Get(rounds.New(c, 2, rounds.Columns{}))(t)}
	succeed(t, os.Mkdir(m.path("shared"), 0o700))
	succeed(t, os.WriteFile(m.path("shared/plan.json"), must.Get(m.plan.Encode())(t), 0o600))
	m.key = must.Get(m.place("shuffler").Key(t.Context()))(t)
	succeed(t, m.place("shuffler").PublishKey(m.key))
	for silo := range 4 { // the last one is a stranger's
		budget := must.Get(ledger.NewBudget(1.5*m.plan.Cost().Epsilon, 1.5e-5))(t)
		must.Get(ledger.Create(t.Context(), m.path(fmt.Sprintf("ledger%d", silo)), budget,
			ledger.ReplaceOne))(t)
	}
	return m
}

func (m *meeting) path(name string) string { return filepath.Join(m.dir, name) }

// place returns the place of a role.
func (m *meeting) place(secrets string) Place {
	p := Place{m.path("shared"), m.path(secrets)}
	succeed(m.t, p.Prepare())
	return p
}

// The roles are made anew for each step, as after an interruption.
func (m *meeting) silo(number int) *Silo {
	n := m.plan.Silos()[number]
	rng := rand.New(rand.NewPCG(uint64(number), 0))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range x {
		x[i], y[i/2] = rng.NormFloat64(), float64(i/2%2)
	}
	return &Silo{Place: m.place(fmt.Sprintf("silo%d", number)), Run: m.plan,
		Pass: must.Get(m.key.Pass(number))(m.t), Records: must.Get(data.NewRecords(n, 2, x, y))(m.t),
		Ledger: m.path(fmt.Sprintf("ledger%d", number))}
}

func (m *meeting) shuffler() *Shuffler {
	return &Shuffler{Place: m.place("shuffler"), Run: m.plan, Key: m.key}
}

func (m *meeting) lead() (State, *rounds.Round) {
	s, last, err := (&Leader{Place: Place{Shared: m.path("shared")}, Run: m.plan}).Step(m.t.Context())
	succeed(m.t, err)
	return s, last
}

func (m *meeting) step(role interface {
	Step(context.Context) (State, error)
}) State {
	m.t.Helper()
	s, err := role.Step(m.t.Context())
	succeed(m.t, err)
	return s
}

func (m *meeting) read(name string) []byte { return must.Get(os.ReadFile(m.path(name)))(m.t) }

// charges counts the charges of a silo's ledger, and those that cost something.
func (m *meeting) charges(silo int) (all, paid int) {
	book := must.Get(ledger.Open(m.t.Context(), m.path(fmt.Sprintf("ledger%d", silo))))(m.t)
	for _, e := range must.Get(book.History(m.t.Context()))(m.t) {
		if e.Kind != ledger.KindCharge {
			continue
		}
		all++
		if epsilon, _ := e.Total().Decimals(); epsilon != "0" {
			paid++
		}
	}
	return all, paid
}

// Roles that are asked in any order, each anew for every step, come to the end of a run: a model
// that is the last round's, each silo charged once, each round answered once, and no reports left
// that somebody but the shuffler can read.
func TestRunInAnyOrder(t *testing.T) {
	for seed, local := range []int{0, 0, 3} {
		m := newMeeting(t, func(c *federated.PSGM) {
			if local > 0 {
				c.Local = federated.Local{Steps: local, Batch: 2, Clip: 1, Noise: 40}
			}
		})
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		var last *rounds.Round
		answered := [3]int{}
		for steps := 0; last == nil; steps++ {
			if steps > 2000 {
				t.Fatal("the run does not end")
			}
			switch role := rng.IntN(5); role {
			case 3:
				m.step(m.shuffler())
			case 4:
				_, last = m.lead()
			default:
				if m.step(m.silo(role)).Did == Answered {
					answered[role]++
				}
			}
		}
		if !m.plan.Finished(last) || slices.Equal(last.Result(), m.plan.First().Result()) {
			t.Errorf("the run ends with %+v", last)
		}
		for silo := range 3 {
			m.step(m.silo(silo)) // which ends its part
			want := 3
			if local > 0 {
				want++ // each has a turn
			}
			if all, paid := m.charges(silo); all != want+1 || paid != 1 || answered[silo] != want {
				t.Errorf("silo %d: %d charges, %d paid, %d answers", silo, all, paid, answered[silo])
			}
			left := must.Get(os.ReadDir(m.path(fmt.Sprintf("silo%d", silo))))(t)
			if len(left) != 1 {
				t.Errorf("silo %d: left %v", silo, left)
			}
			if info := must.Get(left[0].Info())(t); info.Mode().Perm()&0o077 != 0 {
				t.Errorf("silo %d: %s has %v", silo, left[0].Name(), info.Mode())
			}
		}
		for _, file := range must.Get(os.ReadDir(m.path("shared")))(t) {
			if b := m.read("shared/" + file.Name()); bytes.Contains(b, []byte("darrm federated reports")) {
				t.Errorf("%s has reports that are not sealed", file.Name())
			}
		}
		r := m.plan.First()
		sealed := m.read("shared/0000.0001.sealed")
		plain := must.Get(m.plan.Unseal(m.key, r, 0, sealed))(t)
		shuffled := m.read("shared/0000.shuffled")
		if reports := plain[len(plain)-9:]; !bytes.Contains(shuffled, reports) ||
			bytes.Contains(sealed, reports) {
			t.Errorf("a report is not in the mixture, or lies open in %d bytes", len(sealed))
		}
	}
}

// A round goes on without a silo that does not come, once it waited, and never with fewer reports
// than the price is for. Whoever comes later answers the newest round.
func TestWithoutASilo(t *testing.T) {
	m := newMeeting(t, nil)
	m.lead()
	m.step(m.silo(0))
	s := m.shuffler()
	s.Patience = time.Nanosecond
	if out := m.step(s); out.Did != "" || !slices.Equal(out.Silos, []int{2, 3}) {
		t.Errorf("released 8 of 20 reports: %+v", out)
	}
	m.step(m.silo(1))
	if out := m.step(m.shuffler()); out.Did != "" || out.Waits != ForReports ||
		!slices.Equal(out.Silos, []int{3}) {
		t.Errorf("without patience: %+v", out)
	}
	s.Patience = time.Hour
	if out := m.step(s); out.Did != "" {
		t.Errorf("before an hour: %+v", out)
	}
	s.Patience = time.Nanosecond
	if out := m.step(s); out.Did != Shuffled || !slices.Equal(out.Silos, []int{3}) {
		t.Errorf("with patience: %+v", out)
	}
	if out := m.step(m.silo(2)); out.Did != "" {
		t.Errorf("too late: %+v", out)
	}
	m.lead()
	if out := m.step(m.silo(2)); out.Did != Answered || out.Round != 1 {
		t.Errorf("the next round: %+v", out)
	}
}

// A shuffler that dies after it chose whose reports it releases goes on with these, though another
// silo's came meanwhile: its book knows the round with these alone.
func TestShufflerDiesAfterItsChoice(t *testing.T) {
	m := newMeeting(t, nil)
	m.lead()
	m.step(m.silo(0))
	m.step(m.silo(1))
	s := m.shuffler()
	s.Patience = time.Nanosecond
	m.step(s)
	first := m.read("shared/0000.shuffled")
	succeed(t, os.Remove(m.path("shared/0000.shuffled"))) // it died before this was out
	m.step(m.silo(2))
	if out := m.step(m.shuffler()); out.Did != Shuffled ||
		!bytes.Equal(first, m.read("shared/0000.shuffled")) {
		t.Errorf("released again with others: %+v", out)
	}
}

// Files that do not fit are passed over and named once; a silo's own may still come. Nobody else
// can send in its name.
func TestStrangersFiles(t *testing.T) {
	m := newMeeting(t, nil)
	m.lead()
	m.step(m.silo(0))
	m.step(m.silo(1))
	place := m.path("shared/0000.0003.sealed")
	impostor := m.silo(1)
	impostor.Pass.Silo = 2
	impostor.Ledger = m.path("ledger3")
	impostor.Place = m.place("impostor")
	if out := m.step(impostor); out.Did != Answered || !exists(place) {
		t.Fatalf("the impostor: %+v", out)
	}
	s := m.shuffler()
	out := m.step(s)
	if out.Did != "" || !slices.Equal(out.Silos, []int{3}) || len(out.Faults) != 1 ||
		!strings.Contains(out.Faults[0].Error(), "it is not from silo 3") {
		t.Errorf("reports in another silo's name: %+v", out)
	}
	if out := m.step(s); len(out.Faults) != 0 {
		t.Errorf("named twice: %v", out.Faults)
	}
	succeed(t, os.Remove(place))
	m.step(m.silo(2))
	if out := m.step(s); out.Did != Shuffled || len(out.Silos) != 0 {
		t.Errorf("with its own: %+v", out)
	}
}

// A silo goes by its own copy of the plan: none of the shared folder is taken for it, and rounds of
// another plan are neither answered nor paid for.
func TestOwnPlan(t *testing.T) {
	m := newMeeting(t, nil)
	place := m.place("silo0")
	own := m.path("own.json")
	succeed(t, os.WriteFile(own, must.Get(m.plan.Encode())(t), 0o600))
	succeed(t, os.Symlink(m.path("shared/plan.json"), m.path("link.json")))
	if run, err := place.OwnPlan(t.Context(), own); err != nil || run.Digest() != m.plan.Digest() {
		t.Errorf("its own: %v", err)
	}
	for _, name := range []string{"shared/plan.json", "link.json"} {
		var usage *release.UsageError
		if run, err := place.OwnPlan(t.Context(), m.path(name)); run != nil || !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := place.OwnPlan(t.Context(), m.path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no plan: %v", err)
	}

	other := newMeeting(t, func(c *federated.PSGM) { c.Momentum = 0.5 })
	other.lead()
	succeed(t, os.WriteFile(m.path("shared/plan.json"), other.read("shared/plan.json"), 0o600))
	succeed(t, os.WriteFile(m.path("shared/0000.round"), other.read("shared/0000.round"), 0o600))
	var input *release.InputError
	if _, err := m.silo(0).Step(t.Context()); !errors.As(err, &input) {
		t.Errorf("a round of another plan: %v", err)
	}
	if all, _ := m.charges(0); all != 0 {
		t.Errorf("%d charges for another plan", all)
	}
}

// Nothing is paid, sealed or kept where it should not be.
func TestPlaces(t *testing.T) {
	m := newMeeting(t, nil)
	m.lead()
	var usage *release.UsageError
	for _, secrets := range []string{"shared", "shared/silo", "."} {
		if err := (Place{m.path("shared"), m.path(secrets)}).Prepare(); !errors.As(err, &usage) {
			t.Errorf("secrets in %s: %v", secrets, err)
		}
	}
	m.step(m.silo(0))
	if exists(m.path("silo0/0000.answer")) {
		t.Error("reports lie open once they are sealed")
	}
	other := m.silo(1)
	other.Place = m.place("silo0")
	if _, err := other.Step(t.Context()); !errors.As(err, &usage) {
		t.Errorf("two silos' secrets in one folder: %v", err)
	}
	shuffler := m.shuffler()
	shuffler.Place = m.place("silo0")
	if _, err := shuffler.Step(t.Context()); !errors.As(err, &usage) {
		t.Errorf("shuffler and silo with one folder: %v", err)
	}
	stranger := must.Get(rounds.NewShufflerKey())(t)
	succeed(t, os.WriteFile(m.path("shared/shuffler.pub"), stranger.Public().Encode(), 0o600))
	var input *release.InputError
	if _, err := m.silo(1).Step(t.Context()); !errors.As(err, &input) {
		t.Errorf("a stranger's key: %v", err)
	}
	if all, _ := m.charges(1); all != 0 || exists(m.path("shared/0000.0002.sealed")) {
		t.Errorf("%d charges for a stranger", all)
	}
	if info := must.Get(os.Stat(m.path("shuffler/key")))(t); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the key has %v", info.Mode())
	}
	if err := (Place{Shared: m.path("nowhere")}).Prepare(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// A silo whose answer is lost sits the round out, once, and answers the next.
func TestLostAnswer(t *testing.T) {
	m := newMeeting(t, nil)
	m.lead()
	m.step(m.silo(2))
	succeed(t, os.Remove(m.path("shared/0000.0003.sealed")))
	succeed(t, os.Remove(m.path("silo2/0000.sealed")))
	s := m.silo(2)
	if out := m.step(s); out.Did != SatOut || len(out.Faults) != 1 {
		t.Errorf("answered twice: %+v", out)
	}
	if out := m.step(s); out.Did != "" {
		t.Errorf("asked again: %+v", out)
	}
	if all, paid := m.charges(2); all != 2 || paid != 1 {
		t.Errorf("%d charges, %d paid", all, paid)
	}
}

func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a shuffler that died releases whoever is there", File: "shuffler.go",
			Old: "if chosen == nil {", New: "if true {", Killer: "TestShufflerDiesAfterItsChoice"},
		{Name: "open reports stay with the silo", File: "silo.go",
			Old: "return file, os.Remove(plain)", New: "return file, nil", Killer: "TestPlaces"},
		{Name: "two roles share their secrets", File: "folder.go",
			Old: "if string(was) != line {", New: "if false && string(was) != line {", Killer: "TestPlaces"},
		{Name: "a silo pays for reports that are sealed to a stranger", File: "silo.go",
			Old: "got != s.Pass.Fingerprint", New: "false && got != s.Pass.Fingerprint",
			Killer: "TestPlaces"},
		{Name: "a plan of the shared folder is a role's own", File: "folder.go",
			Old: "if within(own, shared) {", New: "if false && within(own, shared) {", Killer: "TestOwnPlan"},
		{Name: "others read a role's file", File: "folder.go", Old: "writeNew(path, 0o600, []byte(line))",
			New: "writeNew(path, 0o644, []byte(line))", Killer: "TestRunInAnyOrder"},
		{Name: "the shuffler does not wait", File: "shuffler.go",
			Old: "if s.Patience <= 0 {", New: "if false {", Killer: "TestWithoutASilo"},
	})
}

// succeed ends the test at an error.
func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
