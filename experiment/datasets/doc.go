// Package datasets has the five public data sets of the shuffled gradient experiments, each
// with its task: read from a directory that holds their real files (Load), or generated
// (Standin), which needs no files.
//
// A Set says which of the two it is. Stand-ins keep what the comparisons of methods depend
// on, such as means and label rates; their figures are not those of the real data.
//
// # Notation
//
//	D, P        Set.Private, Set.Public
//	n, d        records, dimension
//	L*, L̃*     Summary.PrivateSmoothness, Summary.PublicSmoothness
//	m_D, m_P    means of the features
package datasets
