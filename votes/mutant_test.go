package votes

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a Parquet file may claim more rows than it has", File: "parquet/file.go",
			Old: "case f.rows != meta.NumRows:", New: "case f.rows > meta.NumRows:",
			Killer: "TestParquetHasTheRowsItClaims"},
		{Name: "unsigned numbers of Parquet have a sign", File: "parquet/file.go",
			Old: "format.Value{Kind: format.Unsigned, Int: int64(v.Uint32())}",
			New: "format.Value{Kind: format.Integer, Int: int64(v.Int32())}", Killer: "TestParquetSigns"},
	})
}
