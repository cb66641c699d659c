// Package research has the commands that repeat the literature's figures and compare methods:
// experiment, report, mean and bounds.
package research
