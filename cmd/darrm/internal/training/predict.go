package training

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/release"
)

// appliedModel holds the flags and files of predict and evaluate.
type appliedModel struct {
	recordFlags
	labels string
}

// NewPredict makes the command that applies a model.
func NewPredict(a *cli.App) *cobra.Command {
	var f appliedModel
	var out string
	c := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Predict with a trained model",
		Long: `Predict the response of each record of DATA with a model of darrm train.

The features are the model's columns, wherever they stand in DATA; other columns are not
read. Where the model has no names, they are all columns of DATA but --response.

The result is CSV, one line for each record in the order of DATA. It depends on the model:

  two classes      the prediction, the score (the prediction is 1 where it is above 0)
                   and, for logistic models, the probability of class 1
  several classes  (train --classes) the word, and a probability of each class, or for
                   hinge a score
  a ranking        (train pairwise) the score, of which only the order counts
  a distance       (train metric) coordinates in which the Euclidean distance is the
                   learned one, the most important axis first

Rows are prepared and records shortened as in training. The columns of a simulated model
(--insecure-seed) are named simulated_…. Predictions for records that the model was not
trained on are as private as the model, and cost nothing more.`,
		Example: `  darrm predict model.json new.csv -o predictions.csv
  darrm predict model.json t10k-images-idx3-ubyte`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.CheckFiles(out, release.File{Name: "MODEL", Path: args[0]},
				release.File{Name: "DATA", Path: args[1]}); err != nil {
				return err
			}
			m, records, err := f.load(c, a, args[0], args[1], false)
			if err != nil {
				return err
			}
			var p interface{ writeCSV(w io.Writer) error }
			cause := args[1]
			if m.Link == model.LinkMetric {
				p, err = newCoordinates(m, records)
				cause = args[0]
			} else {
				p, err = predict(m, records)
			}
			if err != nil {
				return &release.InputError{Err: fmt.Errorf("%s: %w", cause, err)}
			}
			if a.JSON {
				return a.DeliverJSON(out, p)
			}
			return a.Deliver(out, p.writeCSV)
		},
	}
	f.register(c)
	c.Flags().StringVarP(&out, "out", "o", "", "write the predictions to this file instead of stdout")
	cli.TakesFile(c, "out")
	return c
}

func (f *appliedModel) register(c *cobra.Command) {
	f.recordFlags.register(c)
	c.Flags().Lookup("response").Usage += " (default: the model's)"
	c.Flags().StringVar(&f.labels, "labels", "",
		"IDX file of the labels of DATA, which are its responses")
	cli.TakesFile(c, "labels", cli.IdxFiles...)
	c.ValidArgsFunction = cli.CompleteFiles(append(slices.Clone(cli.TableFiles),
		cli.RecordFiles...)...)
}

// load reads the model and the records that fit it.
func (f *appliedModel) load(c *cobra.Command, a *cli.App, modelPath, dataPath string,
	responses bool) (*model.Model, *data.Records, error) {
	if modelPath == "-" && dataPath == "-" {
		return nil, nil, cli.Usagef("MODEL and DATA cannot both be stdin")
	}
	in, err := a.Open(c.Context(), modelPath, model.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	m, err := model.Read(in)
	if err != nil {
		return nil, nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", modelPath, err))
	}
	if m.Simulated {
		a.Say("%s is a SIMULATION, not private", modelPath)
	}
	o := reading{responses: responses, dim: m.Dim()}
	if f.isTable(dataPath) {
		if responses && f.Response == "" && (m.Preparation != nil || !f.NoHeader) {
			f.Response = m.Response
		}
		if m.Preparation != nil {
			o.prepare = m.Preparation.With(responses, f.Response)
		} else if !f.NoHeader {
			o.columns = m.Columns
		}
	}
	records, err := f.read(c, a, dataPath, f.labels, o)
	if err != nil {
		return nil, nil, err
	}
	if err := m.Fits(records); err != nil {
		return nil, nil, &release.InputError{Err: fmt.Errorf("%s, %s: %w", modelPath, dataPath, err)}
	}
	return m, records, nil
}

// predictions holds a model's prediction for each record; scores and probabilities only for
// classes.
type predictions struct {
	Simulation    bool      `json:"simulation,omitempty"` // by a model that is not private
	Predictions   []float64 `json:"predictions"`
	Scores        []float64 `json:"scores,omitempty"`
	Probabilities []float64 `json:"probabilities,omitempty"`
	// of several classes, whose number from 0 a prediction is
	Classes      []string    `json:"classes,omitempty"`
	ClassScores  [][]float64 `json:"class_scores,omitempty"`
	ClassChances [][]float64 `json:"class_probabilities,omitempty"`
}

func predict(m *model.Model, r *data.Records) (predictions, error) {
	p := predictions{Simulation: m.Simulated, Classes: m.Classes}
	for i := range r.Len() {
		scores, err := m.Scores(r.Row(i))
		if err != nil {
			return predictions{}, err
		}
		if m.Parts != nil {
			p.Predictions = append(p.Predictions, float64(model.Highest(scores)))
			p.ClassScores = append(p.ClassScores, scores)
			if chances := m.Link.Probabilities(scores); chances != nil {
				p.ClassChances = append(p.ClassChances, chances)
			}
			continue
		}
		z := scores[0]
		p.Predictions = append(p.Predictions, m.Predict(z))
		if m.Link.Classes() {
			p.Scores = append(p.Scores, z)
		}
		if m.Link == model.LinkLogit {
			p.Probabilities = append(p.Probabilities, model.Probability(z))
		}
	}
	return p, nil
}

func (p predictions) writeCSV(w io.Writer) error {
	header := []string{"prediction"}
	if p.Simulation { // the mark goes where the predictions go
		header[0] = "simulated_prediction"
	}
	of, each := "probability of ", p.ClassChances
	if each == nil {
		of, each = "score of ", p.ClassScores
	}
	for _, word := range p.Classes {
		header = append(header, of+word)
	}
	columns := [][]float64{p.Predictions}
	if p.Scores != nil {
		columns, header = append(columns, p.Scores), append(header, "score")
	}
	if p.Probabilities != nil {
		columns, header = append(columns, p.Probabilities), append(header, "probability")
	}
	return writeRows(w, header, len(p.Predictions), func(i int, row []string) {
		for j, column := range columns {
			row[j] = number(column[i])
		}
		if p.Classes != nil {
			row[0] = p.Classes[int(p.Predictions[i])]
			for k, v := range each[i] {
				row[1+k] = number(v)
			}
		}
	})
}

// writeRows writes a header and n rows as CSV. fill sets all cells of row i; the header's memory holds them.
func writeRows(w io.Writer, header []string, n int, fill func(i int, row []string)) error {
	out := csv.NewWriter(w)
	row := header
	for i := range n + 1 {
		if i > 0 {
			fill(i-1, row)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// coordinates holds the records' coordinates under a learned distance, one row for each record.
type coordinates struct {
	Simulation  bool        `json:"simulation,omitempty"` // by a model that is not private
	Coordinates [][]float64 `json:"coordinates"`
}

func newCoordinates(m *model.Model, r *data.Records) (coordinates, error) {
	z, err := m.Coordinates(r)
	if err != nil {
		return coordinates{}, err
	}
	return coordinates{m.Simulated, slices.Collect(slices.Chunk(z, m.Dim()))}, nil
}

func (p coordinates) writeCSV(w io.Writer) error {
	var header []string
	for j := range p.Coordinates[0] { // records are at least one
		name := "z" + strconv.Itoa(j+1)
		if p.Simulation {
			name = "simulated_" + name
		}
		header = append(header, name)
	}
	return writeRows(w, header, len(p.Coordinates), func(i int, row []string) {
		for j, v := range p.Coordinates[i] {
			row[j] = number(v)
		}
	})
}
