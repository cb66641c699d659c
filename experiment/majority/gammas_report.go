package majority

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/experiment"
)

// judge tests the claims of the source, or of theory, about the functions of one promise.
func (p *gammaParameters) judge(r *experiment.Run, pr promise, m float64, o optimum) {
	opt := o.of(methodOpt)
	pure := p.TeacherDelta == 0 && pr.problem.Delta == 0
	exact := len(p.Allowances) > 0 && pr.problem.Affected == p.Teachers
	if exact && m == 1 && slices.Contains(p.Methods, methodSub) {
		far := 0.0
		for l, v := range o.of(methodSub).Gamma {
			far = max(far, math.Abs(v-opt.Gamma[l]))
		}
		// γ at m = 1 is 1-2l/K up to what δ buys, which is of the order of Δ.
		r.Sentence("same", far <= 1e-9+4*p.TeacherDelta, map[string]any{"at": pr.label, "value": far})
	}
	if exact && pure && 2*m >= float64(p.Teachers+1) {
		r.Sentence("none", opt.Error <= experiment.Negligible, map[string]any{"at": pr.label, "value": opt.Error})
	}
	if m > 1 {
		for _, f := range o.Functions {
			if f.Method == methodOpt {
				continue
			}
			r.Sentence("below", experiment.Below(opt.Error, f.Error), map[string]any{"at": pr.label, "of": r.Title(f.Method),
				"value": opt.Error, "second": f.Error})
		}
	}
	r.Sentence("proof", o.Gap <= experiment.Negligible, map[string]any{"at": pr.label, "constraints": o.Constraints, "value": o.Gap})
	if p.Written && m > 1 {
		p.judgeAsWritten(r, pr, o)
	}
	if slices.Contains(p.Methods, methodDouble) && pr.subsample >= 1 {
		if s := o.of(methodDouble).Scaled; s < 1-1e-9 {
			r.Note("%s: double-subsampling is private only for teachers that answer alike; for any teachers it had to "+
				"be scaled by %.4f, and that is what is shown.", pr.label, s)
		} else {
			r.Note("%s: double-subsampling, which the source proves private for teachers that answer alike, is "+
				"certified here for any teachers.", pr.label)
		}
	}
}

// judgeAsWritten compares all methods by the metric as written, for which optimal-teachers is not
// optimal: the source's own baselines are worse by it too, the largest private constant may
// be better.
func (p *gammaParameters) judgeAsWritten(r *experiment.Run, pr promise, o optimum) {
	opt := o.of(methodOpt)
	for _, f := range o.Functions {
		switch f.Method {
		case methodSub, methodConst:
			r.Sentence("written", experiment.Below(opt.Written, f.Written), map[string]any{"at": pr.label, "of": r.Title(f.Method),
				"value": opt.Written, "second": f.Written})
		case methodTight, methodDouble:
			if f.Written < opt.Written {
				r.Note("%s: by the metric as written, %s (%.4g) is better than optimal-teachers (%.4g). optimal-teachers is "+
					"optimal for teachers whose p lies above ½.", pr.label, r.Title(f.Method), f.Written,
					opt.Written)
			}
		}
	}
}

// parameterTable is the source's Table B.1.
func (p *gammaParameters) parameterTable(r *experiment.Run, promises []promise) error {
	t := r.TableOf("parameters", nil)
	same, digits := 0, 0
	for i, pr := range promises {
		total, delta := pr.problem.Total()
		values := []float64{total / p.Epsilon, pr.tau, pr.lambda, total, delta}
		var printed any
		if len(p.Printed) > 0 {
			c := p.Printed[i]
			list := []string{c.Allowance, c.Tau, c.Lambda, c.Epsilon, c.Delta}
			for j, s := range list {
				digits++
				if experiment.Agrees(values[j], s) {
					same++
				}
			}
			printed = fmt.Sprint(list)
		}
		t.Add(pr.subsample, values[0], values[1], values[2], values[3], values[4], printed)
	}
	r.Table(t)
	if digits > 0 {
		r.Sentence("printed", same == digits, map[string]any{"value": same, "second": digits})
	}
	return nil
}
