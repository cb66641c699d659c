package training

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/folder"
)

// The values of --role.
const (
	roleSilo     = "silo"
	roleShuffler = "shuffler"
	roleLeader   = "leader"
)

// runFlags are the flags of federated run.
type runFlags struct {
	siloFlags
	place    folder.Place
	role     string
	Plan     string        `flag:"plan" help:"silo, shuffler: its own copy of the plan, not in the shared folder"`
	Pass     string        `flag:"pass" help:"silo: its SECRET pass from the shuffler (darrm federated pass)"`
	Patience time.Duration `flag:"patience" help:"shuffler: go on without missing silos so long after a round began, where --missing of the plan allows for it (default: wait for all)"`
	Once     bool          `flag:"once" help:"do what can be done now, and do not wait for others"`
}

func newFederatedRun(a *cli.App) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run --role ROLE --shared FOLDER --secrets FOLDER",
		Short: "Go through all rounds as one role, over a folder that all roles share",
		Long: `Go through all rounds of a run as one role, each a process of its own: answer, shuffle or
work out the next round as soon as the others' files are there. All roles share a folder;
each has another one for its secrets, which must not lie in it.

  leader    writes the rounds and, after the last, model.json; the plan is the folder's
            plan.json (darrm federated init); it needs no secrets
  shuffler  mixes the reports of each round and gives them out
  silo      answers each round by its --private records, paid for by their --ledger

Silos and shuffler go by their own copies of the plan (--plan), which everybody agreed to
and which no one can change in the shared folder.

The reports of a silo lie in the shared folder sealed, so that the shuffler alone can read
them. The shuffler makes a pass for each silo (darrm federated pass), which goes to that
silo another way than by the folder.

After an interruption the same command goes on. With --once it does what can be done now
and ends, for programs that run it from time to time. A silo that comes late answers the
newest round. One process that had all roles would have to be trusted by all: rehearse by
darrm train federated --insecure-seed, which marks its model as a simulation.`,
		Example: `  darrm federated run --role leader --shared run
  darrm federated run --role shuffler --shared run --secrets shuffler --plan plan.json
  darrm federated run --role silo --shared run --secrets north --plan plan.json --pass north.pass --private north.csv \
    --ledger north.ledger`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return f.runRole(c, a) },
	}
	fl := c.Flags()
	cli.Enum(c, &f.role, "role", "silo, shuffler or leader", roleSilo, roleShuffler, roleLeader)
	fl.StringVar(&f.place.Shared, "shared", "", "folder that all roles read and write")
	fl.StringVar(&f.place.Secrets, "secrets", "",
		"silo, shuffler: folder of this role alone, made if need be")
	for _, name := range []string{"shared", "secrets"} {
		_ = c.MarkFlagDirname(name)
	}
	cli.Register(c, &f)
	cli.TakesFile(c, "plan")
	cli.TakesFile(c, "pass")
	f.registerRecords(c)
	cli.First(c, FlagGroups, "role", "shared", "secrets", "plan", "pass", "private", "ledger",
		"patience")
	return c
}

func newFederatedPass(a *cli.App) *cobra.Command {
	var secrets, out string
	var silo int
	c := &cobra.Command{
		Use:   "pass --secrets FOLDER --silo number -o FILE",
		Short: "Make a silo's pass, which identifies its reports to the shuffler",
		Long: `Write the pass of one silo, as the shuffler, for darrm federated run. It has the name of the
shuffler's key, with which the silo seals its reports, and a secret that nobody else has,
which proves to the shuffler that reports are that silo's. Send it to that silo alone, by a
channel that nobody else reads or changes: not by the shared folder.

The first call draws the shuffler's key in --secrets. A pass of one key and silo is always
the same.`,
		Example: `  darrm federated pass --secrets shuffler --silo 1 -o north.pass`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cli.Require(c, "secrets", "silo", "out"); err != nil {
				return err
			}
			if silo < 1 {
				return cli.Usagef("--silo = %d, but it must be at least 1", silo)
			}
			output := release.FileOutput{Path: out, Stdout: a.Out, Private: true}
			if err := output.CheckPlace(); err != nil {
				return err
			}
			p := folder.Place{Secrets: secrets}
			k, err := p.Key(c.Context())
			if err != nil {
				return err
			}
			pass, err := k.Pass(silo - 1)
			if err != nil {
				return err
			}
			file, err := pass.Encode()
			if err != nil {
				return err
			}
			if err := output.Write(c.Context(), cli.Bytes(file)); err != nil {
				return err
			}
			if a.JSON && out != "-" {
				return a.DeliverJSON("", struct {
					Silo        int    `json:"silo"`
					Fingerprint string `json:"shuffler"`
				}{silo, pass.Fingerprint})
			}
			a.Say("SECRET, for silo %d alone: %s", silo, out)
			return nil
		},
	}
	c.Flags().StringVar(&secrets, "secrets", "", "folder of the shuffler's secrets, made if need be")
	_ = c.MarkFlagDirname("secrets")
	c.Flags().IntVar(&silo, "silo", 0, "number of the silo in the plan, from 1")
	registerOut(c, &out, "write the pass to this file")
	return c
}

// pollEvery is the time between two looks at the shared folder.
const pollEvery = 250 * time.Millisecond

func (f *runFlags) runRole(c *cobra.Command, a *cli.App) error {
	if err := cli.Require(c, "role", "shared"); err != nil {
		return err
	}
	needs := map[string][]string{roleLeader: nil, roleShuffler: {"secrets", "plan"},
		roleSilo: {"secrets", "plan", "pass", "private", "ledger"}}
	if err := cli.Require(c, needs[f.role]...); err != nil {
		return err
	}
	takes := append(needs[f.role], map[string][]string{roleShuffler: {"patience"}, roleSilo: {"labels", "accept-weak"}}[f.role]...)
	for _, name := range []string{"secrets", "plan", "pass", "private", "ledger", "labels",
		"accept-weak", "patience"} {
		if c.Flags().Changed(name) && !slices.Contains(takes, name) {
			return cli.Usagef("--%s is not for --role %s", name, f.role)
		}
	}
	if f.Patience < 0 {
		return cli.Usagef("--patience = %v, but it must be at least 0", f.Patience)
	}
	if err := f.place.Prepare(); err != nil {
		return err
	}
	start, err := f.begin(c, a)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	w := &watch{app: a, once: f.Once, show: bar.Count("federated run", "rounds")}
	w.plan = func(ctx context.Context) (*rounds.Run, error) { return f.place.OwnPlan(ctx, f.Plan) }
	if f.role == roleLeader {
		w.plan = f.place.Plan
	}
	return w.follow(c.Context(), f.role, start)
}

// step is what a role does again and again.
type step func(context.Context) (folder.State, error)

// begin returns what makes the step of a role once the plan is there. It has the shuffler's key ready at once.
func (f *runFlags) begin(c *cobra.Command, a *cli.App) (start func(*rounds.Run) (step, error), err error) {
	switch f.role {
	case roleLeader:
		return func(run *rounds.Run) (step, error) {
			l := &folder.Leader{Place: f.place, Run: run}
			return func(ctx context.Context) (folder.State, error) {
				s, last, err := l.Step(ctx)
				if err == nil && last != nil {
					err = f.publishModel(ctx, a, run, last)
				}
				return s, err
			}, nil
		}, nil
	case roleShuffler:
		key, err := f.place.Key(c.Context())
		if err == nil {
			err = f.place.PublishKey(key)
		}
		return func(run *rounds.Run) (step, error) {
			return (&folder.Shuffler{Place: f.place, Run: run, Key: key, Patience: f.Patience}).Step, nil
		}, err
	}
	b, err := readAll(c.Context(), a, f.Pass, rounds.MaxKey)
	if err != nil {
		return nil, err
	}
	pass, err := rounds.ReadPass(b)
	if err != nil {
		return nil, federatedFault(f.Pass, err)
	}
	return func(run *rounds.Run) (step, error) {
		records, err := f.records(c, a, run)
		return (&folder.Silo{Place: f.place, Run: run, Pass: pass, Records: records, Ledger: f.Ledger,
			AcceptWeak: f.acceptWeak}).Step, err
	}, nil
}

// publishModel writes the model into the shared folder, once.
func (f *runFlags) publishModel(ctx context.Context, a *cli.App, run *rounds.Run,
	last *rounds.Round) error {
	path := filepath.Join(f.place.Shared, "model.json")
	before, err := release.WriteOnce(ctx, fmt.Sprintf("%q", path), release.FileOutput{Path: path},
		newFederatedModel(run, last).encode)
	if err == nil && !before {
		a.Say("model: %s", path)
	}
	return err
}

// watch repeats a role's step until the run is finished.
type watch struct {
	app  *cli.App
	once bool
	plan func(context.Context) (*rounds.Run, error)
	show func(done, total int)
	said string // last, of what is waited for
}

func (w *watch) follow(ctx context.Context, role string, start func(*rounds.Run) (step, error)) error {
	var run *rounds.Run
	var next step
	var s folder.State
	for {
		var err error
		if run == nil {
			if run, err = w.plan(ctx); err == nil && run != nil {
				next, err = start(run)
			}
		}
		if err == nil && run != nil {
			s, err = next(ctx)
		}
		if err != nil {
			return err
		}
		if run == nil {
			w.wait("the plan")
		} else {
			w.tell(s)
			w.show(s.Round, s.Rounds)
		}
		if s.Finished || w.once && s.Did == "" {
			break
		}
		if s.Did != "" {
			continue
		}
		w.app.Doing("waiting; the same command goes on")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	if !w.app.JSON {
		return nil
	}
	plan := ""
	if run != nil {
		plan = run.Digest()
	}
	return w.app.DeliverJSON("", struct {
		Role string `json:"role"`
		Plan string `json:"plan,omitempty"`
		folder.State
	}{role, plan, s})
}

// tell prints the action of a step.
func (w *watch) tell(s folder.State) {
	for _, err := range s.Faults {
		w.app.Say("passed over: %v", err)
	}
	switch {
	case s.Finished:
		w.app.Say("all %d rounds are done", s.Rounds)
	case s.Did == folder.Answered:
		w.app.Say("round %d of %d: answered", s.Round, s.Rounds)
	case s.Did == folder.Shuffled && len(s.Silos) > 0:
		w.app.Say("round %d of %d: shuffled, without silos %v, which the price allows for", s.Round,
			s.Rounds, s.Silos)
	case s.Did == folder.Shuffled:
		w.app.Say("round %d of %d: shuffled", s.Round, s.Rounds)
	case s.Did == folder.Stepped:
		w.app.Say("round %d of %d: added up", s.Round, s.Rounds)
	case s.Waits != "":
		text := fmt.Sprintf("%s, in round %d of %d", s.Waits, s.Round, s.Rounds)
		if len(s.Silos) > 0 {
			text += fmt.Sprintf(": silos %v", s.Silos)
		}
		w.wait(text)
	}
}

// wait prints, once, that the role waits for a message.
func (w *watch) wait(what string) {
	if what != w.said && (w.once || w.said == "") {
		w.app.Say("waiting for %s", what)
	}
	w.said = what
}
