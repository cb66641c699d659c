package training

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// NewEvaluate makes the command that measures a model.
func NewEvaluate(a *cli.App) *cobra.Command {
	var f appliedModel
	var heldOut bool
	c := &cobra.Command{
		Use:   "evaluate MODEL DATA",
		Short: "Measure how well a trained model predicts (not private)",
		Long: `Compare the predictions of a model that darrm train wrote with the responses of DATA:
the mean loss; for classes accuracy; for classes and rankings the area under the ROC curve
(AUC), with its 95 % interval for other records of the same kind; for distances how often a
record's nearest neighbour has its class, which takes n² distances; else the root mean
squared error and R².

The figures are exact and computed from the records of DATA: NOT PRIVATE. They may be
published where DATA is public. Tuning on the private data is not covered: choosing a
model by figures of private records is not paid for.`,
		Example: `  darrm evaluate model.json test.csv
  darrm evaluate model.json t10k-images-idx3-ubyte --labels t10k-labels-idx1-ubyte --positive 6,9`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			m, records, err := f.load(c, a, args[0], args[1], true)
			if err != nil {
				return err
			}
			if heldOut {
				if records, err = heldOutOf(m, records, args[0]); err != nil {
					return err
				}
			}
			e, err := m.Evaluate(records)
			var sample *data.SampleError
			if errors.As(err, &sample) { // names the file
				return err
			}
			if err != nil {
				return &release.InputError{Err: fmt.Errorf("%s: %w", args[1], err)}
			}
			return a.Show(struct {
				Private    bool `json:"private"` // never
				Simulation bool `json:"simulation,omitempty"`
				model.Evaluation
			}{Simulation: m.Simulated, Evaluation: e}, func(w *terminal.Page) error { return renderEvaluation(w, m, e) })
		},
	}
	f.register(c)
	c.Flags().BoolVar(&heldOut, "held-out", false,
		"only the records of DATA that train --hold-out left out: DATA is the table it was given")
	return c
}

// heldOutOf returns the records that a model did not learn from.
func heldOutOf(m *model.Model, r *data.Records, path string) (*data.Records, error) {
	if m.HoldOut == nil {
		return nil, cli.Usagef("--held-out: %s learned from all records (darrm train --hold-out)", path)
	}
	_, held, err := m.HoldOut.Split(r)
	if err == nil && held == nil {
		return nil, &release.InputError{Err: fmt.Errorf("%s: no record is held out", path)}
	}
	return held, err
}

func renderEvaluation(w *terminal.Page, m *model.Model, e model.Evaluation) error {
	if m.Simulated {
		w.Text("  ", "SIMULATION: the model is drawn from a seed, and is not private")
	}
	w.Text("  ", "NOT PRIVATE, unless these records are public: computed from them without noise")
	w.Text("  ", train.Tuning)
	rows := [][]string{{"records", strconv.Itoa(e.Records)}}
	if e.Loss != nil {
		rows = append(rows, []string{"mean loss", figureOrNone(e.Loss)})
	}
	switch {
	case e.Nearest != nil:
		rows = append(rows, []string{"nearest neighbour of the same class", num.Percent(*e.Nearest)},
			[]string{"the same by Euclid's distance", num.Percent(*e.NearestEuclid)})
	case e.Accuracy != nil:
		rows = append(rows, []string{"accuracy", num.Percent(*e.Accuracy)},
			[]string{"always the commonest class", num.Percent(*e.BaseRate)})
		if m.Parts == nil {
			rows = append(rows, []string{"AUC", showAUC(e.AUC, e.AUCInterval)})
		}
	case m.Link.Ranks():
		rows = append(rows, []string{"AUC", showAUC(e.AUC, e.AUCInterval)})
	default:
		rows = append(rows, []string{"root mean squared error", figureOrNone(e.RMSE)},
			[]string{"R²", figureOrNone(e.R2)})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"figure", "value"}, Rows: rows}); err != nil {
		return err
	}
	if e.Constant {
		w.Text("  ", "the accuracy is no better than a constant's: that of always the commonest class is "+
			"within its 95 % interval, or above it")
	}
	return nil
}

// showAUC writes an AUC with its interval.
func showAUC(auc *float64, interval *model.Interval) string {
	if auc == nil {
		return "- (one class is missing)"
	}
	return fmt.Sprintf("%.4f (95 %%: %.4f–%.4f)", *auc, interval[0], interval[1])
}

func figureOrNone(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *x)
}
