package frame

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/release"
)

// groups are a command's own flags. The SDK passes whatever stands in flag.CommandLine on to the
// runner, which shows, logs and stores it: a ledger's location, which can hold a password, and the
// place of the job key have no business there.
var groups []*flag.FlagSet

// Group makes a group of the command's own flags, with a title for the help. A group's name of a
// value stands in backquotes in the flag's text, as package flag has it.
func Group(title string) *flag.FlagSet {
	g := flag.NewFlagSet(title, flag.ContinueOnError)
	groups = append(groups, g)
	return g
}

// Register adds flags to a group, for the parameters of a struct, given by a pointer, that have these
// flags: with the texts that they have in darrm.
func Register(g *flag.FlagSet, options any, flags ...string) {
	for _, name := range flags {
		p := param.Lookup(options, name)
		help := strings.ReplaceAll(p.Help, "$", "--")
		if on, ok := p.Value.Addr().Interface().(*bool); ok {
			g.BoolVar(on, name, *on, help)
		} else {
			g.Func(name, help, p.Set)
		}
	}
}

// Set reports whether a flag of a group was given.
func Set(name string) (set bool) {
	for _, g := range groups {
		g.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	}
	return set
}

// parse reads the command line into the groups and, what is the SDK's, into flag.CommandLine. The
// error is flag.ErrHelp or a [release.UsageError].
func parse(program string, args []string) (rest []string, err error) {
	all := flag.NewFlagSet(program, flag.ContinueOnError)
	all.SetOutput(io.Discard)
	for _, set := range append(groups[:len(groups):len(groups)], flag.CommandLine) {
		set.VisitAll(func(f *flag.Flag) { all.Var(forwarded{f, set}, f.Name, f.Usage) })
	}
	err = all.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil: // package flag has one dash
		text := strings.NewReplacer(": -", ": --", "flag -", "flag --").Replace(err.Error())
		return nil, &release.UsageError{Err: fmt.Errorf("%s (see %s --help)", text, program)}
	}
	return all.Args(), flag.CommandLine.Parse(nil) // that says it is parsed
}

// forwarded sets a flag where it belongs.
type forwarded struct {
	*flag.Flag
	of *flag.FlagSet
}

func (f forwarded) Set(s string) error { return f.of.Set(f.Name, s) }
func (f forwarded) String() string     { return "" }

func (f forwarded) IsBoolFlag() bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
