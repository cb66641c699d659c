// Package cli is the base of every command: the program's state and its output, errors and
// their exit codes, flags that take choices and lists, help, progress and the version. It knows no
// command: the program is assembled from groups of them (Run).
package cli
