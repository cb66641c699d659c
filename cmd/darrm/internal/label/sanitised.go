package label

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// sanitisedFlags release what answers of gnmax cost at these votes.
type sanitisedFlags struct {
	out, ledger, requestID string
	delta                  float64
	options                ensemble.TellingOptions
	charge                 release.Charge // its records, and whether they may be of no use
}

// Defaults of the released figure: noise that costs ε = 1.48 at δ = 1e-6.
const (
	tellSteps     = 15
	tellNoise     = 8
	tellSizeNoise = 6
)

// tellFlags are the flags that go with --sanitised only.
var tellFlags = []string{"ledger", "request-id", "tell-queries", "tell-order", "tell-delta", "tell-steps",
	"tell-noise", "tell-size-noise", "accept-weak"}

func (f *sanitisedFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.out, "sanitised", "",
		"instead of the comparison, release what answers of gnmax cost at these votes, with noise, into "+
			"this file, and charge --ledger")
	cli.TakesFile(c, "sanitised", "json")
	fl.StringVar(&f.ledger, "ledger", "", "charge this ledger (darrm budget init) for --sanitised, or "+
		"compare within what it has left (--budget-eps rest)")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	fl.StringVar(&f.requestID, "request-id", "", "name of the figure in the ledger, which has one figure")
	fl.Float64Var(&f.delta, "tell-delta", 1e-6,
		"δ of what telling costs, and at which the ε of the answers is told")
	f.options = ensemble.TellingOptions{Steps: tellSteps, Noise: tellNoise, SizeNoise: tellSizeNoise}
	cli.Register(c, &f.options)
	cli.Register(c, &f.charge, "records", "accept-weak")
}

// toldReport is the file of --sanitised.
type toldReport struct {
	What      string             `json:"what"`
	Estimate  bool               `json:"estimate"` // it may lie below the truth, and is no promise
	Mechanism string             `json:"mechanism"`
	K         int                `json:"K"`
	Classes   int                `json:"classes"`
	Steps     int                `json:"steps"`
	Noise     float64            `json:"noise"`
	SizeNoise float64            `json:"size_noise"`
	Charged   accountant.Cost    `json:"charged"`
	Drawn     ensemble.DrawnCost `json:"told"`
}

const maxTold = 1 << 16

// checkSanitised refuses the flags that go with --sanitised only, without it.
func (f *compareFlags) checkSanitised(c *cobra.Command) error {
	if f.sanitised.out != "" {
		return cli.Require(c, "tell-queries", "tell-order", "ledger", "request-id")
	}
	for _, name := range tellFlags {
		if c.Flags().Changed(name) && !(name == "ledger" && f.within.asked(c)) {
			return cli.Usagef("--%s goes with --sanitised FILE", name)
		}
	}
	return nil
}

// tell releases what the answers to the files' queries cost at their votes.
func (f *compareFlags) tell(c *cobra.Command, a *cli.App, paths []string) error {
	s := &f.sanitised
	if len(f.tables) > 0 {
		return cli.Usagef("--sanitised is about gnmax: leave --table out")
	}
	if statesLabels(c) {
		return cli.Usagef("--sanitised goes without --labels")
	}
	ctx := c.Context()
	mechanism, err := f.gnmax(c, a, paths)
	if err != nil {
		return err
	}
	votes, _, err := f.ballots(ctx, a, paths)
	if err != nil {
		return err
	}
	ballots := votes.ballots
	m, err := mechanism(ctx, ballots)
	if err != nil {
		return err
	}
	telling, err := m.NewTelling(s.options)
	if err != nil {
		return &release.UsageError{Err: err}
	}
	reads := make([]release.File, len(paths))
	for i, path := range paths {
		reads[i] = release.File{Name: "the votes", Path: path}
	}
	setting := m.Setting()
	out, err := release.Told{
		Telling: telling, Ballots: ballots, Delta: s.delta, DrawnDelta: s.delta,
		Ledger: s.ledger, RequestID: s.requestID, Records: s.charge.Records, AcceptWeak: s.charge.AcceptWeak,
		Output: release.FileOutput{Path: s.out, Name: "--sanitised"}, Reads: reads,
		Encode: func(drawn ensemble.DrawnCost, charged accountant.Cost) func(io.Writer) error {
			r := toldReport{What: "what the answers cost at the votes that were cast, told with noise",
				Estimate: true, Mechanism: m.Title(), K: setting.K, Classes: setting.Classes,
				Steps: s.options.Steps, Noise: s.options.Noise, SizeNoise: s.options.SizeNoise,
				Charged: charged, Drawn: drawn}
			return func(w io.Writer) error {
				e := json.NewEncoder(w)
				e.SetIndent("", " ")
				return e.Encode(r)
			}
		},
	}.Run(ctx)
	if err != nil && !out.Done() {
		return err
	}
	if out.Before {
		a.Say("request %q was told before: %s has it, unchanged", s.requestID, s.out)
	}
	return errors.Join(err, f.showTold(ctx, a))
}

// gnmax checks the flags, and returns a function that makes the mechanism for votes.
func (f *compareFlags) gnmax(c *cobra.Command, a *cli.App, paths []string) (
	func(context.Context, *ensemble.Ballots) (*ensemble.Mechanism, error), error) {
	r, err := f.request(c, a, paths)
	if err != nil {
		return nil, err
	}
	r.Mechanism = "gnmax"
	chooser, err := choose.Prepare(c.Context(), r)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, b *ensemble.Ballots) (*ensemble.Mechanism, error) {
		g, err := chooser.Choose(ctx, b.K(), b.Classes())
		if err != nil {
			return nil, err
		}
		return g.Plan.Mechanism(), nil
	}, nil
}

// showTold prints the content of the file.
func (f *compareFlags) showTold(ctx context.Context, a *cli.App) error {
	b, err := readfile.Whole(ctx, f.sanitised.out, maxTold)
	if err != nil {
		return err
	}
	if a.JSON {
		_, err := a.Out.Write(b)
		return err
	}
	var r toldReport
	if err := json.Unmarshal(b, &r); err != nil {
		return &release.InputError{Err: fmt.Errorf("%s: %w", f.sanitised.out, err)}
	}
	d := r.Drawn
	return a.Print(func(w *terminal.Page) error {
		row := func(name string, x, low, high float64) []string {
			return []string{name, num.Outward(x, 4, true), num.Outward(low, 4, false), num.Outward(high, 4, true)}
		}
		if err := w.Table(terminal.TextTable{Header: []string{"told", "figure", "95 %: from", "to"},
			Rows: [][]string{
				row(fmt.Sprintf("Rényi divergence, order %v", d.Order), d.Divergence, d.Interval[0],
					d.Interval[1]),
				row(fmt.Sprintf("ε at δ = %v", d.Delta), d.Epsilon, d.Between[0], d.Between[1]),
			}}); err != nil {
			return err
		}
		w.Hang("  ", "  ", fmt.Sprintf("An estimate of what %d answers cost at their votes, which may lie "+
			"below the truth. It is no promise and gives nothing back: the answers cost ε = %s at any votes, "+
			"and that is what a ledger is charged for them. Telling it cost (%s, %v).", d.Queries,
			num.Outward(d.AnyVotes, 6, true), num.Outward(r.Charged.Epsilon, 6, true), r.Charged.Delta))
		return nil
	})
}
