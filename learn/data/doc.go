// Package data holds the records that private learning trains on, and reads them from CSV,
// LIBSVM and IDX files; and data frames from files of R.
//
// Sizes that a file claims are not allocated before the bytes are there, lines and values
// are bounded, numbers must be finite. Errors name the line, and the rule. No record is left
// out for what it holds: how many records there are is public.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	n, d     Records.Len, Records.Dim     records, dimension
//	a, y     Records.Row, Response        features and response of one record
//	R        Records.Shortened            public bound on ‖a‖
package data
