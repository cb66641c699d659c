// Package experiment repeats the figures and tables of the literature, and any variation of
// them. It knows no field of research: packages majority, shuffled and pipeline, below it,
// each bring one, as a [Field], and a program makes a [Catalog] of those that it wants.
//
// An experiment is a file: what is computed, for which parameters, and what the source
// printed. [Catalog.List] names the built-in ones, [Catalog.Load] reads one of them or a file
// of the user's own, [Definition.Run] computes it into a folder of numbers (CSV and JSON),
// pictures (SVG and PNG) and a record of what made them, and [Catalog.WriteReport] turns
// such folders into one HTML page.
//
// # How to add a kind
//
// Write a struct of the parameters, with JSON tags, and its three methods: Validate, Steps
// and Run. Run works each part out in a [Step], puts what it found into tidy rows, [Found], and
// tells of them: [Run.Grid] makes a table of them, [Run.Curves] the lines of a figure, [Run.State]
// judges the claims of the definition, which are of type [Statement]. What is no tidy row is told by
// Table, Claim, Note and Figure. The sentences of claims and the columns of tables stand in the
// field's file field.json, with its looks and the names of its definitions, which are in the folder
// definitions: [ReadField]. The example of New is a whole kind.
//
// # What a run promises
//
// The numbers are a function of the definition, the seed, the data and the program. They
// are worked out in steps; a step that the same program did for the same parameters is read
// back and not done again (package cache). Files appear whole or not at all, and the record,
// which names the hash of each, is written last: a folder without it is unfinished. A
// folder belongs to one run at a time.
//
// An experiment states claims about its own numbers, such as "γ_opt has the smallest
// error". They are tested in every run, and one that fails is shown as failed.
//
// # Nothing here is private
//
// Labels are drawn from a seed, teachers are trained with noise from a seed, and scores are
// computed from raw votes. An experiment shows what the mechanisms would do; to release
// anything, use package release.
package experiment
