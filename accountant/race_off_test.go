//go:build !race

package accountant

const raced = false
