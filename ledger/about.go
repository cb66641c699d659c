package ledger

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/darrm/darrm/internal/check"
)

// About tells people what a ledger is for. It stands in the first record, whose hash all others
// rest on: nobody changes it later. All of it may be left out.
type About struct {
	// what is released, and what for: at most MaxID bytes, as an id
	Purpose   string `json:"purpose,omitempty"`
	Custodian string `json:"custodian,omitempty"` // who answers for the data; likewise
	DataSet   string `json:"data_set,omitempty"`  // which people's data; likewise
	From      string `json:"from,omitempty"`      // first day of the data, as 2006-01-02
	Until     string `json:"until,omitempty"`     // last day of the data, not before From
}

// check checks the parts that are stated.
func (a About) check() error {
	texts := []struct{ name, text string }{{"purpose", a.Purpose}, {"custodian", a.Custodian},
		{"data set", a.DataSet}}
	for _, t := range texts {
		if t.text != "" {
			if err := checkID(t.name, t.text); err != nil {
				return err
			}
		}
	}
	return cmp.Or(checkDay("from", a.From), checkDay("until", a.Until), a.checkOrder())
}

func checkDay(name, day string) error {
	if day == "" {
		return nil
	}
	if t, err := time.Parse(time.DateOnly, day); err != nil || t.Format(time.DateOnly) != day {
		return check.Want(name, fmt.Sprintf("%q", day), "a day such as 2026-03-31")
	}
	return nil
}

// checkOrder compares days, whose text sorts as they do.
func (a About) checkOrder() error {
	if a.From != "" && a.Until != "" && a.Until < a.From {
		return check.Want("until", fmt.Sprintf("%q", a.Until), "at or after from, "+a.From)
	}
	return nil
}

// About returns what the ledger was said to be for when it was made.
func (l *Ledger) About() About { return l.about().about }

// CreateAbout is [Create] with what people should know of the ledger, for ever.
func CreateAbout(ctx context.Context, location string, budget Budget, relation Relation,
	about About) (*Ledger, error) {
	if err := cmp.Or(checkNew(budget, relation), about.check()); err != nil {
		return nil, err
	}
	store, err := openStore(location)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	err = store.Create(ctx, func() ([]byte, error) {
		return newGenesis(store, budget, relation, about)
	})
	if err != nil {
		return nil, fmt.Errorf("create ledger %s: %w", store.Location(), err)
	}
	l, err := open(ctx, location, store)
	if err == nil {
		err = l.settle(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
