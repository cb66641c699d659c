package release

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// The kinds of failure that a front end reports apart, each with an exit code of its own.
// All are pointers: var e *release.InputError; errors.As(err, &e) finds one. Errors of the ledger
// and of parameters keep their own types.
type (
	// UsageError is the error for a request that breaks a rule: another flag settles it.
	UsageError struct{ Err error }
	// InputError is the error for an input file with a fault.
	InputError struct{ Err error }
	// OutputError is the error for a file that could not be written.
	OutputError struct{ Err error }
	// LedgerError is the error for a ledger that could not be written.
	LedgerError struct{ Err error }
)

func (e *UsageError) Error() string  { return fmt.Sprint(e.Err) }
func (e *InputError) Error() string  { return fmt.Sprint(e.Err) }
func (e *OutputError) Error() string { return fmt.Sprint(e.Err) }
func (e *LedgerError) Error() string { return fmt.Sprint(e.Err) }

func (e *UsageError) Unwrap() error  { return e.Err }
func (e *InputError) Unwrap() error  { return e.Err }
func (e *OutputError) Unwrap() error { return e.Err }
func (e *LedgerError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &UsageError{check.Namedf(format, args...)}
}

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
	pK              check.Parameter = "number of teachers K"
	pQueryIDs       check.Parameter = "query ids"
	pKey            check.Parameter = "key"
	pLedger         check.Parameter = "ledger"
	pM              check.Parameter = "privacy allowance m"
	pMechanism      check.Parameter = "mechanism"
	pMissing        check.Parameter = "missing"
	pNewCharge      check.Parameter = "new charge"
	pNewKey         check.Parameter = "new key"
	pOutCompression check.Parameter = "compression of the labels"
	pOutFormat      check.Parameter = "format of the labels"
	pOutput         check.Parameter = "output file"
	pQueries        check.Parameter = "queries"
	pRecords        check.Parameter = "records"
	pRequestID      check.Parameter = "request id"
	pSeed           check.Parameter = "seed"
	pTable          check.Parameter = "table"
	pTeacherDelta   check.Parameter = "teacher delta"
	pTeachers       check.Parameter = "teachers"
	pLabelEpsilon   check.Parameter = "label epsilon"
	pVotesCastAnew  check.Parameter = "votes cast anew"
)
