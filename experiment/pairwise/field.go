// Package pairwise measures the methods of package learn/pairwise by the AUC of their models: the
// source's tables on real sets of two classes, its private tables beside what noise with a proof
// gives, and all private methods over ε and over the number of records.
//
// Source: Yang, Lei, Wang, Yang and Ying, Simple Stochastic and Online Gradient Descent Algorithms
// for Pairwise Learning (2021), Tables G.2 to G.5 and Figures G.1 to G.4; and the numbers of an
// independent implementation of the project's specification of it.
//
// # Notation
//
//	n, ε, δ   place.records, place.epsilon, parameters.Delta
//	F_S       measure risk: mean pair loss over the records that a model was trained on
package pairwise

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed definitions/*.json
var definitions embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{{Name: "pairwise",
			New: func() experiment.Parameters { return &parameters{} }}},
		Looks: looks,
		Files: definitions,
		Names: []string{"auc-diabetes", "auc-german", "auc-letter", "auc-ijcnn1", "auc-usps", "auc-mnist",
			"auc-passes", "auc-private-diabetes", "auc-private-german", "auc-private-size",
			"auc-private-size-german", "auc-utility", "auc-dpegd", "auc-diabetes-real",
			"auc-german-real", "auc-letter-real", "auc-private-diabetes-real",
			"auc-private-german-real", "auc-private-size-real", "auc-private-size-german-real"},
	}
}

// lookPrefix keeps the methods' looks apart from other fields'.
const lookPrefix = "pairwise-"

// looks have the colours of Okabe and Ito, as in the other fields. Those after the methods are for
// lines of one method that differ in their noise or loss.
var looks = map[experiment.Method]experiment.Look{
	lookPrefix + "cyclic":        {Title: "cyclic", Color: 0xD55E00},
	lookPrefix + "one-pass":      {Title: "one pass", Color: 0xE69F00, Glyph: 2},
	lookPrefix + "minimised":     {Title: "minimised", Color: 0x009E73, Glyph: 3},
	lookPrefix + "localized":     {Title: "Algorithm 3", Color: 0x0072B2, Glyph: 1},
	lookPrefix + "full-batch":    {Title: "DPEGD, proved noise", Color: 0x56B4E9, Glyph: 3},
	lookPrefix + "sgd":           {Title: "Algorithm 1", Color: 0xD55E00},
	lookPrefix + "random-pairs":  {Title: "SGD_pair", Color: 0x0072B2, Glyph: 2},
	lookPrefix + "localized-sgd": {Title: "Algorithm 4", Color: 0x009E73, Glyph: 3},
	lookPrefix + "olp":           {Title: "OLP", Color: 0xCC79A7, Glyph: 1},
	lookPrefix + "oam":           {Title: "OAM", Color: 0x56B4E9, Glyph: 4},
	lookPrefix + "spauc":         {Title: "SPAUC", Color: 0x999999, Glyph: 5},
	lookPrefix + published: {Title: "published", Color: 0x333333, Dashes: []float64{4, 3},
		Glyph: 5},
	lookPrefix + "published-2": {Title: "published", Color: 0x999999, Dashes: []float64{4, 3},
		Glyph: 5},
	lookPrefix + "quiet": {Title: "next to no noise", Color: 0x333333, Dashes: []float64{1, 2},
		Glyph: 4},
	lookPrefix + "printed": {Title: "printed noise", Color: 0x0072B2, Dashes: []float64{2, 2},
		Glyph: 4},
	lookPrefix + "dpegd": {Title: "DPEGD", Color: 0xCC79A7, Glyph: 1},
	lookPrefix + "ordered": {Title: "ordered", Color: 0xE69F00, Dashes: []float64{4, 3},
		Glyph: 3},
	lookPrefix + "logistic": {Title: "logistic", Color: 0x009E73, Glyph: 1},
	lookPrefix + "square":   {Title: "square", Color: 0x56B4E9, Glyph: 3},
	lookPrefix + "loglink":  {Title: "loglink", Color: 0xCC79A7, Glyph: 4},
	lookPrefix + "olp-1": {Title: "OLP, one example", Color: 0xCC79A7, Dashes: []float64{2, 2},
		Glyph: 5},
	lookPrefix + "oam-1": {Title: "OAM, one example", Color: 0x56B4E9, Dashes: []float64{2, 2},
		Glyph: 5},
}
