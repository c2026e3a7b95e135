package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	library "github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// forCSV are the flags of gppl fit that need observations, which sums lack.
var forCSV = []string{
	"x", "y", "time", "x-unit", "y-unit", "comma", "decimal-comma", "decimal-point", "no-header", "missing", "by", "last",
	"report", "live", "figure", "levels", "components", "y-error", "relative-errors", "prior", "regressor", "future",
	"holidays", "event", "log", "likelihood", "size", "bounds", "trend", "period", "holdout", "origins",
}

// sumsFit is a kernel learnt from sums, or the reason why it was refused.
type sumsFit struct {
	Kernel  string  `json:"kernel"`
	BIC     float64 `json:"bic,omitempty"`
	Refused string  `json:"refused,omitempty"`
	// Projected says why the likelihood is a projected one, and why it has so many projections; "" if it is exact.
	Projected string        `json:"projected,omitempty"`
	Result    *store.Result `json:"result,omitempty"`
}

// fitSums learns from a file of sums each kernel of --kernel, or SE without the flag.
func fitSums(ctx context.Context, c *cli.Command) error {
	path, err := argument(c, "file of sums")
	if err != nil {
		return err
	}
	if err := cmp.Or(checkSumsFlags(c, path), checkStarts(c)); err != nil {
		return err
	}
	names := []string{"SE"}
	if c.IsSet("kernel") {
		if names, err = search.ParseKernels(c.String("kernel")); err != nil {
			return usageError{errors.New(message(err))}
		}
	}
	s, err := interruptible(ctx, func() (*sums.Sums, error) { return readSums(ctx, c, path) })
	if err != nil {
		return err
	}
	if s.Len() == 0 {
		return fmt.Errorf("%s holds no observations: there is nothing to learn", path)
	}
	if s.Variance() == 0 {
		return fmt.Errorf("%s: y is %.10g in all %d observations: there is nothing to learn", path, s.Mean(), s.Len())
	}
	when, x, err := sumsPlaces(c, s)
	if err != nil {
		return err
	}
	memory, err := sumsMemory(ctx, c, s)
	if err != nil {
		return err
	}
	fits, err := fitKernels(ctx, c, s, names, memory)
	if err != nil {
		return err
	}
	best := fits[0]
	if best.Result == nil {
		return fmt.Errorf("%s: %s: %s", path, best.Kernel, best.Refused)
	}
	var ahead *forecast.Forecast
	if len(x) > 0 {
		ahead, err = interruptible(ctx, func() (*forecast.Forecast, error) {
			return forecastSums(ctx, best.Result.Model, s, when, x, memory)
		})
		if err != nil {
			return fmt.Errorf("%s: %s", path, cmp.Or(outsideRange(s.Header(), when, x), message(err)))
		}
		if err := writeFile(ctx, c.String("out"), func(w io.Writer) error {
			return ahead.WriteCSV(w, sumflags.SumsAxis(s.Header()))
		}); err != nil {
			return err
		}
	}
	if err := writeFile(ctx, c.String("model"), best.encode); err != nil {
		return err
	}
	return showFits(ctx, c, path, s, fits, ahead)
}

// checkSumsFlags returns an error for flags that need observations, exclude one another, or lack another.
func checkSumsFlags(c *cli.Command, path string) error {
	if c.IsSet("budget") {
		return usageError{fmt.Errorf("--budget cuts the work on observations, and %s holds sums of them: "+
			"a likelihood takes the same time for any number of them (gppl info %s tells it), "+
			"and a kernel that would take long is refused", path, path)}
	}
	for _, flag := range forCSV {
		if c.IsSet(flag) {
			return usageError{fmt.Errorf("--%s needs observations, and %s holds sums of them", flag, path)}
		}
	}
	if err := writable(c, "model", "out"); err != nil {
		return err
	}
	switch {
	case c.IsSet("forecast") && checkSteps(c) != nil:
		return checkSteps(c)
	case c.IsSet("forecast") && c.IsSet("at"):
		return usageError{errors.New("--forecast and --at exclude each other: give one of them")}
	case c.IsSet("out") && !c.IsSet("forecast") && !c.IsSet("at"):
		return usageError{fmt.Errorf("--out: say what to forecast from %s, by --forecast or --at", path)}
	}
	return nil
}

// sumsMemory returns the memory, in bytes, that the limit leaves for an evaluation beside the sums and what is read from them.
func sumsMemory(ctx context.Context, c *cli.Command, s *sums.Sums) (float64, error) {
	limit, err := memoryLimit(ctx, c)
	if err != nil {
		return 0, err
	}
	beside := machine.Least + 2*float64(s.Plan().Bytes)
	if beside > limit {
		err = memoryHint(c, &library.MemoryError{What: "learning from these sums", Needed: beside, Limit: limit})
	}
	return limit - beside, err
}

// fitKernels learns each kernel. It returns them by ascending BIC, with the refused ones last.
func fitKernels(ctx context.Context, c *cli.Command, s *sums.Sums, names []string, memory float64) (fits []sumsFit, err error) {
	settings := auto.Settings{Fit: library.Settings{Seed: uint64(c.Uint("seed"))}, Memory: memory}
	if starts := c.Int("starts"); starts > 1 {
		settings.Fit.Starts = starts
	}
	bar := progress(c, "kernels", len(names))
	for i, name := range names {
		bar.Set(i)
		bar.Message("%s", name)
		fit, err := interruptible(ctx, func() (sumsFit, error) { return fitKernel(ctx, s, name, settings) })
		if err != nil {
			bar.Fail(err)
			return nil, err
		}
		fits = append(fits, fit)
	}
	bar.Done()
	slices.SortStableFunc(fits, func(a, b sumsFit) int { return cmp.Compare(a.rank(), b.rank()) })
	return fits, nil
}

// rank returns the BIC, or +Inf if the kernel was refused.
func (f sumsFit) rank() float64 {
	if f.Result == nil {
		return math.Inf(1)
	}
	return f.BIC
}

// encode writes the model as JSON.
func (f sumsFit) encode(w io.Writer) error {
	b, err := json.MarshalIndent(f.Result, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(sealed.Seal(b), '\n'))
	return err
}

// showFits prints what was learnt, and the forecast unless it went to a file.
func showFits(ctx context.Context, c *cli.Command, path string, s *sums.Sums, fits []sumsFit, ahead *forecast.Forecast) error {
	described := func() any {
		var points []report.PointJSON
		if ahead != nil {
			points = report.Points(ahead)
		}
		return struct {
			File         string             `json:"file"`
			Observations int                `json:"observations"`
			Mean         float64            `json:"mean"`
			Candidates   []sumsFit          `json:"candidates"`
			Forecast     []report.PointJSON `json:"forecast,omitempty"`
		}{path, s.Len(), s.Mean(), fits, points}
	}
	best := fits[0]
	return show(ctx, c, described, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: %s about their mean, %.6g\n", text.Printable(path), text.Count(s.Len(), "observation"), s.Mean())
		for _, f := range fits {
			if f.Result == nil {
				fmt.Fprintf(w, "%-24s refused: %s\n", f.Kernel, f.Refused)
			} else if len(fits) > 1 {
				fmt.Fprintf(w, "%-24s BIC %.2f\n", f.Kernel, f.BIC)
			}
		}
		if best.Projected != "" {
			fmt.Fprintf(w, "%s: by projections: %s\n", best.Kernel, best.Projected)
		}
		_, err := fmt.Fprintf(w, "%s\n", best.Result.Result)
		if h := s.Header(); err == nil && h.Dates {
			err = lengths(w, h, best.Result.Model.Kernel)
		}
		if err == nil && ahead != nil && !c.IsSet("out") {
			err = ahead.WriteCSV(w, sumflags.SumsAxis(s.Header()))
		}
		return err
	})
}

// lengths prints the lengthscales and periods of a kernel of dates with their unit.
func lengths(w io.Writer, h sums.Header, kernel library.Kernel) error {
	for _, p := range kernel.Params() {
		if p.Role != library.RoleLengthscale && p.Role != library.RolePeriod {
			continue
		}
		if _, err := fmt.Fprintf(w, "  x are dates: the %s is %s\n", p.Name, lengthOf(h, p.Value, 4)); err != nil {
			return err
		}
	}
	return nil
}

// sumsPlaces returns the x of --at or --forecast, ascending, as numbers and as text. A step of a forecast is the mean distance
// between observations, since sums do not know the median.
func sumsPlaces(c *cli.Command, s *sums.Sums) (when []string, x []float64, err error) {
	if c.IsSet("forecast") && s.Len() > 1 {
		first, last := s.Extent()
		step := (last - first) / float64(s.Len()-1)
		for i := range c.Int("forecast") {
			x = append(x, last+float64(i+1)*step)
			when = append(when, sumflags.Place(s.Header(), x[i]))
		}
		return when, x, nil
	}
	for _, text := range c.StringSlice("at") {
		at, err := series.ParsePlaceOf(s.Header().Dates, text)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--at: %s", message(err))}
		}
		i, _ := slices.BinarySearch(x, at)
		x, when = slices.Insert(x, i, at), slices.Insert(when, i, text)
	}
	return when, x, nil
}

// outsideRange says what to do about the first place outside the range of the sums; "" if there is none.
func outsideRange(h sums.Header, when []string, x []float64) string {
	for i, v := range x {
		if v < h.Lo || v > h.Hi {
			return fmt.Sprintf("%s is outside the range of these sums, from %s to %s: sum the files again with --from and --to around it",
				when[i], sumflags.Place(h, h.Lo), sumflags.Place(h, h.Hi))
		}
	}
	return ""
}

// forecastSums predicts from sums, without the observations.
func forecastSums(
	ctx context.Context, m library.Model, s *sums.Sums, when []string, x []float64, memory float64,
) (*forecast.Forecast, error) {
	centre := s.Mean()
	post, err := library.NewPosterior(ctx, m, library.SumsData(s, centre), library.WithMemory(memory))
	if err != nil {
		return nil, err
	}
	mean, latent, err := post.Latent(ctx, library.Scalars(x))
	if err != nil {
		return nil, err
	}
	f := &forecast.Forecast{X: x, When: when, Median: mean, LatentVar: latent, NoisyVar: slices.Clone(latent)}
	for i := range x {
		f.Median[i] += centre
		f.NoisyVar[i] += m.Noise // the nugget is a part of f
		half := forecast.Quantile95 * math.Sqrt(f.NoisyVar[i])
		f.Lower, f.Upper = append(f.Lower, f.Median[i]-half), append(f.Upper, f.Median[i]+half)
	}
	return f, nil
}

// fitKernel learns one kernel from the best of several starts. If its exact likelihood is refused, it learns by projections, from
// the start that is best with 64 of them. A refusal of both is not an error: sumsFit.Refused has the reason of the first.
func fitKernel(ctx context.Context, s *sums.Sums, name string, settings auto.Settings) (sumsFit, error) {
	fit := sumsFit{Kernel: name}
	kernel, err := search.ParseKernel(name)
	if err != nil {
		return fit, err
	}
	from := sumsStarts(kernel, s)
	data := library.SumsData(s, s.Mean())
	exact, err := library.NewExact(ctx, from[0], data, library.WithMemory(settings.Memory))
	if err != nil {
		return fit, err
	}
	if fit.Refused, err = fit.learn(ctx, exact, from, s, settings); fit.Refused == "" || err != nil {
		return fit, err
	}
	const first = 64 // number of projections
	p, err := data.Projection(ctx, min(first, s.Len()))
	if err != nil {
		return fit, err
	}
	projected, err := library.NewResidual(ctx, from[0], data, p, library.WithMemory(settings.Memory))
	if err == nil {
		settings.Projected = true
		_, err = fit.learn(ctx, projected, from, s, settings)
	}
	if refusal := (*library.Refusal)(nil); errors.As(err, &refusal) {
		err = nil
	}
	return fit, err
}

// learn learns from the start at which the loss is lowest. refused says why the loss cannot be computed at any start.
func (f *sumsFit) learn(
	ctx context.Context, loss library.Loss, from []library.Model, s *sums.Sums, settings auto.Settings,
) (refused string, err error) {
	best, refused, err := bestStart(ctx, loss, from)
	if err != nil {
		return "", err
	}
	if best == nil {
		return cmp.Or(refused, "its likelihood cannot be computed at any start"), nil
	}
	r, err := auto.FitSums(ctx, *best, s, s.Mean(), settings)
	if err != nil {
		return "", err
	}
	f.Refused, f.Result = "", &store.Result{Result: r.Result}
	if !r.Exact {
		f.Projected = r.Why
	}
	f.BIC = 2*r.Value + float64(len(r.Params))*math.Log(float64(s.Len()))
	return "", nil
}

// bestStart returns the start at which the loss is lowest. If there is none, it returns nil and the last refusal.
func bestStart(ctx context.Context, loss library.Loss, from []library.Model) (best *library.Model, refused string, err error) {
	lowest := math.Inf(1)
	for i, m := range from {
		if err := ctx.Err(); err != nil {
			return nil, refused, err
		}
		value, err := loss.ValueGrad(ctx, nil, m.Values())
		if refusal := (*library.Refusal)(nil); errors.As(err, &refusal) {
			refused = refusal.Reason
		} else if err == nil && value < lowest {
			best, lowest = &from[i], value
		}
	}
	return best, refused, nil
}

// sumsStarts returns models to start from. Lengthscales and periods go from a third of the range down to twice the shortest that
// is resolved, in factors of four; the longest come first, since they cost least. The noise gets 0.3 of the variance of the data,
// and the terms share the rest.
func sumsStarts(kernel library.Kernel, s *sums.Sums) (starts []library.Model) {
	variance := max(s.Variance(), math.SmallestNonzeroFloat64)
	first, last := s.Extent()
	shortest, _ := s.Header().Lengthscales()
	longest := max((last-first)/3, 2*shortest)
	params := kernel.Params()
	terms, scaled := 0, 0
	for _, p := range params {
		switch p.Role {
		case library.RoleVariance:
			terms++
		case library.RoleLengthscale, library.RolePeriod:
			scaled++
		}
	}
	const step = 4
	var scales []float64
	for l := longest; l >= 2*shortest; l /= step {
		scales = append(scales, l)
	}
	if scaled == 0 {
		scales = scales[:1]
	}
	// All terms at one scale; then each further term a step longer, or a step shorter.
	for _, spread := range []float64{1, step, 1.0 / step} {
		if scaled < 2 && spread != 1 {
			break
		}
		for _, l := range scales {
			theta := make([]float64, len(params))
			inside := true
			for i, p := range params {
				switch p.Role {
				case library.RoleVariance:
					theta[i] = 0.7 * variance / float64(terms)
				case library.RoleLengthscale, library.RolePeriod:
					theta[i] = l
					inside = inside && l >= 2*shortest && l <= 3*longest
					l *= spread
				default:
					theta[i] = p.Value
				}
			}
			if inside {
				starts = append(starts, library.Model{Kernel: kernel.WithParams(theta), Noise: 0.3 * variance})
			}
		}
	}
	return starts
}
