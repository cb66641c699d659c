// Package prepare makes records of the rows of a table, by rules that are public: which columns are
// features, the range of a number, the words of a category, what stands in for a blank. A rule that
// is taken from the data, such as the mean of a column or the list of words that occur in it, tells
// of the records, and no noise covers it; so a Map is made of names and stated numbers alone.
//
// A Map reads each row by itself. If one row changes, one record changes; if one row goes, one
// record goes. Whatever a training promises of a record, it so promises of a row.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	x          a number of the table
//	[low,high] Column.Scale      public range of x, to which x is clipped
//	a          a feature: 2(x-low)/(high-low) - 1, or 1 where x is one of Column.Categories, else 0
//	q          norm of Map.Radius
package prepare
