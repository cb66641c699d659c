package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
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

// System describes Go and the machine as far as its kind, for the head of a table.
func System() string { return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH }

// Load returns how many programs wanted to run in the last minute, five and fifteen, where Linux tells.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(text) + " ? ? ?")[:3], " ")
}
