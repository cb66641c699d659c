package darrmbeam

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// Runner returns an Engine.Run for a runner's name, "" for this machine, as the SDK's flag --runner has it.
// Workers of another process find the job key in keyDir, which must then be stated.
func Runner(name, keyDir string, openPort bool) (func(context.Context, *beam.Pipeline) error, error) {
	if name == "" || name == "prism" || name == "local" {
		return Local{OpenPort: openPort}.Run, nil
	}
	if !jobopts.IsLoopback() && keyDir == "" {
		return nil, fmt.Errorf("--key-dir is missing: the workers of runner %s are elsewhere, and need a directory through which the job key reaches them", name)
	}
	return Remote(name), nil
}
