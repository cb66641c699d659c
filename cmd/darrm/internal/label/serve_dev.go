package label

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/memory"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve"
)

const devFlag = "dev"

// What the ledger in memory holds: no more than what still protects somebody
// ([ensemble.Worthless]).
const (
	devEpsilon = 10
	devDelta   = 1e-3
)

// devDefaults set the mechanism where the flags choose none.
var devDefaults = [][2]string{{"K", "11"}, {"eps", "inf"}, {"affected", "1"}, {"label-eps", "0.5"}}

// registerDev registers --dev, which excludes each flag that would make more of the server.
func (f *serveFlags) registerDev(c *cobra.Command) {
	c.Flags().BoolVar(&f.dev, devFlag, false,
		"try the server: answers are no releases. The ledger is in memory, the address a port of "+
			"127.0.0.1, and a curl command that asks is printed")
	cli.ExcludeEach(c, "a server that is tried has a ledger and a key of its own, forgotten at its "+
		"end, and listens on a port of 127.0.0.1 that the system chooses", devFlag, "config", "ledger",
		"key", newKeyFlag, "head-file", "listen", "tls-cert", "tls-key", "client-ca")
}

// devDefault sets the mechanism of --dev where no flag says anything of it.
func devDefault(c *cobra.Command) error {
	for _, name := range []string{"table", "mechanism", "K", "m", "eps", "teacher-delta", "affected",
		"data", "label-eps", "delta", "missing", "teachers"} {
		if c.Flags().Changed(name) {
			return nil
		}
	}
	for _, d := range devDefaults {
		if err := c.Flags().Set(d[0], d[1]); err != nil {
			return err
		}
	}
	return nil
}

// devLedger makes a ledger in memory and the place of a service key. remove removes the files of
// the ledger's secret and of the key.
func devLedger(ctx context.Context, relation accountant.Relation) (book *ledger.Ledger, key string,
	remove func() error, err error) {
	dir, err := os.MkdirTemp("", "darrm-dev-") // its owner's alone
	if err != nil {
		return nil, "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	budget, err := ledger.NewBudget(devEpsilon, devDelta)
	if err != nil {
		return nil, "", remove, err
	}
	location, forget := memory.Make(filepath.Join(dir, "secret"))
	defer forget() // nobody else opens it
	if book, err = ledger.Create(ctx, location, budget, relation); err != nil {
		return nil, "", remove, err
	}
	return book, filepath.Join(dir, "key"), remove, nil
}

// checkDev refuses a mechanism that the ledger in memory cannot pay once.
func checkDev(o *release.Online) error {
	epsilon, delta := o.Unit().Ceil()
	if epsilon <= devEpsilon && delta <= devDelta {
		return nil
	}
	return cli.Usagef("an answer costs (%v, %v), but the ledger of --%s holds (%v, %v): state a smaller "+
		"--label-eps or --delta", epsilon, delta, devFlag, devEpsilon, devDelta)
}

// listen listens where the flags say.
func (f *serveFlags) listen(ctx context.Context, server *serve.Server) (net.Listener, error) {
	if f.dev {
		return server.ListenToTry(ctx)
	}
	return server.Listen(ctx, f.Address)
}

const devMark = "No release: the ledger is in memory until the end. Send made-up votes."

// sayDev prints how the server is asked.
func (f *serveFlags) sayDev(a *cli.App, at net.Addr) error {
	line, err := devCurl(at.String(), f.read.options.K, len(f.read.options.Classes), f.read.options.Labels)
	if err != nil {
		return err
	}
	return a.Show(struct {
		Listen    string `json:"listen"`
		Simulated bool   `json:"simulated"`
		Curl      string `json:"curl"`
	}{"tcp:" + at.String(), true, line}, func(w *terminal.Page) error {
		w.Printf("%s\nAsk from another shell; http://%s/ shows the budget:\n\n%s\n", devMark, at, line)
		return nil
	})
}

// devCurl is a command for a shell that asks for the answer to k made-up votes, two thirds of them
// for the last class or, of questions with several labels, for the first label. Pasted again it is answered
// again.
func devCurl(address string, k, classes int, labels []string) (string, error) {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		return "", err
	}
	most := (2*k + 2) / 3
	name, values := "counts", make([]int, classes)
	values[classes-1], values[0] = most, values[0]+k-most
	if k <= 15 { // they fit a line
		name, values = "votes", make([]int, k)
		for i := range most {
			values[i] = classes - 1
		}
	}
	var all any = values
	if len(labels) > 0 {
		sets := make([][]string, k)
		for i := range sets {
			if sets[i] = []string{}; i < most {
				sets[i] = labels[:1]
			}
		}
		name, all = "sets", sets
	}
	votes, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	// A proxy of the environment does not know this machine's loopback device.
	return strings.Join([]string{
		fmt.Sprintf("curl -sS --noproxy '*' http://%s/v1/answers", address),
		"  -H 'Content-Type: application/json'",
		fmt.Sprintf("  -d '{\"request_id\": \"try-1\", \"replay_key\": %q,", hex.EncodeToString(key[:])),
	}, " \\\n") + fmt.Sprintf("\n       %q: %s}'", name, votes), nil
}
