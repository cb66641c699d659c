package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/darrm/darrm/lp"
)

// nextVersion is the next release's version; scripts/version reads it.
const nextVersion = "0.1.0"

// released is set by the linker in builds of releases (flag -X of scripts/dist).
var released string

// Version is the program's version: the linker's, or the module's where "go install …@v1.2.3" built
// it, or the next one, marked -dev.
var Version = func() string {
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

// DeliverVersion prints the program's version, its LP solver's and Go's.
func (a *App) DeliverVersion() error {
	if a.JSON {
		return a.DeliverJSON("", map[string]string{"version": Version, "solver": lp.Backend(),
			"go": runtime.Version()})
	}
	return a.Deliver("", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "darrm %s\nLP solver: %s\n%s %s/%s\n", Version, lp.Backend(),
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}
