// Package data reads the data sets of the shuffled gradient experiments: general CSV and
// LIBSVM files, the five public data sets from a directory that holds their real files
// (Load), and generated stand-ins for them (Standin) that need no files.
//
// A Set says which of the two it is. Stand-ins keep what the comparisons of methods depend
// on, such as means and label rates; their figures are not those of the real data.
//
// Readers trust nothing: sizes that a file claims are not allocated before the bytes are
// there, lines and values are bounded, numbers must be finite. Errors name the line or
// the offset, and the rule.
//
// # Notation
//
//	D, P        Set.Private, Set.Public
//	n, d        records, dimension
//	L*, L̃*     Summary.PrivateSmoothness, Summary.PublicSmoothness
//	m_D, m_P    means of the features
package data
