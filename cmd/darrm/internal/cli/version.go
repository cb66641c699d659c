package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/darrm/darrm/internal/terminal"
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
	return a.Show(map[string]string{"version": Version, "solver": lp.Backend(), "go": runtime.Version()},
		func(w *terminal.Page) error {
			w.Printf("darrm %s\nLP solver: %s\n%s %s/%s\n", Version, lp.Backend(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		})
}
