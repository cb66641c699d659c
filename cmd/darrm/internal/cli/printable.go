package cli

import "github.com/darrm/darrm/internal/terminal"

func printable(s string) string { return terminal.Printable(s) }
