package darrmbeam

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/darrm/darrm/release"
)

// Runner returns an Engine.Run for a runner's name, "" for this machine, as the SDK's flag --runner
// has it. Workers of another process find the job key in keyDir, which must then be stated. What
// the SDK would end the program for, or silently do otherwise, is refused here, before there is a
// key: names that it does not know, and flags of its own that the runner ignores. The errors are
// [release.UsageError]s, but for a worker's binary that is not there.
func Runner(name, keyDir string, openPort bool) (
	func(context.Context, *beam.Pipeline) error, error) {
	f, ok := runners[name]
	if !ok {
		return nil, unknownRunner(name)
	}
	if err := checkSDKFlags(f); err != nil {
		return nil, err
	}
	inside, err := checkEnvironment(f)
	if err != nil {
		return nil, err
	}
	if !inside && keyDir == "" {
		return nil, usagef("--key-dir is missing: the workers of %v are elsewhere, and need a "+
			"directory through which the job key reaches them", f)
	}
	if f == portable && *jobopts.Endpoint == "" {
		return nil, usagef("--endpoint is missing: where the job server of --runner %s listens", name)
	}
	if binary := *jobopts.WorkerBinary; binary != "" {
		info, err := os.Stat(binary)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file", binary)
		}
		if err != nil {
			return nil, &release.InputError{Err: fmt.Errorf("--worker_binary: %w", err)}
		}
	}
	if f == local {
		return Local{OpenPort: openPort}.Run, nil
	}
	return Remote(name), nil
}
