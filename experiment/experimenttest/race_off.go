//go:build !race

package experimenttest

const raced = false
