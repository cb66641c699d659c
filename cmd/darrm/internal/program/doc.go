// Package program has the commands about the program itself: cache, completion, man and version.
package program
