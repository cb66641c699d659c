//go:build !race

package game

const raced = false
