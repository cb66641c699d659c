package cli

import "github.com/spf13/cobra"

// RegisterAcceptWeak registers --accept-weak.
func RegisterAcceptWeak(c *cobra.Command, accept *bool) {
	c.Flags().BoolVar(accept, "accept-weak", false,
		"release although what is spent in all protects nobody: ε above 10, or δ of 1/records or more "+
			"(0.01 where the records are unknown); the ledger keeps that it was stated")
}
