package darrmbeam

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

var mutants = []mutant.Mutant{
	{Name: "a vote that is none is one for the first class", File: "answer.go",
		Old: "	if missing {\n		return 0\n	}", New: "	if false {\n		return 0\n	}",
		Killer: "TestVotesThatMayBeNoneOverThePipeline"},
	{Name: "a job does not wait for its workers", File: "work.go",
		Old: "	case <-time.After(endTime):", New: "	default:",
		Killer: "TestStoppedJobEndsWithItsWorkers"},
	{Name: "a late worker goes on", File: "work.go", Old: "	if w.over {", New: "	if false {",
		Killer: "TestLateWorker"},
	{Name: "a round in the book is interrupted", File: "round.go",
		Old: "	ctx = context.WithoutCancel(ctx) // what is in the book is published\n", New: "",
		Killer: "TestStopBehindTheNote"},
	{Name: "a seal is not compared", File: "box.go",
		Old: "b.seal(name, file[:n])) {", New: "b.seal(name, file[:n])) && false {",
		Killer: "TestTamperedFilesOfAJob"},
	{Name: "the name is not sealed", File: "box.go", Old: "	h.Write([]byte(name))\n", New: "",
		Killer: "TestTamperedFilesOfAJob"},
	{Name: "nothing lasts", File: "box.go", Old: "	case !again:", New: "	case true:",
		Killer: "TestForgedShardIsNotTriedAgain"},
	{Name: "the kind of a failure is lost", File: "engine.go",
		Old: "kindOf(e.Run(inner, pipeline()))", New: "e.Run(inner, pipeline())",
		Killer: "TestVotesThatChangeMeanwhile"},
	{Name: "a pipe is read", File: "files.go", Old: "!info.Mode().IsRegular()", New: "info == nil",
		Killer: "TestPipeAsInput"},
	{Name: "a table of labels is taken", File: "classes.go", Old: "Labels > 0", New: "Labels > 99",
		Killer: "TestTablesForStatedShares"},
	{Name: "labels that tell nothing are paid for", File: "classes.go", Old: "AcceptConstant: job.AcceptConstant",
		New: "AcceptConstant: true", Killer: "TestTablesForStatedShares"},
	{Name: "every form is CSV", File: "job.go",
		Old: "path.Base(filepath.ToSlash(job.Out))", New: `path.Base("labels.csv")`,
		Killer: "TestLabelsHaveTheFormOfTheirName"},
}

func TestMutantsDie(t *testing.T) { mutant.AllDie(t, mutants) }
