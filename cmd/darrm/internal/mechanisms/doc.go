// Package mechanisms has the commands that find, price and check mechanisms: solve, verify, account
// and sweep.
package mechanisms
