package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/shuffleg"
	"github.com/darrm/darrm/shuffleg/data"
)

// trainFlags describe a training with shuffled gradients.
type trainFlags struct {
	iterationFlags
	dataSet, dataDir          string
	private, public           string
	dataFormat, response      string
	labels, publicLabels      string
	positive                  []int
	noHeader, unclippedPublic bool
	doubledNoise              bool
	task                      string
	l1, l2, ball, radius      float64
	dataSeed                  uint64
}

func (f *trainFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.dataSet, "data-set", "", "one of the known data sets: "+strings.Join(data.Names(), ", "))
	fl.StringVar(&f.dataDir, "data-dir", "", "folder with the real files of --data-set (default: generated stand-ins)")
	fl.Uint64Var(&f.dataSeed, "data-seed", 0, "seed of the stand-ins, and of what is drawn from real files")
	fl.StringVar(&f.private, "private", "", "file of private records, instead of --data-set")
	fl.StringVar(&f.public, "public", "", "file of public records of the same columns; not the private ones under\nanother name, or in another order. Single records in both are not noticed")
	fl.StringVar(&f.dataFormat, "data-format", "auto", "\"csv\", \"libsvm\" or \"idx\" (images, pixels over 255); auto goes by the name\n(.csv; .idx or -ubyte, with .gz too; else libsvm)")
	fl.StringVar(&f.response, "response", "", "name (or number from 1) of the CSV column of responses")
	fl.BoolVar(&f.noHeader, "no-header", false, "the first line of a CSV file is a record already")
	fl.StringVar(&f.labels, "labels", "", "IDX file of the labels of --private, which are its responses")
	fl.StringVar(&f.publicLabels, "public-labels", "", "IDX file of the labels of --public")
	fl.IntSliceVar(&f.positive, "positive", nil, "labels whose response is 1; all other images are kept and have 0 (default: the\nlabel is the response)")
	fl.StringVar(&f.task, "task", "", "\"mean\" estimation, \"ridge\" (least squares) or \"logistic\"; a known data\nset has its own")
	fl.Float64Var(&f.l1, "l1", 0, "λ of the regulariser λ‖x‖₁")
	fl.Float64Var(&f.l2, "l2", 0, "λ of the regulariser (λ/2)‖x‖²")
	fl.Float64Var(&f.ball, "ball", 0, "radius of the ball that the model is kept in")
	fl.Float64Var(&f.radius, "radius", 0, "public bound on the norm of a record's features; longer private ones are\nshortened. Without it the largest norm at hand counts, which no release\nmay rest on")
	fl.BoolVar(&f.unclippedPublic, "unclipped-public", false, "do not clip public gradients")
	fl.BoolVar(&f.doubledNoise, "doubled-noise", false, "twice the noise that --eps needs, as the source's own scripts have it: they take\n2G for G")
	f.iterationFlags.register(c)
}

// iterationFlags are what a training costs depends on, besides its data.
type iterationFlags struct {
	method           string
	fraction         float64
	epochs           int
	order            string
	stepSize, clip   float64
	noise            float64
	epsilon, delta   float64
	mode, conversion string
}

func (f *iterationFlags) register(c *cobra.Command) {
	names := make([]string, 0, len(shuffleg.Methods()))
	for _, m := range shuffleg.Methods() {
		names = append(names, string(m))
	}
	fl := c.Flags()
	fl.StringVar(&f.method, "method", string(shuffleg.DPShuffleG), strings.Join(names[:4], ", ")+",\n"+strings.Join(names[4:], ", "))
	fl.Float64Var(&f.fraction, "fraction", 0.5, "p, the private share of epochs (priv-pub, pub-priv) or of each epoch\n(interleaved)")
	fl.IntVar(&f.epochs, "epochs", 50, "K, passes over the data")
	fl.StringVar(&f.order, "order", "rr", "order of records: \"ig\" fixed, \"so\" shuffled once, \"rr\" reshuffled in\neach epoch")
	fl.Float64Var(&f.stepSize, "step-size", 0, "η of each step")
	fl.Float64Var(&f.clip, "clip", 0, "G, norm bound of one gradient")
	fl.Float64Var(&f.noise, "noise", 0, "σ per coordinate on the gradient (default: the least that meets --eps)")
	fl.Float64Var(&f.epsilon, "eps", 0, "ε that the model may cost")
	fl.Float64Var(&f.delta, "delta", 0, "δ that the model may cost")
}

// registerMode adds --mode and --conversion.
func (f *iterationFlags) registerMode(c *cobra.Command, standard iteration.Mode) {
	modes := make([]string, 0, len(iteration.Modes()))
	for _, m := range iteration.Modes() {
		modes = append(modes, string(m))
	}
	fl := c.Flags()
	fl.StringVar(&f.mode, "mode", string(standard), "way of accounting: \"best\" is the one with the smallest figure of\n"+strings.Join(modes[1:], ", ")+"\nwhose conditions hold; \"paper\" is the source's")
	fl.StringVar(&f.conversion, "conversion", "", "to (ε,δ): \"classical\" (the source's) or \"improved\" from Rényi divergences,\n\"exact\" from privacy losses (default: the best for --mode best, else classical)")
}

func (f *iterationFlags) orderOf() (iteration.SampleOrder, error) {
	switch strings.ToLower(f.order) {
	case "ig":
		return iteration.FixedOrder, nil
	case "so":
		return iteration.ShuffledOnce, nil
	case "rr":
		return iteration.Reshuffled, nil
	}
	return 0, usagef("order = %q, but it must be \"ig\", \"so\" or \"rr\"", f.order)
}

func (f *iterationFlags) methodOf() (shuffleg.Method, error) {
	m := shuffleg.Method(f.method)
	if !slices.Contains(shuffleg.Methods(), m) {
		return "", usagef("method = %q, but it must be one of %v", f.method, shuffleg.Methods())
	}
	return m, nil
}

// checkNoise refuses a --noise that would be taken for none given.
func (f *iterationFlags) checkNoise(c *cobra.Command) error {
	if c.Flags().Changed("noise") && !(f.noise > 0) {
		return usagef("noise = %v, but it must be above 0", f.noise)
	}
	return nil
}

// config returns the configuration without the data's part.
func (f *iterationFlags) config(c *cobra.Command) (shuffleg.Config, error) {
	var o shuffleg.Config
	var err error
	if o.Method, err = f.methodOf(); err != nil {
		return o, err
	}
	if o.Order, err = f.orderOf(); err != nil {
		return o, err
	}
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
	if o.Method == shuffleg.DPSGD || o.Method == shuffleg.PublicOnly {
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
	o.Target = accountant.Cost{Epsilon: f.epsilon, Delta: f.delta}
	o.Mode, o.Conversion = iteration.Mode(f.mode), iteration.Conversion(f.conversion)
	return o, nil
}

// load reads the data and returns the whole configuration.
func (f *trainFlags) load(c *cobra.Command, a *app) (data.Set, shuffleg.Config, error) {
	o, err := f.config(c)
	if err != nil {
		return data.Set{}, o, err
	}
	set, err := f.set(c, a)
	if err != nil {
		return set, o, err
	}
	o.Task, o.Start, o.Regularizer = set.Task, set.Start, set.Regularizer
	o.UnclippedPublic, o.Radius, o.DoubledNoise = f.unclippedPublic, f.radius, f.doubledNoise
	if f.doubledNoise && (f.noise != 0 || !o.Method.IsPrivate()) {
		return set, o, usagef("--doubled-noise goes with --eps and a method with noise")
	}
	if c.Flags().Changed("radius") && !(f.radius > 0) {
		return set, o, usagef("radius = %v, but it must be above 0", f.radius)
	}
	given := 0
	for _, r := range []struct {
		flag string
		reg  shuffleg.Regularizer
	}{{"l1", shuffleg.L1{Lambda: f.l1}}, {"l2", shuffleg.L2{Lambda: f.l2}}, {"ball", shuffleg.Ball{Radius: f.ball}}} {
		if c.Flags().Changed(r.flag) {
			o.Regularizer = r.reg
			given++
		}
	}
	if given > 1 {
		return set, o, usagef("--l1, --l2 and --ball exclude each other")
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"l1", f.l1}, {"l2", f.l2}} {
		if !(x.value >= 0) || math.IsInf(x.value, 1) {
			return set, o, usagef("%s = %v, but it must be finite and ≥ 0", x.name, x.value)
		}
	}
	return set, o, nil
}

func (f *trainFlags) set(c *cobra.Command, a *app) (data.Set, error) {
	if err := require(c, "data-set|private"); err != nil {
		return data.Set{}, err
	}
	if f.dataSet != "" {
		for _, name := range []string{"public", "response", "no-header", "data-format", "task", "labels", "public-labels", "positive"} {
			if c.Flags().Changed(name) {
				return data.Set{}, usagef("--%s goes with --private: a known data set has its own", name)
			}
		}
		if !slices.Contains(data.Names(), f.dataSet) {
			return data.Set{}, usagef("data-set = %q, but it must be one of %s", f.dataSet, strings.Join(data.Names(), ", "))
		}
		if f.dataDir != "" {
			set, err := data.Load(c.Context(), f.dataSet, f.dataDir, f.dataSeed)
			return set, inputFailure(c.Context(), err)
		}
		set, err := data.Standin(f.dataSet, f.dataSeed)
		if err == nil {
			a.say("darrm: %s is a STAND-IN generated from seed %d, not the real data (--data-dir)", f.dataSet, f.dataSeed)
		}
		return set, err
	}
	for _, name := range []string{"data-dir", "data-seed"} {
		if c.Flags().Changed(name) {
			return data.Set{}, usagef("--%s goes with --data-set", name)
		}
	}
	if err := require(c, "task"); err != nil {
		return data.Set{}, err
	}
	if f.publicLabels != "" && f.public == "" {
		return data.Set{}, usagef("--public-labels goes with --public")
	}
	set := data.Set{Name: filepath.Base(f.private)}
	switch f.task {
	case "mean":
		set.Task = shuffleg.MeanEstimation{}
	case "ridge":
		set.Task = shuffleg.LeastSquares{}
	case "logistic":
		set.Task = shuffleg.Logistic{}
	default:
		return set, usagef("task = %q, but it must be \"mean\", \"ridge\" or \"logistic\"", f.task)
	}
	err := data.Files{Private: f.private, Labels: f.labels, Public: f.public, PublicLabels: f.publicLabels}.CheckApart(c.Context())
	if errors.Is(err, data.ErrSameFile) {
		return set, usagef("--public, --public-labels: %w", err)
	}
	if err != nil {
		return set, inputFailure(c.Context(), err)
	}
	if set.Private, err = f.records(c, a, f.private, f.labels, 0); err != nil {
		return set, err
	}
	if f.public != "" {
		if set.Public, err = f.records(c, a, f.public, f.publicLabels, set.Private.Dim()); err != nil {
			return set, err
		}
	}
	return set, nil
}

// formatOf returns the format of a file of records.
func (f *trainFlags) formatOf(path string) string {
	if f.dataFormat != "auto" {
		return f.dataFormat
	}
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	switch {
	case strings.HasSuffix(name, ".idx"), strings.HasSuffix(name, "-ubyte"):
		return "idx"
	case filepath.Ext(strings.ToLower(path)) == ".csv":
		return "csv"
	}
	return "libsvm"
}

// records reads a file of records, labels the file of their labels or "".
func (f *trainFlags) records(c *cobra.Command, a *app, path, labels string, dim int) (*shuffleg.Records, error) {
	format := f.formatOf(path)
	if !slices.Contains([]string{"csv", "libsvm", "idx"}, format) {
		return nil, usagef("data-format = %q, but it must be \"auto\", \"csv\", \"libsvm\" or \"idx\"", f.dataFormat)
	}
	if format != "csv" && f.response != "" {
		return nil, usagef("--response goes with CSV: %s is read as %s", path, format)
	}
	if format != "idx" && (labels != "" || f.positive != nil) {
		return nil, usagef("--labels, --public-labels and --positive go with IDX: %s is read as %s", path, format)
	}
	var read func(io.Reader) (*shuffleg.Records, error)
	switch format {
	case "csv":
		if f.response == "" && f.task != "mean" {
			return nil, usagef("--response must be given: the task %s needs a column of responses", f.task)
		}
		read = func(r io.Reader) (*shuffleg.Records, error) {
			return data.ReadCSV(r, data.CSVOptions{Response: f.response, Header: !f.noHeader})
		}
	case "libsvm":
		read = func(r io.Reader) (*shuffleg.Records, error) { return data.ReadLIBSVM(r, dim) }
	case "idx":
		if labels == "" && f.task != "mean" {
			return nil, usagef("%s needs a file of labels (--labels, --public-labels): the task %s needs responses", path, f.task)
		}
		read = func(r io.Reader) (*shuffleg.Records, error) { return f.images(c, a, r, labels) }
	}
	in, err := a.open(c.Context(), path, data.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	records, err := read(in)
	var flag *check.Error
	if format == "idx" && errors.As(err, &flag) {
		return nil, usageError{Err: err} // of --positive; files have errors of their own
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return records, inputFailure(c.Context(), err)
}

// images reads IDX images with the file of their labels, "" for none.
func (f *trainFlags) images(c *cobra.Command, a *app, r io.Reader, labels string) (*shuffleg.Records, error) {
	if labels == "" {
		return data.ReadIDX(r, nil, f.positive)
	}
	l, err := a.open(c.Context(), labels, data.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return data.ReadIDX(r, l, f.positive)
}

// planFailure turns the errors of making a plan into the kinds that the program knows.
func planFailure(err error) error {
	var sample *shuffleg.SampleError
	switch {
	case errors.Is(err, iteration.ErrNotCertified):
		return uncertifiedError{err}
	case errors.As(err, &sample):
		return inputError{Err: err}
	case errors.Is(err, shuffleg.ErrPublicIsPrivate):
		return inputError{Err: fmt.Errorf("--public, --private: %w", err)}
	}
	return err
}

// tellPlan says on what grounds a training costs what.
func tellPlan(a *app, r iteration.Report) {
	switch {
	case math.IsInf(r.Cost.Epsilon, 1):
		a.say("NOT PRIVATE: gradients of private records without noise")
		return
	case r.Epochs == 0:
		a.say("cost: none, no private record is used")
		return
	}
	a.say("cost: %v-DP where neighbours %s, if %s is released", r.Cost, r.Relation, r.Released)
	a.say("by:   %s; order of records %s", basis(r), orderName(r))
	a.say("      noise σ = %.6g on private and %.6g on public steps, at clip %g; amplification m = %.4g", r.Noise, r.PublicNoise, r.Clip, r.Amplification)
	a.say("      step size η = %g; %s", r.StepSize, contraction(r))
	if len(r.Fallback) > 0 {
		a.say("      noise on public steps does not count: %s", strings.Join(r.Fallback, "; "))
	}
	for _, t := range r.Trials {
		a.say("      %s", tellTrial(t))
	}
	for _, w := range r.Warnings {
		a.say("      warning: %s", w)
	}
}

// tellTrial says what one mode gave where the best was asked for.
func tellTrial(t iteration.Trial) string {
	if t.Refused != nil {
		return t.Refused.Error()
	}
	return fmt.Sprintf("%s: ε = %s", t.Mode, outward(t.Epsilon, 6, true))
}

// basis says by which mode, ρ and order a cost was worked out.
func basis(r iteration.Report) string {
	if byLosses(r) {
		return fmt.Sprintf("%s by its privacy losses", r.Mode)
	}
	s := fmt.Sprintf("%s, ρ = %s", r.Mode, outward(r.Rho, 6, true))
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
		l = fmt.Sprintf("smoothness L = %s", outward(r.Smoothness, 6, true))
	}
	if r.Contractive {
		return l + ": steps are non-expansive"
	}
	return l + ": steps are not known to be non-expansive"
}

// orderName names the order of records; DP-SGD draws each anew.
func orderName(r iteration.Report) string {
	if r.Mode == shuffleg.ModeUniformSampling {
		return "none, each is drawn uniformly"
	}
	return r.Order.String()
}
