// Package program has the commands about the program itself: cache, completion, man, version and
// web.
package program
