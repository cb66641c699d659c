package darrmbeam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// Local runs pipelines on Prism, Beam's runner for one machine, inside this process. Use
// it as Job.Run. The workers are in this process too, unless the flag
// environment_type says otherwise.
//
// # Its port
//
// Prism listens on all networks, and whoever reaches the port can run commands as this
// user: its job service takes pipelines of processes from anybody (Beam 2.74,
// runners/prism/internal/jobservices/server.go, NewServer). So the socket is bound to
// the loopback device as soon as it is there, which Linux allows since 5.7; where that
// fails, so does Local, unless OpenPort is set. Other users of the same machine can
// still connect: the votes are theirs to read while the job runs.
//
// # Failures
//
// Prism does not run a bundle again. The first that fails, or loses its worker, ends the
// pipeline, which is what Job.Attempts is for. It can miss that a worker is gone, and wait
// for ever (when a worker ends, worker.W.Stop and worker.W.Control race, and Control may
// return without failing the bundles). So no pipeline runs without an end: Job.AttemptTimeout
// sets it, or else Timeout.
type Local struct {
	// OpenPort accepts a port that is open to the network.
	OpenPort bool
	// Timeout ends a pipeline that takes longer, unless its context has a deadline. Defaults
	// to DefaultLocalTimeout.
	Timeout time.Duration
}

// DefaultLocalTimeout is far more than one machine needs for a million queries, and short
// enough to wait for. The votes are read under it before anything is paid: a job that is too
// large for it mostly fails there.
const DefaultLocalTimeout = time.Hour

// Run executes the pipeline and waits for its end.
func (l Local) Run(ctx context.Context, p *beam.Pipeline) error {
	if err := checkAsync(); err != nil {
		return err
	}
	if _, ok := ctx.Deadline(); !ok {
		limit := cmp.Or(l.Timeout, DefaultLocalTimeout)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit,
			fmt.Errorf("the pipeline did not end within %v, the limit of the local runner (set an attempt "+
				"timeout): %w", limit, context.DeadlineExceeded))
		defer stop()
	}
	if err := l.start(ctx); err != nil {
		return err
	}
	// Prism panics, and this process with it, when a stream ends by a deadline and not
	// by being canceled (worker.W.Control and Data): so it must not see one.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	_, err := beam.Run(inner, "universal", p)
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

var server struct {
	sync.Mutex
	endpoint string
}

// start starts Prism once per process, and points the SDK's flags at it.
func (l Local) start(ctx context.Context) error {
	server.Lock()
	defer server.Unlock()
	if server.endpoint == "" {
		if *jobopts.Endpoint != "" {
			return usagef("endpoint = %q, but the local runner has one of its own: name a runner to "+
				"use another", *jobopts.Endpoint)
		}
		port, err := serve(ctx)
		if err != nil {
			return fmt.Errorf("start Prism: %w", err)
		}
		if err := closeToNetwork(port); err != nil && !l.OpenPort {
			return fmt.Errorf("the port of Prism is open to the network, where anybody could read the "+
				"votes and run commands, and closing it failed (%w): shield this machine and accept the open "+
				"port, or use another runner", err)
		}
		server.endpoint = fmt.Sprintf("localhost:%d", port)
	}
	*jobopts.Endpoint = server.endpoint
	if *jobopts.EnvironmentType == "" {
		*jobopts.EnvironmentType = "loopback"
	}
	return nil
}

// serve starts Prism on a free port.
func serve(ctx context.Context) (port int, err error) {
	for range 10 {
		lis, lerr := net.Listen("tcp", ":0")
		if lerr != nil {
			return 0, lerr
		}
		port = lis.Addr().(*net.TCPAddr).Port
		if lerr := lis.Close(); lerr != nil {
			return 0, lerr
		}
		if err = tryServe(ctx, port); err == nil {
			return port, nil
		}
	}
	return 0, err
}

// tryServe turns the panic that a taken port makes into an error.
func tryServe(ctx context.Context, port int) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
	}()
	_, err = prism.CreateJobServer(ctx, prism.Options{Port: port})
	return err
}

// Remote returns a Job.Run for one of the SDK's other runners, by its name: flink,
// spark, dataflow, universal. They must be imported by the program, and are
// configured by the SDK's flags.
func Remote(runner string) func(context.Context, *beam.Pipeline) error {
	return func(ctx context.Context, p *beam.Pipeline) error {
		if err := checkAsync(); err != nil {
			return err
		}
		mustBeThere(runner)
		_, err := beam.Run(ctx, runner, p)
		return err
	}
}

// checkAsync refuses to submit a pipeline and go on: its results would be looked for before they
// are there, and the key and the directory taken from its workers.
func checkAsync() error {
	if *jobopts.Async {
		return usagef("--async = true, but a release must wait for the pipeline to end")
	}
	return nil
}

// mustBeThere makes beam.Run fail for a runner that the program did not import, where it would end
// the program, with the job key on a disk. Registering a name twice panics.
func mustBeThere(runner string) {
	defer func() { _ = recover() }()
	beam.RegisterRunner(runner, func(context.Context, *beam.Pipeline) (beam.PipelineResult, error) {
		return nil, fmt.Errorf("runner %q is not linked into this program", runner)
	})
}
