// Package votes reads files of teachers' votes, as many queries as there are, and
// writes files of answers: K teachers answer each query with one of C classes,
// and the mechanisms of this module need the number of votes per class.
//
// [Open] and [NewReader] make one stream of files, patterns, stdin or readers; a
// [Reader] yields a [Batch] of consecutive queries at a time, in memory that does
// not grow with the files. [Process] sends the batches through a function on
// several goroutines and the results, in order, to a writer: [LabelFile], which
// shows nothing before Commit. [ReadCSV] and [Reader.Table] read everything into
// a [Table] of two classes.
//
//	symbol   Go name        meaning
//	N        Batch.Len …    number of queries
//	K        Reader.K       number of teachers, the same for every query
//	C        Batch.Classes  number of classes, 2 unless Options.Classes says otherwise
//	n_c      Batch.Counts   number of teachers that answer class c, Σ n_c = K
//	L        Batch.Ones     n_1, with two classes: teachers that answer 1
//
// # Files
//
// CSV and TSV as in RFC 4180 in UTF-8, with or without a byte order mark, lines
// ended by LF or CRLF but not both; JSON Lines; NumPy's .npy (versions 1 to 3) and
// .npz; Parquet with flat columns. Text and .npy also inside gzip or zstd. Which of
// them a file is says its name, or Options.Format.
//
//	query,t1,t2,t3,label      wide: one column per teacher
//	q17,0,1,1,1
//
//	query,zeros,ones,label    counts: how many teachers gave which answer
//	q17,1,2,1
//
//	{"query":"q17","votes":[0,1,1],"label":1}
//	{"query":"q17","t1":0,"t2":1,"t3":1,"label":1}
//
// The columns query and label and a header are optional; see [Options]. Columns of
// Parquet are like those of CSV with a header. A vote is the name of a class. In
// formats that have types, a number stands for its decimal text (1.0 for 1) if it is
// exactly an integer, a boolean for 0 or 1, and null or NaN for a missing vote.
//
// Which columns are votes must be said: by names with one stem and numbers (t1, t2, t3),
// by Options.VoteColumns, or by Options.K; [Options] has the rule, and [Reader.Columns]
// says what was read as what. Teachers are in the order of their numbers, else in that of
// the list, else in that of the first file. Options.KeepVotes keeps every teacher's vote
// in that order, so the same votes give the same Batch.Votes whatever the format, the
// order of named columns and the division into files. Counts have no votes of single
// teachers.
//
// An array is a matrix without names, so somebody has to say what its dimensions
// mean: N×K is LayoutWide, K×N is LayoutTeachers, N×C is LayoutCounts. Nothing is
// taken from the shape, where K and N could be either. In .npz the ids and true
// labels are arrays of their own, named as columns are.
//
// # Strictness
//
// A vote that is read wrongly can change what is released and to whom a privacy
// claim applies, so nothing is guessed: a missing vote (see [MissingPolicy]), a row
// of another width, a blank line between rows, a repeated query, a column of which
// nothing says what it is, and any text that is no class is a [*ParseError] that names
// the place.
// The classes are given, never collected from the votes: which of them occur is
// private.
//
// # Hostile files
//
// What a file claims of itself is not believed: lengths are bounded before memory
// is taken for them, pickles are refused and never run, and compressed data that
// expand too far are an error. A row, a column's name, a page or a header of more
// than its limit is refused, so memory is bounded by the format and not by the
// file. (The list of a Parquet file's pages does grow with its row groups.) A stream
// that must be sought in is copied to a temporary file of at most [MaxSpoolBytes], and
// only if it begins as its format does.
//
// # How it works
//
// One goroutine cuts a file into tasks at places that need no parsing (line feeds,
// rows of an array, rows of a row group), several do the tasks, and Next puts the
// batches in order, numbers the queries and looks for repeated ids. So the result,
// errors included, depends neither on the number of workers nor on where the cuts
// fall. CSV and JSON Lines have a fast parser that takes only what it understands at
// once; every other chunk or line, and thereby every fault, is read by encoding/csv
// or encoding/json. From the first quote on a line feed need not end a row, so there
// the rest of a CSV file is read by encoding/csv on one goroutine.
package votes
