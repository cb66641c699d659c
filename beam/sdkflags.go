package darrmbeam

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// family is one of the ways of the SDK to run a pipeline.
type family int

const (
	local    family = 1 << iota // Prism in this process
	portable                    // flink, spark, universal
	dataflow
)

func (f family) String() string {
	return map[family]string{local | portable | dataflow: "every runner", local: "the local runner",
		portable: "the runners flink, spark and universal", dataflow: "the runner dataflow"}[f]
}

// runners are the runners by their names.
var runners = map[string]family{
	"": local, "local": local, "prism": local, "PrismRunner": local,
	"flink": portable, "FlinkRunner": portable, "spark": portable, "SparkRunner": portable,
	"universal": portable, "PortableRunner": portable, "portable": portable,
	"dataflow": dataflow, "DataflowRunner": dataflow,
}

// sdkFlags lists the SDK's flags with the runners that honour them (Beam 2.74). A flag that the
// job's runner does not honour is refused. If it were ignored, the job would not do what was asked:
// with --dry_run it would pay and release.
var sdkFlags = map[string]family{
	"runner": local | portable | dataflow, "job_name": local | portable | dataflow,
	"experiments":      local | portable | dataflow,
	"environment_type": local | portable | dataflow, "environment_config": local | portable | dataflow,
	"worker_binary": local | portable | dataflow,
	"beam_strict":   local | portable, "endpoint": portable, "parallelism": portable,
	"retain_docker_containers": portable,
	"resource_hints":           portable | dataflow, "element_processing_timeout": portable | dataflow,

	"autoscaling_algorithm": dataflow, "cpu_profiling": dataflow, "dataflow_endpoint": dataflow,
	"dataflow_kms_key": dataflow, "dataflow_service_options": dataflow,
	"disk_provisioned_iops": dataflow, "disk_provisioned_throughput_mibps": dataflow,
	"disk_size_gb": dataflow, "disk_type": dataflow, "flexrs_goal": dataflow,
	"labels": dataflow, "machine_type": dataflow, "max_num_workers": dataflow,
	"min_cpu_platform": dataflow, "network": dataflow, "no_use_public_ips": dataflow,
	"num_workers": dataflow, "number_of_worker_harness_threads": dataflow, "project": dataflow,
	"region": dataflow, "sdk_container_image": dataflow,
	"sdk_harness_container_image_override": dataflow, "service_account_email": dataflow,
	"staging_location": dataflow, "subnetwork": dataflow,
	"teardown_policy": dataflow, "temp_location": dataflow, "use_public_ips": dataflow,
	"worker_harness_container_image": dataflow, "worker_machine_type": dataflow,
	"worker_region": dataflow, "worker_zone": dataflow, "zone": dataflow,

	// The job would not run, not be waited for, or take the place of another.
	"async": 0, "dry_run": 0, "execute_async": 0, "template_location": 0, "transform_name_mapping": 0,
	"update": 0,
	// Of a worker, which does not come here.
	"control_endpoint": 0, "id": 0, "logging_endpoint": 0, "options": 0, "semi_persist_dir": 0,
	"worker": 0,
}

// SDKFlags lists the SDK's flags that a runner honours, by what to call the runners: first those
// that all do.
func SDKFlags() (titles []string, names [][]string) {
	const all = local | portable | dataflow
	for _, f := range []family{all, local, portable, dataflow} {
		var of []string
		for _, name := range slices.Sorted(maps.Keys(sdkFlags)) {
			if honoured := sdkFlags[name]; honoured == f || f != all && honoured != all && honoured&f != 0 {
				of = append(of, name)
			}
		}
		titles, names = append(titles, f.String()), append(names, of)
	}
	return titles, names
}

// checkSDKFlags refuses flags of the SDK that were set and that the runner would ignore.
func checkSDKFlags(f family) (err error) {
	flag.Visit(func(set *flag.Flag) {
		honoured, known := sdkFlags[set.Name]
		switch {
		case !known || honoured&f != 0: // a flag of somebody else
		case set.Name == "dry_run":
			err = cmp.Or(err, usagef("--dry_run = %v would print a job of Dataflow, and nothing here "+
				"honours it: --dry-run prices a release", set.Value))
		case honoured == 0:
			err = cmp.Or(err, usagef("--%s = %v, but a release waits for its pipelines, and is one job: "+
				"leave it out", set.Name, set.Value))
		default:
			err = cmp.Or(err, usagef("--%s = %v, but %v ignores it: leave it out", set.Name, set.Value, f))
		}
	})
	return err
}

// checkEnvironment checks where the workers are, before the SDK takes what it does not know for
// Docker. inside says that they are in this process.
func checkEnvironment(f family) (inside bool, err error) {
	env := strings.ToLower(*jobopts.EnvironmentType)
	types := map[family][]string{local: {"loopback", "process", "docker"},
		portable: {"loopback", "process", "docker", "external"}, dataflow: {"docker"}}[f]
	if env != "" && !slices.Contains(types, env) {
		return false, usagef("--environment_type = %q, but with %v it is %s", *jobopts.EnvironmentType, f,
			strings.Join(types, ", "))
	}
	inside = env == "loopback" || env == "" && f == local
	switch {
	case inside && *jobopts.WorkerBinary != "":
		return false, usagef("--worker_binary = %q, but the workers are in this process: leave it out",
			*jobopts.WorkerBinary)
	case inside && *jobopts.ElementProcessingTimeout != -1:
		return false, usagef(
			"--element_processing_timeout = %v would end this process, in which the workers are: "+
				"leave it out", *jobopts.ElementProcessingTimeout)
	}
	return inside, nil
}

// unknownRunner returns an error that lists the runners.
func unknownRunner(name string) error {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(runners)) {
		if n != "" {
			names = append(names, n)
		}
	}
	return usagef("--runner = %q, but it must be one of %s", name,
		fmt.Sprint(strings.Join(names, ", ")))
}
