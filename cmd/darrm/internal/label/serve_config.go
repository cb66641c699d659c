package label

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/serve"
)

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
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
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
