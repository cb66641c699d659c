package main

import (
	// The stores of ledgers besides files: a --ledger that begins with postgres:// is one in a
	// database.
	_ "github.com/darrm/darrm/ledger/postgres"

	// The formats and compressions of votes that need a library of their own.
	_ "github.com/darrm/darrm/votes/compress"
	_ "github.com/darrm/darrm/votes/parquet"
)
