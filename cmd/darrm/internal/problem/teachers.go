package problem

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/ensemble"
)

// TeacherNames are the values of --teachers.
var TeacherNames = []string{string(ensemble.FreshTeachers), string(ensemble.FrozenTeachers)}

// RandomnessOf parses a value of --teachers; it returns NothingPromised for others.
func RandomnessOf(name string) ensemble.TeacherRandomness {
	switch name {
	case string(ensemble.FreshTeachers):
		return ensemble.FreshTeachers
	case string(ensemble.FrozenTeachers):
		return ensemble.FrozenTeachers
	}
	return ensemble.NothingPromised
}

// RegisterSlack registers --slack, whose default the answers decide (ensemble.SlackFor).
func RegisterSlack(c *cobra.Command, slack *float64) {
	c.Flags().Float64Var(slack, "slack", 0,
		"δ' that the composition of fresh answers may spend besides their own δ (default 1e-6, but no "+
			"more than the δ of one answer)")
}

// RegisterRecords registers --records.
func RegisterRecords(c *cobra.Command, records *int) {
	c.Flags().IntVar(records, "records", 0,
		"how many records the teachers were trained on, if it is public: what is spent in all must have "+
			"a δ below 1/records")
}
