// Package datasets has the public data sets of the experiments: read from a directory that holds
// their real files (Load, OpenPoints), or generated (Standin, OpenPoints), which needs no files. A
// Set is private and public records with their task, for shuffled gradient methods. Points are
// vectors with a response, for distributed mean estimation and for methods without public records.
//
// A Set, and Points, name the one of the two that they are. Stand-ins keep the properties that
// comparisons of methods depend on, such as means and label rates. Their figures are not those of
// the real data.
//
// # Notation
//
//	D, P        Set.Private, Set.Public
//	n, d        records, dimension
//	L*, L̃*     Summary.PrivateSmoothness, Summary.PublicSmoothness
//	m_D, m_P    means of the features
package datasets
