package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// trainFlags describe a training with shuffled gradients.
type trainFlags struct {
	dataFlags
	lossFlags
	iterationFlags
	unclippedPublic, doubledNoise bool
}

func (f *trainFlags) register(c *cobra.Command) {
	f.dataFlags.register(c)
	f.lossFlags.register(c)
	f.iterationFlags.register(c)
	fl := c.Flags()
	fl.BoolVar(&f.unclippedPublic, "unclipped-public", false, "do not clip public gradients")
	fl.BoolVar(&f.doubledNoise, "doubled-noise", false, "twice the noise that --eps needs, as the source's own scripts have it: they take 2G for G")
}

// iterationFlags are what a training costs depends on, besides its data.
type iterationFlags struct {
	privacyFlags
	method           string
	fraction         float64
	epochs           int
	order            string
	stepSize, clip   float64
	noise            float64
	mode, conversion string
}

func (f *iterationFlags) register(c *cobra.Command) {
	names := make([]string, 0, len(shuffled.Methods()))
	for _, m := range shuffled.Methods() {
		names = append(names, string(m))
	}
	fl := c.Flags()
	fl.StringVar(&f.method, "method", string(shuffled.DPShuffleG), strings.Join(names, ", "))
	oneOf(c, "method", shuffled.Methods()...)
	fl.Float64Var(&f.fraction, "fraction", 0.5, "p, the private share of epochs (priv-pub, pub-priv) or of each epoch (interleaved)")
	fl.IntVar(&f.epochs, "epochs", 50, "K, passes over the data")
	fl.StringVar(&f.order, "order", "rr", "order of records: \"ig\" fixed, \"so\" shuffled once, \"rr\" reshuffled in each epoch")
	oneOf(c, "order", slices.Sorted(maps.Keys(orderNames))...)
	fl.Float64Var(&f.stepSize, "step-size", 0, "η of each step")
	fl.Float64Var(&f.clip, "clip", 0, "G, norm bound of one gradient")
	fl.Float64Var(&f.noise, "noise", 0, "σ per coordinate on the gradient (default: the least that meets --eps)")
	f.privacyFlags.register(c)
}

// registerMode adds --mode and --conversion.
func (f *iterationFlags) registerMode(c *cobra.Command, standard iteration.Mode) {
	modes := make([]string, 0, len(iteration.Modes()))
	for _, m := range iteration.Modes() {
		modes = append(modes, string(m))
	}
	fl := c.Flags()
	fl.StringVar(&f.mode, "mode", string(standard), "way of accounting: \"best\" is the one with the smallest figure of "+strings.Join(modes[1:], ", ")+" whose conditions hold; \"paper\" is the source's")
	oneOf(c, "mode", iteration.Modes()...)
	fl.StringVar(&f.conversion, "conversion", "", "to (ε,δ): \"classical\" (the source's) or \"improved\" from Rényi divergences, \"exact\" from privacy losses (default: the best for --mode best, else classical)")
	oneOf(c, "conversion", iteration.Conversions()...)
}

// orderNames are the values of --order.
var orderNames = map[string]iteration.SampleOrder{"ig": iteration.FixedOrder, "so": iteration.ShuffledOnce, "rr": iteration.Reshuffled}

// checkNoise refuses a --noise that would be taken for none given.
func (f *iterationFlags) checkNoise(c *cobra.Command) error {
	if c.Flags().Changed("noise") && !(f.noise > 0) {
		return usagef("noise = %v, but it must be above 0", f.noise)
	}
	return nil
}

// config returns the configuration without the data's part.
func (f *iterationFlags) config(c *cobra.Command) (shuffled.Config, error) {
	var o shuffled.Config
	o.Method, o.Order = shuffled.Method(f.method), orderNames[f.order]
	needed := []string{"step-size"}
	if o.Method.IsPrivate() {
		needed = append(needed, "clip", "delta", "eps|noise")
	}
	if err := require(c, needed...); err != nil {
		return o, err
	}
	if err := f.checkNoise(c); err != nil {
		return o, err
	}
	if o.Method == shuffled.DPSGD || o.Method == shuffled.PublicOnly {
		if c.Flags().Changed("order") {
			return o, usagef("--order: %s visits private records in none", o.Method)
		}
		o.Order = 0
	}
	if o.Method.UsesFraction() {
		o.Fraction = f.fraction
	} else if c.Flags().Changed("fraction") {
		return o, usagef("--fraction: %s has no public part to leave", o.Method)
	}
	o.Epochs, o.StepSize, o.Clip, o.Noise = f.epochs, f.stepSize, f.clip, f.noise
	if !c.Flags().Changed("clip") {
		o.Clip = math.Inf(1)
	}
	o.Target = f.target()
	o.Mode, o.Conversion = iteration.Mode(f.mode), iteration.Conversion(f.conversion)
	return o, nil
}

// load reads the data and returns the whole configuration.
func (f *trainFlags) load(c *cobra.Command, a *app) (datasets.Set, shuffled.Config, error) {
	o, err := f.config(c)
	if err != nil {
		return datasets.Set{}, o, err
	}
	set, err := f.set(c, a, &f.lossFlags)
	if err != nil {
		return set, o, err
	}
	if o.Radius, err = f.addIntercept(&set, 2); err != nil {
		return set, o, err
	}
	o.Task, o.Start = set.Task, set.Start
	return set, o, f.complete(c, &o, set.Regularizer)
}

// complete sets what of the configuration are flags, but depends on the data's.
func (f *trainFlags) complete(c *cobra.Command, o *shuffled.Config, own geometry.Regularizer) (err error) {
	o.UnclippedPublic, o.DoubledNoise = f.unclippedPublic, f.doubledNoise
	if f.doubledNoise && (f.noise != 0 || !o.Method.IsPrivate()) {
		return usagef("--doubled-noise goes with --eps and a method with noise")
	}
	o.Regularizer, err = f.regularizer(c, own)
	return err
}

// candidate plans the flags as they are, which a candidate of --grid has changed, on records that were
// read.
func (f *trainFlags) candidate(c *cobra.Command, set datasets.Set, first shuffled.Config) (train.Plan, error) {
	o, err := f.config(c)
	if err != nil {
		return nil, err
	}
	o.Radius, o.Task, o.Start = first.Radius, first.Task, first.Start
	if err := f.complete(c, &o, set.Regularizer); err != nil {
		return nil, err
	}
	plan, err := shuffled.NewPlan(c.Context(), o, set.Private, set.Public)
	if err != nil {
		return nil, trainingError(err)
	}
	return plan.Priced()
}

// gridFlags registers the flags that --grid may have.
func (f *trainFlags) gridFlags(c *cobra.Command) {
	f.iterationFlags.register(c)
	registerSizes(c, &f.lossFlags, "")
}

// trainingError names the flags of data that must not be the same.
func trainingError(err error) error {
	if errors.Is(err, shuffled.ErrPublicIsPrivate) {
		return fmt.Errorf("--public, --private: %w", err)
	}
	return err
}

// sayPlan says on what grounds a training costs what.
func sayPlan(a *app, r iteration.Report) {
	switch {
	case math.IsInf(r.Cost.Epsilon, 1):
		a.say("NOT PRIVATE: gradients of private records without noise")
		return
	case r.Epochs == 0:
		a.fact("cost:", "none, no private record is used")
		return
	}
	a.fact("cost:", fmt.Sprintf("%s-DP where neighbours %s, if %s is released", r.Cost.Short(), r.Relation, r.Released))
	a.fact("by:", fmt.Sprintf("%s; order of records %s", basis(r), orderName(r)))
	a.fact("", fmt.Sprintf("noise σ = %.6g on private and %.6g on public steps, at clip %g; amplification m = %.4g", r.Noise, r.PublicNoise, r.Clip, r.Amplification))
	a.fact("", fmt.Sprintf("step size η = %g; %s", r.StepSize, contraction(r)))
	if len(r.Fallback) > 0 {
		a.fact("", "noise on public steps does not count: "+strings.Join(r.Fallback, "; "))
	}
	for _, t := range r.Trials {
		a.fact("", trialLine(t))
	}
	for _, w := range r.Warnings {
		a.fact("warning:", w)
	}
}

// trialLine says what one mode gave where the best was asked for.
func trialLine(t iteration.Trial) string {
	if t.Refused != nil {
		return t.Refused.Error()
	}
	return fmt.Sprintf("%s: ε = %s", t.Mode, num.Outward(t.Epsilon, 6, true))
}

// basis says by which mode, ρ and order a cost was worked out.
func basis(r iteration.Report) string {
	if byLosses(r) {
		return fmt.Sprintf("%s by its privacy losses", r.Mode)
	}
	s := fmt.Sprintf("%s, ρ = %s", r.Mode, num.Outward(r.Rho, 6, true))
	switch r.Conversion {
	case "":
	case iteration.ConversionExact:
		s += ", exact conversion"
	default:
		s += fmt.Sprintf(" at order α = %.4g, %s conversion", r.Alpha, r.Conversion)
	}
	return s
}

// byLosses says that a report rests on a mixture's privacy losses, which have no ρ.
func byLosses(r iteration.Report) bool {
	return r.Conversion == iteration.ConversionExact && r.Rho == 0
}

// contraction says whether steps are known to be non-expansive.
func contraction(r iteration.Report) string {
	l := "smoothness unknown"
	if finite(r.Smoothness) != nil && r.Smoothness > 0 {
		l = fmt.Sprintf("smoothness L = %s", num.Outward(r.Smoothness, 6, true))
	}
	if r.Contractive {
		return l + ": steps are non-expansive"
	}
	return l + ": steps are not known to be non-expansive"
}

// orderName names the order of records; DP-SGD draws each anew.
func orderName(r iteration.Report) string {
	if r.Mode == shuffled.ModeUniformSampling {
		return "none, each is drawn uniformly"
	}
	return r.Order.String()
}
