package release

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
)

// strength judges totals by the one rule of [ensemble.Worthless]. It is the only judge: of labels
// and models, of every front end, with a ledger and without one.
type strength struct {
	records int    // that the promise is about; 0 if unknown
	accept  bool   // a total that protects nobody is accepted
	advice  string // what else makes the total smaller
}

// What makes totals smaller.
const (
	labelAdvice = ensemble.LabelAdvice
	modelAdvice = "state a smaller ε or δ, or charge the models to different people's records"
)

// WeakError refuses a release with which a total would protect nobody. Nothing is charged or
// released.
type WeakError struct {
	Total  accountant.Cost // the release's or, with a ledger, of all that the ledger would have paid
	Reason string
}

func (e *WeakError) Error() string { return e.Reason }

// judge refuses a total that protects nobody, unless that is accepted. The error is a [UsageError]
// of a [WeakError].
func (s strength) judge(of string, total accountant.Cost) error {
	reason, worthless := ensemble.Worthless(total, s.records)
	if !worthless || s.accept {
		return nil
	}
	weak := &WeakError{total, reason}
	return usagef("nothing is charged or released: %s is (%v, %v), and %w; %s, or accept it: %s",
		of, total.Epsilon, total.Delta, weak, s.advice, pAcceptWeak)
}

// spent is judge of what a ledger would have spent in all.
func (s strength) spent(c ledger.Cost) error {
	var total accountant.Cost
	total.Epsilon, total.Delta = c.Ceil()
	return s.judge("what the ledger would have spent in all", total)
}

// judged makes the ledger ask s of every release that the bill pays for.
func (b *Bill) judged(s strength) *Bill {
	if !s.accept {
		b.release.Judge, b.again.Judge = s.spent, s.spent
	}
	return b
}

func (c Charge) strength() strength { return strength{c.Records, c.AcceptWeak, labelAdvice} }

func (m Model) strength() strength { return strength{m.Records, m.AcceptWeak, modelAdvice} }

// unchecked states that δ was not compared with one over the records, where their number is
// unknown; "" where it was, or where δ is 0.
func unchecked(total accountant.Cost, records int) string {
	if records > 0 || total.Delta == 0 {
		return ""
	}
	return "not stated: whether δ is below one over their number was not checked"
}

// CheckModel refuses a model's total as [Model] would.
func CheckModel(total accountant.Cost, records int, acceptWeak bool) error {
	return Model{Records: records, AcceptWeak: acceptWeak}.strength().judge("the model's cost", total)
}

// Weakness returns, for a model's total before it is paid, the reason for which [Model] would
// refuse it, and the check that it would skip; both are empty where there is none.
func Weakness(total accountant.Cost, records int) (remarks []string) {
	if reason, worthless := ensemble.Worthless(total, records); worthless {
		remarks = append(remarks, "warning: "+reason+"; "+modelAdvice)
	}
	if text := unchecked(total, records); text != "" {
		remarks = append(remarks, "records "+text)
	}
	return remarks
}

func isWeak(err error) bool {
	var weak *WeakError
	return errors.As(err, &weak)
}
