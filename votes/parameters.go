package votes

import "github.com/darrm/darrm/internal/check"

// The parameters that rules of files are about, as errors name them: [Options], and the form of the
// labels.
const (
	pK             check.Parameter = "number of teachers K"
	pClasses       check.Parameter = "classes"
	pSame          check.Parameter = "same"
	pIDColumn      check.Parameter = "id column"
	pLabelColumn   check.Parameter = "label column"
	pVoteColumns   check.Parameter = "vote columns"
	pVoteColumn    check.Parameter = "vote column"
	pTeacherColumn check.Parameter = "teacher column"
	pQueryIDs      check.Parameter = "query ids"
	pLayout        check.Parameter = "layout"
	pVotesColumn   check.Parameter = "votes column"
	pHeader        check.Parameter = "header row"
	pMissing       check.Parameter = "missing"
	pLabels        check.Parameter = "labels"
	pMostYes       check.Parameter = "most yes"
	pSeparator     check.Parameter = "separator"
	pFormat        check.Parameter = "format of the votes"
	pLabelFormat   check.Parameter = "format of the labels"
)
