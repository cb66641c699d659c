package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/darrm/darrm/lp"
)

// nextVersion is the version that the source will be released as; scripts/version reads it.
const nextVersion = "0.1.0"

// released is set by builds of releases: -ldflags "-X main.released=…".
var released string

// version of the program: that of the build, or of the module where "go install …@v1.2.3" built
// it, or the next one's, marked -dev.
var version = func() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		// A checkout without tags is v0.0.0-…, which is no version of ours.
		if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok && !strings.HasPrefix(v, "0.0.0-") {
			return v
		}
	}
	return nextVersion + "-dev"
}()

func (a *app) deliverVersion() error {
	if a.json {
		return a.deliverJSON("", map[string]string{"version": version, "solver": lp.Backend(),
			"go": runtime.Version()})
	}
	return a.deliver("", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "darrm %s\nLP solver: %s\n%s %s/%s\n", version, lp.Backend(),
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}
