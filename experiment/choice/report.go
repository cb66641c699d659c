package choice

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// claims are aims, on the regret of the rule over all cells.
type claims struct {
	Mean   float64 `json:"mean"`   // at most
	Share  float64 `json:"share"`  // of the cells, at least, is
	Within float64 `json:"within"` // behind by this at most
}

func (c claims) validate() error {
	return cmp.Or(check.UpTo("mean", c.Mean, 1), check.UpTo("share", c.Share, 1), check.UpTo("within", c.Within, 1))
}

// judged is the figures of one cell.
type judged struct {
	subject subject
	cell    cell
	dim     int
	takes   string
	best    string             // the method that the choosing seeds chose
	means   map[string]float64 // over the judging seeds, of all methods that are for the task
	regret  map[string]float64
	errors  map[string]float64 // standard errors of regret
}

// judge splits the seeds of every cell.
func (p *parameters) judge(list []subject, found []outcome) (out []judged) {
	for i, o := range found {
		for k, c := range o.Cells {
			j := judged{subject: list[i], cell: c, dim: o.Dim, takes: o.Takes[k], means: map[string]float64{},
				regret: map[string]float64{}, errors: map[string]float64{}}
			most := math.Inf(-1)
			for _, m := range methods {
				if v := o.Scores[m][k]; v != nil {
					if mean := stat.Mean(v[:p.Choosing], nil); mean > most {
						most, j.best = mean, m
					}
				}
			}
			best := o.Scores[j.best][k][p.Choosing:]
			for _, m := range lines() {
				if o.Scores[m] == nil || o.Scores[m][k] == nil { // it is not for the task
					continue
				}
				own := o.Scores[m][k][p.Choosing:]
				var behind []float64
				for s := range own {
					behind = append(behind, best[s]-own[s])
				}
				mean, sd := experiment.MeanDeviation(behind)
				j.means[m], j.regret[m], j.errors[m] = stat.Mean(own, nil), mean, sd/math.Sqrt(float64(len(own)))
			}
			out = append(out, j)
		}
	}
	return out
}

// summary is the regret of a method over cells.
type summary struct {
	cells               int
	mean, within, worst float64
}

func (p *parameters) summarise(all []judged, method string, of func(judged) bool) (s summary) {
	for _, j := range all {
		v, ok := j.regret[method]
		if !ok || !of(j) {
			continue
		}
		s.cells++
		s.mean += v
		if v <= p.Claims.Within {
			s.within++
		}
		s.worst = max(s.worst, v)
	}
	if s.cells > 0 {
		s.mean, s.within = s.mean/float64(s.cells), s.within/float64(s.cells)
	}
	return s
}

func (p *parameters) report(r *experiment.Run, list []subject, found []outcome) error {
	all := p.judge(list, found)
	p.tableOfCells(r, all)
	p.tableOfMethods(r, all)
	p.tell(r, all)
	return r.Figure("regret", "What each method is behind the best of a cell, in the mean over tables, against n·ε/d.", 3,
		p.panels(all))
}

// tell claims the aims.
func (p *parameters) tell(r *experiment.Run, all []judged) {
	every := p.summarise(all, rule, func(judged) bool { return true })
	r.Sentence("mean", every.mean <= p.Claims.Mean, map[string]any{"bound": p.Claims.Mean, "value": every.mean, "cells": every.cells})
	r.Sentence("share", every.within >= p.Claims.Share, map[string]any{"bound": p.Claims.Share, "within": p.Claims.Within,
		"value": every.within, "worst": every.worst})
}

// kinds are the tasks, by their names for people.
var kinds = []struct {
	name string
	of   func(judged) bool
}{
	{"two classes, AUC", func(j judged) bool { return j.subject.classes == 2 }},
	{"several classes, accuracy", func(j judged) bool { return j.subject.classes > 2 }},
	{"numbers, R²", func(j judged) bool { return j.subject.classes == 0 }},
}

func (p *parameters) panels(all []judged) (out []experiment.Panel) {
	for _, kind := range kinds {
		chart := experiment.Panel{Title: kind.name, X: "n·ε/d", Y: "behind the best", LogX: true, XTicks: p.Ratios}
		for _, m := range lines() {
			if m == "dp-sgd" || m == short || m == long { // which are hidden by the rule's line, or near it
				continue
			}
			line := experiment.Series{Method: experiment.Method(lookPrefix + m)}
			for _, ratio := range p.Ratios {
				s := p.summarise(all, m, func(j judged) bool { return kind.of(j) && j.cell.Ratio == ratio })
				if s.cells > 0 {
					line.Add(ratio, s.mean)
				}
			}
			if len(line.X) > 0 {
				chart.Series = append(chart.Series, line)
			}
		}
		if len(chart.Series) > 0 {
			out = append(out, chart)
		}
	}
	return out
}

func (p *parameters) tableOfCells(r *experiment.Run, all []judged) {
	t := r.TableOf("cells", map[string]any{"judging": p.Seeds - p.Choosing, "choosing": p.Choosing})
	for _, j := range all {
		row := []any{j.subject.name, j.subject.classes, j.dim, j.cell.Ratio, j.cell.Records, j.cell.Epsilon, j.takes, j.best, j.means[rule]}
		for _, m := range lines()[1:] {
			if v, ok := j.means[m]; ok {
				row = append(row, v)
			} else {
				row = append(row, "")
			}
		}
		t.Add(append(row, j.regret[rule], j.errors[rule])...)
	}
	r.Table(t)
}

func (p *parameters) tableOfMethods(r *experiment.Run, all []judged) {
	t := r.TableOf("methods", map[string]any{"within": p.Claims.Within})
	for _, kind := range kinds {
		for _, m := range lines() {
			if s := p.summarise(all, m, kind.of); s.cells > 0 {
				t.Add(kind.name, m, s.cells, s.mean, s.within, s.worst)
			}
		}
	}
	r.Table(t)
}
