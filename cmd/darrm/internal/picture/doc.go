// Package picture draws the charts of commands and writes them to the files that flags name.
package picture
