package votes

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "ids of any text before their number are of the run", File: "ids.go",
			Old: "case prefix == s.prefix && (", New: "case (", Killer: "TestIDSetAgainstMap"},
		{Name: "leading zeros do not count", File: "ids.go", Old: "s.width == 0 && !padded(digits) ||",
			New: "s.width == 0 ||", Killer: "TestIDSetAgainstMap"},
		{Name: "digits of any number are of a padded run", File: "ids.go",
			Old: "|| s.width == len(digits))", New: "|| s.width > 0)", Killer: "TestIDSetAgainstMap"},
		{Name: "ids from before the run are forgotten", File: "ids.go",
			Old: "if earlier, repeated = s.other.find(id); repeated {", New: "if false {",
			Killer: "TestIDRunComesToAnOldID"},
		{Name: "a growing table loses ids", File: "ids.go", Old: "if s.place != 0 {",
			New: "if s.place != 0 && s.hash%8 != 0 {", Killer: "TestIDSetAgainstMap"},
		{Name: "a vote on a query that is not answered", File: "long.go",
			Old: "case !known && l.fixed:", New: "case false:", Killer: "TestLongRefuses"},
		{Name: "the second vote of a teacher counts", File: "long.go",
			Old: "if row[teacher] != noRow {", New: "if false {", Killer: "TestLongRefuses"},
		{Name: "more teachers than K", File: "long.go",
			Old: "if l.k > 0 && len(l.names) == l.k {", New: "if false {", Killer: "TestLongRefuses"},
		{Name: "rows out of order come late", File: "long.go",
			Old: "case query < l.done:", New: "case false:", Killer: "TestLongRefuses"},
		{Name: "a missing row is no missing vote", File: "long.go",
			Old: "b.addMissing(l.k - votes)", New: "b.addMissing(len(row) - votes)",
			Killer: "TestLongRowsAreQueries"},
		{Name: "the number of votes is K", File: "rows.go",
			Old: "if f.k = f.opts.K; k > f.k {", New: "if f.k = k; k > f.opts.K {",
			Killer: "TestCountsOfVotesThatMayBeNone"},
		{Name: "an abstention is read without a word", File: "rows.go",
			Old: "case f.opts.Missing != MissingError && v.missing():", New: "case v.missing():",
			Killer: "TestMatrixOfWeakSupervision"},
		{Name: "a truth or a covariate is proposed as a vote", File: "teachers.go",
			Old: "case kinds[i].canVote && !isNameless(by.names[i]) && !namesNoTeacher(by.names[i]):",
			New: "case kinds[i].canVote && !isNameless(by.names[i]):", Killer: "TestProposedColumns"},
		{Name: "a teacher who holds another value is left out of what is proposed", File: "teachers.go",
			Old: "len(alike) == by.groups[by.stems[alike[0]]]", New: "true", Killer: "TestProposedColumns"},
		{Name: "a column of values of its own is proposed as a vote", File: "teachers.go",
			Old: "count[v] > 1", New: "count[v] > 0", Killer: "TestProposedColumns"},
		{Name: "K settles that y is a vote beside t1, t2 and t3", File: "teachers.go",
			Old: `(o.LabelColumn != "" || 2*by.largest() < len(free))`, New: "true",
			Killer: "TestIDColumnAndKSettleTheColumns"},
		{Name: "a Parquet file may claim more rows than it has", File: "parquet/file.go",
			Old: "case f.rows != meta.NumRows:", New: "case f.rows > meta.NumRows:",
			Killer: "TestParquetHasTheRowsItClaims"},
		{Name: "unsigned numbers of Parquet have a sign", File: "parquet/file.go",
			Old: "format.Value{Kind: format.Unsigned, Int: int64(v.Uint32())}",
			New: "format.Value{Kind: format.Integer, Int: int64(v.Int32())}", Killer: "TestParquetSigns"},
		{Name: "a JSON number of more digits is read", File: "class.go",
			Old: "len(significant)+exponent > 18", New: "len(significant)-exponent > 18",
			Killer: "TestJSONNumbersHaveFewDigits"},
		{Name: "no layout is offered", File: "options.go", Old: "return slices.Clone(layoutNames)",
			New: "return nil", Killer: "TestNamesAreParsed"},
		{Name: "agreement is not worked out", File: "description.go",
			Old: "d.Agreement = share(d.popular, d.Queries*int64(d.K)-d.Missing)", New: "",
			Killer: "TestDescribe"},
		{Name: "rows are written after an error", File: "write.go", Old: "\tif w.err != nil {\n\t\treturn",
			New: "\tif false {\n\t\treturn", Killer: "TestLabelWriterIsSticky"},
	})
}
