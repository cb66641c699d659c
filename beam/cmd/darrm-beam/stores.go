package main

// The stores of ledgers besides files: a --ledger that begins with postgres:// is one in a
// database.
import _ "github.com/darrm/darrm/ledger/postgres"
