package main

import (
	"runtime/debug"
	"strings"
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
