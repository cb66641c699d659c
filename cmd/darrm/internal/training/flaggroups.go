package training

import "github.com/darrm/darrm/cmd/darrm/internal/cli"

// FlagGroups are the groups of the flags about training.
var FlagGroups = []cli.FlagGroup{
	{Title: "Budget", Flags: "eps delta n rows-per-person runs stopping grid score score-bound " +
		"score-changes score-share selection neighbours accept-weak full-budget"},
	{Title: "Records", Flags: "private public response columns all-but scale categories fill prepare " +
		"no-header labels public-labels positive data-format data-set data-dir data-seed dim features " +
		"intercept radius hold-out allow-shared-records silo silos colluding missing"},
	{Title: "Output", Flags: "out force dry-run insecure-seed"},
	{Title: "Ledger", Flags: "ledger request-id checkpoint"},
	{Title: "Method"},
}
