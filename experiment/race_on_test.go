//go:build race

package experiment

const raced = true
