package release

import "github.com/darrm/darrm/internal/check"

// The parameters that errors name; a front end has a name of its own for each.
const (
	pAcceptWeak     check.Parameter = "accept weak"
	pAffected       check.Parameter = "affected"
	pCheckpoint     check.Parameter = "checkpoint"
	pData           check.Parameter = "data"
	pDelta          check.Parameter = "delta"
	pDraw           check.Parameter = "draw"
	pEncode         check.Parameter = "encode"
	pEnsemble       check.Parameter = "ensemble"
	pEnsembleDigest check.Parameter = "ensemble digest"
	pEpsilon        check.Parameter = "epsilon"
	pForce          check.Parameter = "force"
	pHeadFile       check.Parameter = "head file"
	pKey            check.Parameter = "key"
	pLedger         check.Parameter = "ledger"
	pM              check.Parameter = "privacy allowance m"
	pMissing        check.Parameter = "missing"
	pNewKey         check.Parameter = "new key"
	pOutCompression check.Parameter = "compression of the labels"
	pOutFormat      check.Parameter = "format of the labels"
	pOutput         check.Parameter = "output file"
	pRecords        check.Parameter = "records"
	pRequestID      check.Parameter = "request id"
	pSeed           check.Parameter = "seed"
	pTeacherDelta   check.Parameter = "teacher delta"
	pTeachers       check.Parameter = "teachers"
	pLabelEpsilon   check.Parameter = "label epsilon"
	pVotesCastAnew  check.Parameter = "votes cast anew"
)
