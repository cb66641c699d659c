package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

//go:embed published.py
var publishedScript string

// published prints, for each setting, the noise that GNMax needs by the functions that came with
// it, by darrm's price of its counts, and by the price of its labels; and how often the answers
// agree with so much noise.
func published(ctx context.Context, out io.Writer, checkout string, chosen []setting) error {
	python, err := peers.Python("numpy,scipy,absl")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| K, C, Q, ε, δ | σ as published | σ by counts | σ by labels | agreement as "+
		"published | by counts | by labels | their ε of σ by counts | of σ by labels |")
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, s := range chosen {
		law, err := s.law(ctx)
		if err != nil {
			return err
		}
		counts, err := s.today(ctx, law, "gnmax")
		if err != nil {
			return err
		}
		var m measurement
		labels, err := s.table(ctx, &m, solve.Options{Law: answers.NormalLaw})
		if err != nil {
			return err
		}
		byCounts := counts.Mechanism.Figures().Sigma
		var sigma, countsCost, labelsCost float64
		cmd := exec.CommandContext(ctx, python, "-c", publishedScript,
			filepath.Join(checkout, "research", "pate_2018"))
		cmd.Stdin = strings.NewReader(fmt.Sprintf("%d %g %g %g\n%[1]d %[2]g %[3]g %[5]g\n", s.q,
			s.epsilon, s.delta, byCounts, labels.Law.Sigma))
		text, err := cmd.Output()
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(text), &sigma, &countsCost, new(float64),
			&labelsCost); err != nil {
			return err
		}
		// What this promises of one answer plays no part in how often it agrees.
		old, err := ensemble.GNMax(ensemble.Setting{K: s.k, Classes: s.classes, Affected: 1,
			Neighbours: accountant.ReplaceOne},
			accountant.Cost{Epsilon: s.epsilon, Delta: s.delta}, math.Round(100*sigma)/100)
		if err != nil {
			return err
		}
		agrees, err := law.Agreement(ctx, old)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %d, %d, %d, %g, %g | %.2f | %.2f | %.2f | %.4f | %.4f | %.4f | %.3f | "+
			"%.3f |\n", s.k, s.classes, s.q, s.epsilon, s.delta, sigma, byCounts, labels.Law.Sigma,
			agrees.Expected, counts.Agreement.Expected, labels.Value, countsCost, labelsCost)
	}
	return nil
}
