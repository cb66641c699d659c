package problem

import "github.com/darrm/darrm/cmd/darrm/internal/cli"

// FlagGroups are the groups of the flags about votes, mechanisms and budgets.
var FlagGroups = []cli.FlagGroup{
	{Title: "Budget", Flags: "budget-eps budget-delta label-eps m delta queries slack " +
		"agreement records " +
		"accept-weak"},
	{Title: "Teachers", Flags: "eps teacher-delta teachers data affected neighbours ensemble " +
		"ensemble-digest draw votes-cast-anew"},
	{Title: "Votes", Flags: "K classes class classes-from num-classes same missing layout id-column label-column vote-columns " +
		"votes-column vote-column teacher-column query-ids header format compression"},
	{Title: "Output", Flags: "out out-format out-compression force scores plot plot-gap dry-run " +
		"insecure-seed verbose head-file skip-invalid"},
	{Title: "Ledger", Flags: "ledger request-id new-charge checkpoint key new-key"},
	{Title: "Service", Flags: "dev listen config tls-cert tls-key client-ca max-batch max-body " +
		"max-connections max-per-address max-requests request-timeout"},
	{Title: "Expert"},
}
