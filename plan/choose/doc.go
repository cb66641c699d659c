// Package choose goes from what is stated of a release to its mechanism: which one answers where
// nobody names it, which statements go together, what takes the place of an optimum that takes
// too much work, and which table may be used. Front ends pass on what their users state, and have
// no such rule of their own. Package plan goes from a budget to such a statement.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Which mechanism
//
//	a table                    the table's, for the teachers that it is certified for
//	named                      that one; the optimum of two classes that never abstains is the optimal
//	                           noise function for teachers that promise nothing: the answers are the
//	                           same, coin by coin
//	not named, two classes     the optimal noise function
//	not named, more classes    the optimum of many classes; permute-and-flip, with δ = 0, where the optimum is
//	                           too large or takes more than plan.DefaultWork
//
// The last rule is for releases that are made once. An optimum that somebody names, a service's,
// and that of a release which is resumed are never replaced. Sizes and work are counted, so that
// nothing depends on a clock; a limit of time that somebody states ends in an error.
//
// # Errors
//
// A statement that breaks a rule is a release.UsageError or has a *constraints.ParameterError; it
// is found before the votes are read, as far as they do not matter. Texts name parameters.
package choose
