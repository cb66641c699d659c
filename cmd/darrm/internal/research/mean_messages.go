package research

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sketch"
	"github.com/darrm/darrm/sketch/wire"
)

// encodeFlags are the flags of mean encode.
type encodeFlags struct {
	codecFlags
	client uint64
	row    int
	every  bool // row is a client
	out    string
}

func newMeanEncode(a *cli.App) *cobra.Command {
	f := encodeFlags{}
	c := &cobra.Command{
		Use:   "encode vector.npy --k numbers --client number",
		Short: "Write one client's message for one round; not private",
		Long: meanNotPrivate + `

Read a vector from a NumPy file (.npy, "-" is stdin) and write the message that the
client sends: a header of 48 bytes and k numbers. If the file holds a matrix, --row says
which row is the client's vector, or --every-row makes a message for each: --client is the
number of the first row's client, and --out a folder for files NUMBER.msg.

The estimators of one family have the same messages: all rand-k…, all
rand-proj-spatial…; wangni, induced and eden are apart. Only the server needs to know
which of the family it is.

Give every client of a round a --client number of its own, and every round a new
--round. Otherwise errors add up instead of averaging out.`,
		Example: `  darrm mean encode gradient.npy --k 102 --client 3 --round 12 --root 7 --out 3.msg
  darrm mean encode all.npy --row 3 --client 3 --k 100 --bits 4 --out 3.msg
  darrm mean encode all.npy --every-row --client 0 --k 100 --out messages`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args[0]) },
	}
	f.register(c)
	fl := c.Flags()
	fl.Uint64Var(&f.client, "client", 0, "the client's number")
	fl.IntVar(&f.row, "row", -1,
		"row of the client in a matrix, from 0; a matrix of one row needs none")
	fl.Lookup("row").DefValue = "0" // not shown: the usage says it
	fl.BoolVar(&f.every, "every-row", false, "a message for each row, into the folder --out")
	cli.ExcludeEach(c, "every row has a message", "every-row", "row")
	fl.StringVarP(&f.out, "out", "o", "", "write the message to this file; \"-\" is stdout")
	cli.TakesFile(c, "out")
	return c
}

func (f *encodeFlags) run(c *cobra.Command, a *cli.App, path string) error {
	if err := cli.Require(c, "k", "client", "out"); err != nil {
		return err
	}
	if err := f.checkOut(); err != nil {
		return err
	}
	m, err := readVectors(c.Context(), a, path)
	if err != nil {
		return err
	}
	if f.every {
		return f.encodeAll(a, path, m)
	}
	row := f.row
	switch {
	case !c.Flags().Changed("row") && m.Rows > 1:
		return cli.Usagef("%s has %d rows: say which with --row", path, m.Rows)
	case !c.Flags().Changed("row"):
		row = 0
	case row < 0 || row >= m.Rows:
		return cli.Usagef("--row = %d, but it must be between 0 and %d", row, m.Rows-1)
	}
	// a client's message does not depend on n or rho
	compressor, err := f.compressor(1, m.Columns, 0, "auto")
	if err != nil {
		return err
	}
	message, err := compressor.Encode(f.round, f.client, m.Row(row))
	if err != nil {
		return &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	if err := a.Deliver(f.out, cli.Bytes(message)); err != nil {
		return err
	}
	if a.JSON && f.out != "-" {
		return a.DeliverJSON("", struct {
			Client uint64 `json:"client"`
			Round  uint64 `json:"round"`
			D      int    `json:"d"`
			K      int    `json:"k"`
			Bytes  int    `json:"bytes"`
		}{f.client, f.round, m.Columns, f.k, len(message)})
	}
	a.Say("client %d, round %d: %d bytes for %d numbers", f.client, f.round, len(message), m.Columns)
	return nil
}

// checkOut refuses an output that cannot be written.
func (f *encodeFlags) checkOut() error {
	if !f.every {
		return release.FileOutput{Path: f.out}.CheckPlace()
	}
	if info, err := os.Stat(f.out); err != nil || !info.IsDir() {
		return cli.Usagef("--out = %q, but with --every-row it must be a folder that exists", f.out)
	}
	return nil
}

// encodeAll writes the message of each row's client. Nothing is written before all of them are made.
func (f *encodeFlags) encodeAll(a *cli.App, path string, m npy.Matrix) error {
	compressor, err := f.compressor(1, m.Columns, 0, "auto")
	if err != nil {
		return err
	}
	if uint64(m.Rows)-1 > math.MaxUint64-f.client {
		return cli.Usagef("--client = %d, but the numbers of %d rows go beyond the largest", f.client, m.Rows)
	}
	messages := make([][]byte, m.Rows)
	size := 0
	for i := range messages {
		if messages[i], err = compressor.Encode(f.round, f.client+uint64(i), m.Row(i)); err != nil {
			return &release.InputError{Err: fmt.Errorf("%s: row %d: %w", path, i, err)}
		}
		size += len(messages[i])
	}
	for i, message := range messages {
		name := filepath.Join(f.out, strconv.FormatUint(f.client+uint64(i), 10)+".msg")
		if err := a.Deliver(name, cli.Bytes(message)); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.DeliverJSON("", struct {
			Client  uint64 `json:"client"` // the first
			Clients int    `json:"clients"`
			Round   uint64 `json:"round"`
			D       int    `json:"d"`
			K       int    `json:"k"`
			Bytes   int    `json:"bytes"`
		}{f.client, m.Rows, f.round, m.Columns, f.k, size})
	}
	a.Say("%d clients, round %d: %d bytes for %d numbers each", m.Rows, f.round, size, m.Columns)
	return nil
}

// decodeFlags are the flags of mean decode.
type decodeFlags struct {
	codecFlags
	n, d int
	rho  float64
	beta string
	out  string
}

func newMeanDecode(a *cli.App) *cobra.Command {
	f := decodeFlags{}
	c := &cobra.Command{
		Use:   "decode messages… --k numbers --d length",
		Short: "Estimate the mean from the messages of one round; not private",
		Long: meanNotPrivate + `

Read the messages of one round and write the estimated mean to a NumPy file. Clients may
be missing: the estimate is of the mean over the clients whose messages are there. A
message with another round, root, k or d is refused, and so is a second message of one
client. A message names its sender itself, and nothing proves it: if senders may lie,
check them before.

rand-proj-spatial-avg takes the vectors for half alike. -opt takes --rho, how alike they
are; -max takes them for identical, and fails badly where they are not; -plug estimates
it from the messages.`,
		Example: `  darrm mean decode *.msg --k 102 --d 1024 --round 12 --root 7 --out mean.npy
  darrm mean decode *.msg --k 102 --d 1024 --estimator rand-proj-spatial-opt --rho 0.9 --out mean.npy`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.register(c)
	fl := c.Flags()
	fl.IntVar(&f.d, "d", 0, "length of the clients' vectors")
	fl.IntVar(&f.n, "n", 0, "refuse more clients than this (without it, as many as there are files)")
	fl.Float64Var(&f.rho, "rho", 0, "how alike the vectors are, ρ* = R/(n-1), for -opt")
	registerBeta(c, &f.beta)
	fl.StringVarP(&f.out, "out", "o", "", "write the mean to this file (.npy); \"-\" is stdout")
	cli.TakesFile(c, "out", "npy")
	return c
}

func registerBeta(c *cobra.Command, beta *string) {
	c.Flags().StringVar(beta, "beta", "auto",
		"how the factor that makes estimates unbiased is found: \"auto\", \"closed\", \"asymptotic\", "+
			"\"mc\" or \"mc:DRAWS\"")
	cli.Offer(c, "beta", cobra.FixedCompletions([]string{"auto", "closed", "asymptotic", "mc", "mc:"},
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

func (f *decodeFlags) run(c *cobra.Command, a *cli.App, paths []string) error {
	if err := cli.Require(c, "k", "d", "out"); err != nil {
		return err
	}
	opt := f.estimator == sketch.RandProjOpt || f.estimator == sketch.RandKSpatialOpt
	if opt != c.Flags().Changed("rho") {
		return cli.Usagef("--rho goes with -opt estimators, and they need it")
	}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return err
	}
	if !c.Flags().Changed("n") {
		f.n = len(paths)
	}
	compressor, err := f.compressor(f.n, f.d, f.rho, f.beta)
	if err != nil {
		return err
	}
	if !a.JSON { // which has them in its result
		for _, w := range compressor.Warnings {
			a.Say("warning: %s", w)
		}
	}
	p := cli.NewProgress(a)
	defer p.Stop()
	count := p.Count("decoding", "messages")
	decoder := compressor.NewDecoder(f.round)
	for i, path := range paths {
		// No message is longer than its vector with an index for each number.
		message, err := readfile.Whole(c.Context(), path, wire.Size+16*int64(f.d)+64)
		if err != nil {
			return &release.InputError{Err: err}
		}
		client, err := wire.ClaimedClient(message)
		if err == nil {
			err = decoder.Add(client, message)
		}
		if err != nil {
			return meanFault(path, err)
		}
		count(i+1, len(paths))
	}
	mean, err := decoder.Mean(c.Context())
	if err != nil {
		return err
	}
	p.Stop()
	if err := a.Deliver(f.out, func(w io.Writer) error {
		return npy.WriteVector(w, mean)
	}); err != nil {
		return err
	}
	if a.JSON && f.out != "-" {
		return a.DeliverJSON("", struct {
			Clients   int              `json:"clients"`
			Round     uint64           `json:"round"`
			D         int              `json:"d"`
			Estimator sketch.Estimator `json:"estimator"`
			Warnings  []string         `json:"warnings"`
		}{len(paths), f.round, f.d, f.estimator, slices.Concat([]string{}, compressor.Warnings)})
	}
	a.Say("the mean of %d clients, by %s", len(paths), f.estimator.Title())
	return nil
}
