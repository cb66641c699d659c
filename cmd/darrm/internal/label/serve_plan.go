package label

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// answers returns the mechanism that answers queries, and its charge: the mechanism that the ledger has for the flags'
// statement, else the one that they name, or the best within a budget of all labels. book is the ledger of a
// trial, nil for that of --ledger.
func (f *serveFlags) answers(c *cobra.Command, a *cli.App, book *ledger.Ledger) (o release.OnlineOptions,
	err error) {
	k, classes := f.read.options.K, len(f.read.options.Classes)
	within := f.within.asked(c)
	if within {
		err = cmp.Or(f.within.prepare(c, f.states()), cli.Require(c, "queries", "K"))
	} else {
		err = cmp.Or(f.within.checkQueries(c), f.prepare(c, a, true))
		k = f.read.options.K // a table has it
	}
	if err != nil {
		return o, err
	}
	o = release.OnlineOptions{Charge: f.charge.Charge, Book: book, Missing: f.read.options.Missing}
	if o.Several, err = f.read.several().Of(k); err != nil {
		return o, &release.UsageError{Err: err}
	}
	stated, err := f.statement(c, f.within.stated(c))
	if err == nil && stated != nil {
		o.Statement, err = stated.Of(k, classes, f.within.queries, o.Missing, o.Several), f.CheckReach(k)
	}
	if err != nil {
		return o, err
	}
	if within { // labels of several releases are made of what presumes nothing
		nothing := math.Inf(1)
		o.Stated = ensemble.Stated{Epsilon: &nothing, Affected: &o.Statement.Affected}
		// What is stated of private teachers decides on the plan, which then spends none of it.
		o.Charge.Teachers, o.Charge.Ensemble, o.Charge.EnsembleDigest = "", "", ""
		o.Statement = o.Statement.Within(f.within.budget)
	} else {
		if o.Stated = f.chooser.Stated(); book != nil { // the ledger of a trial is made for it
			o.Statement = nil
		}
	}
	if o.Statement != nil && book == nil {
		if o.Book, err = o.Charge.Open(c.Context()); err != nil || o.Book == nil { // without one it is refused
			return o, err
		}
		o.Charge.Ledger = "" // which Book is
		var found bool
		if o.Plan, _, found, err = release.FindPaid(c.Context(), o.Book, *o.Statement); found || err != nil {
			return o, err
		}
	}
	if !within {
		g, err := f.choose(c, k, classes)
		if o.Plan = g.Plan; err == nil && o.Statement == nil && f.within.queries > 0 {
			o.Plan, err = o.Plan.ForQuestions(f.within.queries, o.Several, f.charge.Slack)
		}
		return o, err
	}
	budget, err := f.within.budget.In(c.Context(), o.Book)
	if err != nil {
		return o, err
	}
	g, slack, err := f.within.plan(c, a, f.states(), budget, k, classes, f.within.queries*max(1, o.Several.Labels))
	if err == nil {
		o.Plan, err = g.Plan.ForQuestions(f.within.queries, o.Several, &slack)
	}
	return o, err
}

// setFlags gives flags the values of a configuration, unless the command line has them.
func setFlags(c *cobra.Command, settings map[string]any) error {
	for name, value := range settings {
		flag := c.Flags().Lookup(name)
		if name == newKeyFlag {
			return fmt.Errorf("%s must be given on the command line, as --%s: a file would state it at "+
				"every start", name, name)
		}
		if flag == nil || slices.Contains([]string{"config", "help", "help-all"}, name) {
			return fmt.Errorf("%q is not known: keys are the flags of %s, and tables [[client]]%s", name,
				c.CommandPath(), cli.SuggestFlag(c, name))
		}
		if flag.Changed {
			continue
		}
		var invalid *pflag.InvalidValueError
		switch err := c.Flags().Set(name, settingText(value)); {
		case errors.As(err, &invalid):
			return cli.InvalidValue(invalid)
		case err != nil:
			return err
		}
	}
	return nil
}

// settingText returns a value of a configuration as the command line would have it.
func settingText(value any) string {
	switch v := value.(type) {
	case float64:
		return strings.TrimPrefix(strings.ToLower(num.Shortest(v)), "+")
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, settingText(item))
		}
		return strings.Join(items, ",")
	}
	return fmt.Sprint(value)
}

// reload reads the configuration anew at every SIGHUP, until it is ended: the clients and rereads
// are applied, and any other key that changed is an error, with which nothing of the file is in
// effect.
func (f *serveFlags) reload(ctx context.Context, log *slog.Logger, server *serve.Server,
	start *serve.Config, rereads []string) (end func()) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	done := make(chan struct{})
	reread := func() (clients int, err error) {
		config, err := serve.ReadConfig(ctx, f.config)
		if err != nil {
			return 0, err
		}
		if err := start.Kept(config, rereads); err != nil {
			return 0, fmt.Errorf("%s: %w", f.config, err)
		}
		a := f.Address
		for name, to := range map[string]*string{"tls-cert": &a.Cert, "tls-key": &a.Key,
			"client-ca": &a.ClientCA} {
			if !slices.Contains(rereads, name) {
				continue
			}
			*to = ""
			if value, there := config.Settings[name]; there {
				*to = settingText(value)
			}
		}
		return len(config.Clients), server.Reload(ctx, a, config.Clients)
	}
	go func() {
		for {
			select {
			case <-done:
				return
			case <-hup:
			}
			if clients, err := reread(); err != nil {
				log.Error("the configuration stays as it was, and nothing of the file is in effect", "cause",
					err.Error())
			} else {
				log.Info("clients and certificates read anew", "clients", clients)
			}
		}
	}()
	return func() {
		signal.Stop(hup)
		close(done)
	}
}
