// Package sketch repeats the figures on correlation-aware distributed mean estimation: what
// estimators' errors are and what is predicted for them, three tasks that are worked on by
// such means, and what the same bits buy elsewhere.
//
// Source: S. Jiang, Communication Efficient and Differentially Private Optimization (2025),
// Chapter 2 and Appendix A; S. Jiang, P. Sharma, G. Joshi, Correlation Aware Sparsified Mean
// Estimation Using Random Projection (NeurIPS 2023).
//
// Nothing of it is private. The data of the tasks are the real files where the data folder has
// them, and documented stand-ins otherwise; titles, pictures and notes name the one that was used.
//
// # Notation
//
//	n, k, d   Clients, Sent, Dimension   clients, numbers that each sends, length of a vector
//	R, ρ*     rho                        correlation of the vectors; ρ* = R/(n-1)
//	Q         (of vectors)               Σ ‖x_i‖²
//	β         Beta                       what makes an estimator unbiased
//	Max, Avg, Opt                        ρ = 1, n/(2(n-1)), ρ*
package sketch

import (
	"embed"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/sketch"
)

//go:embed definitions/*.json
var definitions embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{
			{Name: "mean-simulation", New: func() experiment.Parameters { return &simulationParameters{} }},
			{Name: "mean-rank", New: func() experiment.Parameters { return &rankParameters{} }},
			{Name: "mean-tasks", New: func() experiment.Parameters { return &tasksParameters{} }},
			{Name: "mean-bits", New: func() experiment.Parameters { return &bitsParameters{} }},
		},
		Looks: looks,
		Files: definitions,
		Names: []string{
			"figure-2.2", "figure-2.3", "figure-2.4", "figure-a.1", "figure-a.2", "figure-a.3", "figure-a.4",
			"figure-a.5",
			"figure-a.6", "figure-a.7", "figure-a.8", "mean-bits", "figure-2.4-real",
		},
	}
}

// looks have the colours of Okabe and Ito, as in the other fields.
var looks = map[experiment.Method]experiment.Look{
	methodRandK: {Title: title(methodRandK), Color: 0x333333, Dashes: []float64{8, 3, 2, 3},
		Glyph: 4},
	methodSpatialAvg: {Title: title(methodSpatialAvg), Color: 0x0072B2, Dashes: []float64{5, 3},
		Glyph: 2},
	methodSpatialOpt: {Title: title(methodSpatialOpt), Color: 0x0072B2, Dashes: []float64{5, 3},
		Glyph: 2},
	methodSpatialMax: {Title: title(methodSpatialMax), Color: 0x0072B2, Dashes: []float64{5, 3},
		Glyph: 2},
	methodProjAvg: {Title: title(methodProjAvg), Color: 0xD55E00},
	methodProjOpt: {Title: title(methodProjOpt), Color: 0xD55E00, Dashes: []float64{2, 2},
		Glyph: 3},
	methodProjMax: {Title: title(methodProjMax), Color: 0xD55E00},
	methodWangni: {Title: title(methodWangni), Color: 0x009E73, Dashes: []float64{4, 3},
		Glyph: 3},
	methodInduced: {Title: title(methodInduced), Color: 0xCC79A7, Dashes: []float64{6, 2},
		Glyph: 1},
	methodRotated: {Title: title(methodRotated), Color: 0x009E73, Dashes: []float64{4, 3},
		Glyph: 3},
	methodRankOne:      {Title: "rank 1", Color: 0xCC79A7, Dashes: []float64{6, 2}, Glyph: 1},
	methodUncompressed: {Title: "uncompressed", Color: 0x999999, Dashes: []float64{1, 2}, Glyph: 5},
}

func title(m experiment.Method) string { return sketch.Estimator(m).Title() }
