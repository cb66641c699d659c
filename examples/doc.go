// Package examples has library programs, a folder each; its test runs them.
package examples
