package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main runs a measurement by the command line, until it ends or is interrupted, and ends the program with 1 after an
// error.
func Main(name string, run func(ctx context.Context, args []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); !errors.Is(err, flag.ErrHelp) {
		End(name, err)
	}
}

// End ends the program with 1 after an error, which it prints.
func End(name string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
