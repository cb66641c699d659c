package label

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve"
	"github.com/darrm/darrm/serve/openapi"
	"github.com/darrm/darrm/serve/page"
)

// serveFlags are the flags of serve beyond the mechanism's. Each is a key of --config too.
type serveFlags struct {
	answerFlags
	serve.Address
	serve.Limits
	config, key string
	newKey      bool
	headFile    string
	within      within
	dev         bool
}

// newKeyFlag is meant for one start, so no key of --config has its name.
const newKeyFlag = "new-key"

// NewServe makes the command that answers queries over HTTP.
func NewServe(a *cli.App) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer queries over HTTP, each paid for before it is answered",
		Long: `Answer queries one at a time over HTTP. POST /v1/answers takes the votes of the teachers
on one query and gives one private label. The ledger's charge is on disk before the label leaves,
and what the budget does not allow is refused and not drawn. A client may send a replay_key: at
least 128 random bits that it makes and keeps. The same request id, votes and replay_key then have
the same answer for ever, free of charge, from every server of the ledger. Anything else under that
id is refused. A request without a replay_key is answered once.

The mechanism is chosen by the flags of aggregate, with --K and --classes, or by --table. A server
that solves may find another optimum after an upgrade, and then cannot repeat earlier answers.

With --budget-eps, --budget-delta and --queries one charge pays for that many labels, and its table
is kept beside the ledger. Where aggregate or another server made that charge, labels are taken from
it and nothing is planned. The server makes one charge, and no second one by itself.

State the teachers' promise beside a table: --affected (or --data), by default all teachers, and
--eps and --teacher-delta of private teachers. The log, the page and /v1/mechanism repeat what was
stated. Fresh teachers pay for every answer, frozen ones once for their training.

With --labels a query is a question with several yes/no labels, and a request has a set of them for each
teacher. It is charged as min(L, 2τt) answers, whichever labels are asked: L labels, τ of --most-yes, t of
--affected. A second request about the same question is another question. --queries is then a number
of questions.

The server listens on a Unix socket of mode 0660: whoever may open it may ask. Over TCP
(--listen tcp:HOST:PORT) it needs --tls-cert and --tls-key, and clients with tokens or
certificates, which stand in --config:

  ledger = "patients.ledger"
  key = "service.key"
  table = "table.json"
  eps = 0.1                 # the teachers' promise, as in the table
  teacher-delta = 1e-5
  affected = 1
  teachers = "fresh"

  [[client]]
  name = "ward-3"
  token_sha256 = ["…"]      # darrm serve token; several to rotate
  epsilon = 2.0             # its share of the budget; left out: all of it
  delta = 1e-6
  rate = 5                  # answers a second; left out: no limit
  may = ["answer", "look"]

--head-file stores the ledger's newest head, once a second and at the end. A server refuses to start
on a ledger that lacks this head: an older copy was restored, and what was spent since would be
spent again. The file misses what was charged within a second before a kill. It shows nothing
where ledger and file are restored together.

Every flag is a key of the file, under its own name. A flag on the command line overrides the file.
SIGHUP reads the clients and the certificates anew. If another key changed, the log names it and no
change takes effect. SIGTERM and Ctrl-C finish what is being answered and stop.

--key is the secret file from which all noise comes. The first start makes it. Keep it as
long as the ledger, and give it to all servers of the ledger and to nobody else. Where the ledger
has answers of the same mechanism under one key, another key is refused, and none is made. --new-key
allows another one, after the key was lost or seen by somebody. Then no earlier answer can be
repeated, its request id is refused for ever, and answers that were charged and not received are
lost. Stop all servers first; each start needs --new-key until the first answer.

--dev tries the server without any of this: it answers on 127.0.0.1 from a ledger in memory
that holds (10, 0.001), prints a curl command that asks it, and marks each answer as simulated. By
default 11 teachers answer who promise nothing, each answer at ε = 0.5. It takes no ledger, key,
address or configuration of yours. Every user of the machine can ask it.

Logs go to stderr and have no votes and no labels.`,
		Example: `  darrm serve --dev
  darrm serve --ledger patients.ledger --key service.key --table table.json --listen unix:serve.sock \
    --eps 0.1 --teacher-delta 1e-5 --affected 1 --teachers fresh
  darrm serve --config serve.toml
  openssl rand -hex 16 > r1.key
  curl --unix-socket serve.sock http://darrm/v1/answers --json '{"request_id": "r1", "replay_key": "'$(cat r1.key)'", "votes": [0, 1, 1]}'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.registerAnswer(c)
	f.read.registerVotes(c, "number of teachers (default: what the table says)")
	f.read.registerLabels(c, "yes/no labels that each question has, in order, separated by commas: requests have sets of them")
	f.charge.registerPayer(c)
	f.within.register(c, &f.Flags)
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "read flags, and the clients, from this TOML file")
	cli.TakesFile(c, "config", "toml")
	fl.StringVar(&f.key, "key", "", "file of the SECRET service key, made where there is none")
	fl.BoolVar(&f.newKey, newKeyFlag, false,
		"take another key than the one that the ledger's answers came from, which can then not be "+
			"given again; not a key of --config")
	fl.StringVar(&f.headFile, "head-file", "",
		"keep the ledger's newest head in this file, best on another disk; a ledger that does not "+
			"contain it is an older copy, and is refused")
	f.Listen = serve.DefaultListen
	f.Limits = serve.Limits{Body: serve.DefaultBody, Batch: serve.DefaultBatch, AtOnce: serve.DefaultAtOnce,
		Timeout: serve.DefaultTimeout, Connections: serve.DefaultConnections, PerAddress: serve.DefaultPerAddress}
	cli.Register(c, &f.Address)
	cli.Register(c, &f.Limits)
	for _, file := range []string{"key", "head-file", "tls-cert", "tls-key", "client-ca"} {
		cli.TakesFile(c, file)
	}
	f.registerDev(c)
	c.AddCommand(newServeToken(a))
	cli.First(c, problem.FlagGroups, devFlag, "ledger", "key", "table", "listen", "config", "teachers",
		"affected")
	return c
}

func newServeToken(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Make a token for a client, and its hash for the configuration",
		Long: `Make a token of 256 random bits. The client sends it as "Authorization: Bearer TOKEN". The
server's configuration gets token_sha256 alone, from which the token cannot be found. darrm keeps
neither. To change a token, put the hash of the new one beside the old one, send SIGHUP, give the client
the new token, and then take the old hash out.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			token, hash := serve.NewToken()
			return a.Show(map[string]string{"token": token, "token_sha256": hash}, func(w *terminal.Page) error {
				w.Printf("token           %s\ntoken_sha256 = [%q]\n", token, hash)
				return nil
			})
		},
	}
}

func (f *serveFlags) run(c *cobra.Command, a *cli.App) (failed error) {
	config := &serve.Config{}
	var rereads []string // keys of the file that a reload applies
	if f.config != "" {
		rereads = serve.Rereads(c.Flags().Changed)
		var err error
		if config, err = serve.ReadConfig(c.Context(), f.config); err != nil {
			return err
		}
		if err := setFlags(c, config.Settings); err != nil {
			return &release.InputError{Err: fmt.Errorf("%s: %w", f.config, err)}
		}
		if err := cli.CheckExcluded(c); err != nil {
			return err
		}
	}
	if f.dev {
		if err := devDefault(c); err != nil {
			return err
		}
	}
	options, unsaved, remove, err := f.service(c, a)
	if remove != nil {
		defer func() { failed = errors.Join(failed, remove()) }()
	}
	if err != nil {
		return err
	}
	if unsaved != nil {
		a.Say("darrm: %v", unsaved)
	}
	options.Clients, options.Log, options.Version = config.Clients, logger(a), cli.Version
	server, err := serve.New(options)
	if err != nil {
		return &release.UsageError{Err: err}
	}
	l, err := f.listen(c.Context(), server)
	if err != nil {
		return err
	}
	if f.config != "" {
		defer f.reload(c.Context(), options.Log, server, config, rereads)()
	}
	if err := f.started(a, l); err != nil {
		return errors.Join(err, l.Close())
	}
	a.Allow(serve.Grace)
	a.Finishing("the requests that are being answered")
	return server.Serve(c.Context(), l)
}

// started prints the server's address for programs, and how a server that is tried is asked.
func (f *serveFlags) started(a *cli.App, l net.Listener) error {
	if f.dev {
		return f.sayDev(a, l.Addr())
	}
	if !a.JSON {
		return nil
	}
	listen := f.Listen
	if strings.HasPrefix(listen, "tcp:") {
		listen = "tcp:" + l.Addr().String() // with the port that the system chose
	}
	return a.DeliverJSON("", map[string]string{"listen": listen})
}

// service returns the options of the service that the flags describe. remove, where it is not nil,
// removes the files of a server that is tried.
func (f *serveFlags) service(c *cobra.Command, a *cli.App) (o serve.Options, unsaved error,
	remove func() error, err error) {
	if err := f.read.prepareVotes(c); err != nil {
		return o, nil, nil, err
	}
	if err := f.read.options.CheckSeveral(); err != nil {
		return o, nil, nil, &release.UsageError{Err: err}
	}
	var book *ledger.Ledger
	if f.dev {
		if book, f.key, remove, err = devLedger(c.Context(), f.Neighbours); err != nil {
			return o, nil, remove, err
		}
	}
	options, err := f.answers(c, a, book)
	if err != nil {
		return o, nil, remove, err
	}
	o.Classes, o.Same, o.Limits = f.read.options.Classes, f.read.options.Same, f.Limits
	o.Labels = f.read.options.Labels
	options.Key, options.NewKey, options.HeadFile = f.key, f.newKey, f.headFile
	if o.Online, err = release.OpenOnline(c.Context(), options); err != nil {
		return o, f.Unsaved, remove, err
	}
	if table := o.Online.Plan().Table(); table != (release.Table{}) {
		var b bytes.Buffer
		if err := table.Encode(&b); err != nil {
			return o, f.Unsaved, remove, err
		}
		o.Table = json.RawMessage(b.Bytes())
		by := (plan.ReportOptions{Classes: f.read.classNames(), Labels: o.Labels}).ByClass(
			plan.Choice{Noise: table.Gamma, Answers: table.Answers})
		if by != nil {
			if o.ByClass, err = json.Marshal(by); err != nil {
				return o, f.Unsaved, remove, err
			}
		}
	}
	if f.dev {
		if err := checkDev(o.Online); err != nil {
			return o, f.Unsaved, remove, err
		}
	}
	_, said, _ := o.Online.Stated()
	p, err := page.New(page.Service{
		Plan: o.Online.Plan(), Teachers: string(o.Online.Teachers()), Stated: said, Classes: o.Classes,
		Labels: o.Labels,
		Usable: o.Online.Usable,
	})
	if err != nil {
		return o, f.Unsaved, remove, err
	}
	o.Page, o.API = p.Handler(o.Online.Ledger), openapi.JSON
	return o, f.Unsaved, remove, nil
}

// logger writes to stderr: lines of JSON where JSON is asked for, only errors where quiet is.
func logger(a *cli.App) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.Quiet {
		o.Level = slog.LevelError
	}
	if a.JSON {
		return slog.New(slog.NewJSONHandler(a.Err, o))
	}
	return slog.New(slog.NewTextHandler(a.Err, o))
}
