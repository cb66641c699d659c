package label

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// NewBudget makes the commands about ledgers.
func NewBudget(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "budget",
		Short: "Keep a privacy budget on disk",
		Long: `Keep a privacy budget on disk: what was granted, and what every release has spent.

A ledger is a file, and an anchor beside it, which together show damage, truncation
and older copies. "darrm aggregate --ledger" charges it before a label is drawn. Costs
add up (basic composition); they are counted in whole units of 1e-12 (ε) and 1e-24
(δ), rounded up. There is no refund.

For several machines LEDGER is postgres://USER@HOST/DATABASE?ledger=NAME, in a
PostgreSQL database (docs/ledger.md), here and wherever --ledger is. Its secret is the file
that secret=FILE in the location or DARRM_LEDGER_SECRET names.

A third file, LEDGER.secret, is the key with which the ledger recognises votes that it
has seen before, without revealing them. Keep it beside the ledger and show it
to nobody: without it no votes of fresh teachers are answered, and whoever has it and
the ledger can test a guess of what the teachers voted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBudgetInit(a), newBudgetShow(a), newBudgetHistory(a), newBudgetVerify(a),
		newBudgetAdopt(a), newBudgetReport(a))
	return c
}

func newBudgetInit(a *cli.App) *cobra.Command {
	var epsilon, delta float64
	relation := ledger.ReplaceOne
	var about ledger.About
	c := &cobra.Command{
		Use:   "init LEDGER",
		Short: "Make a new ledger with a budget",
		Long: `Make a new ledger at LEDGER, which must not exist, with the budget (ε, δ). LEDGER is
a path, or the location of a ledger in a database (darrm budget --help).

The budget is fixed for ever. It is for one set of people's data: everything that
is ever released from these data belongs into one ledger. --neighbours is fixed, too:
a cost for one neighbouring relation says nothing about another, so a release for
another one is refused. --purpose, --custodian, --data-set, --from and --until tell
people what the ledger is for, stand on the page of darrm budget report, and are fixed,
too.`,
		Example: `  darrm budget init patients.ledger --eps 2 --delta 1e-6 --neighbours replace
  darrm budget init patients.ledger --eps 2 --delta 1e-6 --purpose 'labels for triage' --custodian 'Dr Ada Moor' --data-set 'admissions of ward 3' --from 2025-01-01 --until 2025-03-31
  darrm budget init 'postgres://me@db/budgets?ledger=patients&secret=patients.secret' --eps 2 --delta 1e-6`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.Require(c, "eps", "delta"); err != nil {
				return err
			}
			budget, err := ledger.NewBudget(epsilon, delta)
			if err != nil {
				return err
			}
			l, err := ledger.CreateAbout(c.Context(), args[0], budget, relation, about)
			var parameter *constraints.ParameterError
			switch {
			case errors.As(err, &parameter):
				return err
			case err != nil:
				return &release.OutputError{Err: err}
			}
			if reason, worthless := ensemble.Worthless(accountant.Cost{Epsilon: epsilon, Delta: delta},
				0); worthless {
				a.Say("darrm: warning: with the whole budget spent, %s", reason)
			}
			if a.Quiet && !a.JSON {
				return nil
			}
			return showBudget(c, a, l)
		},
	}
	c.Flags().Float64Var(&epsilon, "eps", 0, "ε that may be spent in all")
	c.Flags().Float64Var(&delta, "delta", 0, "δ that may be spent in all; 0 allows pure releases only")
	cli.Enum(c, &relation, "neighbours",
		"which datasets differ by one person in every cost that is ever charged: \"replace\" a record, "+
			"or \"add-remove\" one", ledger.ReplaceOne, ledger.AddOrRemoveOne)
	cli.Register(c, &about)
	return c
}

func newBudgetShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show LEDGER",
		Short: "Show what was granted, spent and remains",
		Long: `Show the budget of a ledger, what was spent and what remains. The whole ledger is
verified first. What was spent is rounded up, what remains is rounded down.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := ledger.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			return showBudget(c, a, l)
		},
	}
}

func newBudgetHistory(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "history LEDGER",
		Short: "List every charge and every recorded result",
		Long: `List every entry of a ledger in order: charges with what they paid for, and results
with the first characters of the digest (SHA-256) of what was released. --json has
digests and times whole.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := ledger.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			history, err := release.NewHistory(c.Context(), l)
			if err != nil {
				return err
			}
			return a.Show(history, func(w *terminal.Page) error { return renderHistory(w, history) })
		},
	}
}

func newBudgetVerify(a *cli.App) *cobra.Command {
	var pinned string
	c := &cobra.Command{
		Use:   "verify LEDGER",
		Short: "Check a ledger from its first entry to its last",
		Long: `Check every byte of a ledger: the chain of hashes from the first entry to the last,
the sums, the anchor. The head that is printed names this state; keep it where
nobody who can write the ledger can write, and give it to --head later: it shows
whether both files were replaced by older copies.`,
		Example:           "  darrm budget verify patients.ledger --head 3:5f1d…",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			var heads []ledger.Head
			if c.Flags().Changed("head") {
				h, err := ledger.ParseHead(pinned)
				if err != nil {
					return &release.UsageError{Err: err}
				}
				heads = append(heads, h)
			}
			l, err := ledger.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := l.Verify(c.Context(), heads...); err != nil {
				return err
			}
			return deliverHead(c, a, l)
		},
	}
	c.Flags().StringVar(&pinned, "head", "",
		"a head that this command printed before: the ledger must still contain it")
	return c
}

func newBudgetAdopt(a *cli.App) *cobra.Command {
	var pinned string
	c := &cobra.Command{
		Use:   "adopt LEDGER",
		Short: "Make a lost or damaged anchor again, from a head that was kept elsewhere",
		Long: `Make the anchor of a ledger again where it was lost or damaged: the file
LEDGER.anchor, or the ledger's row in darrm.heads. --head is the newest head that
"darrm budget" ever printed and that was kept elsewhere. The ledger must be whole and
contain it; one that was rolled back to before it is refused. Entries after --head may
be missing without a trace, since only the anchor knew of them.`,
		Example:           "  darrm budget adopt patients.ledger --head 3:5f1d…",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.Require(c, "head"); err != nil {
				return err
			}
			h, err := ledger.ParseHead(pinned)
			if err != nil {
				return &release.UsageError{Err: err}
			}
			l, err := ledger.Adopt(c.Context(), args[0], h)
			if err != nil {
				return err
			}
			return deliverHead(c, a, l)
		},
	}
	c.Flags().StringVar(&pinned, "head", "", "the newest head that was kept elsewhere")
	return c
}

// deliverHead prints the head of a ledger that was verified from its first entry to its last.
func deliverHead(c *cobra.Command, a *cli.App, l *ledger.Ledger) error {
	head, err := l.Head(c.Context())
	if err != nil {
		return err
	}
	return a.Show(struct {
		Ledger   string `json:"ledger"`
		Verified bool   `json:"verified"`
		Entries  uint64 `json:"entries"`
		Head     string `json:"head"`
	}{l.Path(), true, head.Seq, head.String()}, func(w *terminal.Page) error {
		w.Printf("whole: %d entries\nhead: %v\n", head.Seq, head)
		return nil
	})
}

// showBudget prints what the ledger holds now.
func showBudget(c *cobra.Command, a *cli.App, l *ledger.Ledger) error {
	now, err := l.State(c.Context())
	if err != nil {
		return err
	}
	sums := release.NewBudgetSums(l, now)
	if sums.Labels, err = release.LabelCharges(c.Context(), l); err != nil {
		return err
	}
	return deliverSums(a, sums)
}

func deliverSums(a *cli.App, s release.BudgetSums) error {
	if a.JSON {
		return a.DeliverJSON("", s)
	}
	rows := [][]string{s.Granted.Row("granted", false), s.Spent.Row("spent", true),
		s.Remaining.Row("remains", false)}
	return a.Print(func(w *terminal.Page) error {
		if err := w.Table(terminal.TextTable{Header: []string{s.Ledger, "ε", "δ"},
			Rows: rows}); err != nil {
			return err
		}
		w.Text("  ", "neighbours: "+s.Neighbours.Name())
		if text := release.SpentUp(s.Remaining, s.Granted); text != "" {
			w.Text("  ", text)
		}
		for i := range s.Labels {
			w.Text("  ", s.Labels[i].Short())
		}
		w.Printf("%d entries, head %v\n", s.Entries, s.Head)
		return nil
	})
}

func renderHistory(w *terminal.Page, h release.History) error {
	rows := make([][]string, len(h.Entries))
	for i := range h.Entries {
		rows[i] = h.Entries[i].Row()
	}
	return w.Table(terminal.TextTable{Header: []string{"entry", "time (UTC)", "ε", "δ",
		"request, and what for"}, Rows: rows})
}
