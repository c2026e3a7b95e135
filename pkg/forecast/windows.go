package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

const (
	// cheapDense is the number of observations up to which dense algebra (2.4 ms at coreFlops) is so cheap that no other engine
	// is tried.
	cheapDense = 400
	// mostMixed is the largest number of seconds, of value and gradient, for which the engine of waves factorises the covariance.
	mostMixed = 3
)

// conditioned is a model given the data.
type conditioned interface {
	Latent(ctx context.Context, x gppl.Inputs) (mean, variances []float64, err error)
	Model() gppl.Model
	Jitter() float64
	Coefficients() []gppl.Coefficient
	OneStep(ctx context.Context, d gppl.Data) (mean, variances []float64, err error)
	Sample(ctx context.Context, x gppl.Inputs, count int, seed uint64) ([]gppl.Draw, error)
	Engine() string
}

// windows is a model conditioned, for each x, on length observations around it: the window whose middle is nearest, or the last
// window beyond the end. It is safe for concurrent use.
type windows struct {
	model  gppl.Model
	data   gppl.Data
	length int
	cache  *windowCache

	jitter       float64 // jitter of the last window
	coefficients []gppl.Coefficient
}

// windowCache holds the most recently used windows of all models that share it, no more than `most`, or any number if it is 0.
// It changes the time of predictions, not their values. It is safe for concurrent use.
type windowCache struct {
	mu   sync.Mutex
	most int
	made []cachedWindow // the most recently used last
}

type cachedWindow struct {
	of        *windows
	k         int // number of strides before the end
	posterior *gppl.Posterior
}

// limit bounds the number of windows that the cache holds; it never raises the bound.
func (c *windowCache) limit(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most == 0 || most < c.most {
		c.most = most
	}
}

// get returns a window, and makes it if it is not in the cache.
func (c *windowCache) get(of *windows, k int, fresh func() (*gppl.Posterior, error)) (*gppl.Posterior, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.made, func(w cachedWindow) bool { return w.of == of && w.k == k })
	if at >= 0 {
		w := c.made[at]
		c.made = append(slices.Delete(c.made, at, at+1), w)
		return w.posterior, nil
	}
	if c.most > 0 && len(c.made) >= c.most {
		c.made = slices.Delete(c.made, 0, len(c.made)-c.most+1)
	}
	p, err := fresh()
	if err == nil {
		c.made = append(c.made, cachedWindow{of, k, p})
	}
	return p, err
}

// newWindows makes the last window, which forecasts need.
func newWindows(ctx context.Context, m gppl.Model, d gppl.Data, length int, cache *windowCache) (*windows, error) {
	w := &windows{model: m, data: d, length: length, cache: cache}
	last, err := w.window(ctx, 0)
	if err != nil {
		return nil, err
	}
	w.jitter, w.coefficients = last.Jitter(), last.Coefficients()
	return w, nil
}

func (w *windows) Model() gppl.Model { return w.model }

// Jitter returns the jitter of the last window.
func (w *windows) Jitter() float64 { return w.jitter }

// Coefficients returns the coefficients of the last window.
func (w *windows) Coefficients() []gppl.Coefficient { return w.coefficients }

// OneStep predicts from the last window.
func (w *windows) OneStep(ctx context.Context, d gppl.Data) (mean, variances []float64, err error) {
	last, err := w.window(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	return last.OneStep(ctx, d)
}

// Sample draws from the last window.
func (w *windows) Sample(ctx context.Context, x gppl.Inputs, count int, seed uint64) ([]gppl.Draw, error) {
	last, err := w.window(ctx, 0)
	if err != nil {
		return nil, err
	}
	return last.Sample(ctx, x, count, seed)
}

// Engine returns the engine of the windows.
func (w *windows) Engine() string { return gppl.EngineDense }

// stride returns the distance between windows: every x has a quarter of a window on each side, or the end of the series.
func (w *windows) stride() int { return w.length / 2 }

// of returns the window for x, in strides before the end.
func (w *windows) of(x float64) int {
	n := w.data.Len()
	at := sort.Search(n, func(i int) bool { return w.data.X.At(i)[0] >= x })
	length, stride := float64(w.length), float64(w.stride())
	last := math.Ceil((float64(n) - length) / stride)
	return int(min(last, max(0, math.Round((float64(n-at)-length/2)/stride))))
}

func (w *windows) window(ctx context.Context, k int) (*gppl.Posterior, error) {
	return w.cache.get(w, k, func() (*gppl.Posterior, error) {
		n := w.data.Len()
		from := max(0, n-w.length-k*w.stride())
		return gppl.NewPosterior(ctx, w.model, w.data.Pick(timeline.Range(from, min(from+w.length, n))))
	})
}

// Latent predicts each x from its window of length n. It takes n³/3 flops for each new window and n² for each x.
func (w *windows) Latent(ctx context.Context, x gppl.Inputs) (mean, variances []float64, err error) {
	return latentByParts(ctx, x, w.of, func(k int) (conditioned, error) { return w.window(ctx, k) })
}

// latentByParts predicts each x by one of several models: the model of the part to which of assigns it.
func latentByParts[K comparable](
	ctx context.Context, x gppl.Inputs, of func(x float64) K, model func(part K) (conditioned, error),
) (mean, variances []float64, err error) {
	mean, variances = make([]float64, x.Len()), make([]float64, x.Len())
	members := map[K][]int{}
	var order []K
	for i := range mean {
		k := of(x.At(i)[0])
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = append(members[k], i)
	}
	for _, k := range order {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		p, err := model(k)
		if err != nil {
			return nil, nil, err
		}
		m, v, err := p.Latent(ctx, x.Pick(members[k]))
		if err != nil {
			return nil, nil, err
		}
		for j, i := range members[k] {
			mean[i], variances[i] = m[j], v[j]
		}
	}
	return mean, variances, nil
}

// conditionOn conditions a model on the data: on all observations by a state space, by a Toeplitz factor if the series is
// regular, or by waves, if one of these takes the model; on up to dense observations by any engine; on more by windows, which the
// cache holds. The first three check their own answers, which suffices for a forecast; the automatic choice might fall back on
// dense algebra to keep irrelevant digits. An engine that takes the model but fails is skipped; failed says why. The choice does
// not depend on the memory limit: if it does not fit, the error is a *gppl.MemoryError. Once ctx has ended, the error wraps
// ctx's.
func conditionOn(
	ctx context.Context, model gppl.Model, data gppl.Data, dense int, r memoryShare, cache *windowCache,
) (p conditioned, failed, err error) {
	n := data.Len()
	if n > cheapDense {
		engines := []string{gppl.EngineStateSpace}
		if n <= search.MostToeplitz {
			engines = append(engines, gppl.EngineToeplitz)
		}
		if mixed, err := gppl.NewExact(ctx, model, data, gppl.WithEngine(gppl.EngineMixed)); err == nil {
			if _, seconds := mixed.Cost(model.Values()); seconds <= mostMixed {
				engines = append(engines, gppl.EngineMixed)
			}
		}
		p, failed, err = firstThatTakes(ctx, engines, r.most(), func(engine string) (*gppl.Posterior, error) {
			return gppl.NewPosterior(ctx, model, data, gppl.WithEngine(engine), gppl.WithMemory(r.forEach()))
		})
		if p != nil || err != nil {
			return p, failed, err
		}
	}
	length := n
	if n > dense {
		length = min(dense, search.WindowLength)
	}
	most, err := r.windows(length)
	if err != nil {
		return nil, nil, err
	}
	if length == n && most >= r.models {
		p, err = gppl.NewPosterior(ctx, model, data)
	} else {
		cache.limit(most)
		p, err = newWindows(ctx, model, data, length, cache)
	}
	if err != nil {
		return nil, nil, errors.Join(failed, err)
	}
	return p, failed, nil
}

// firstThatTakes conditions by the first engine that neither refuses the model nor fails; p is nil if there is none. The error
// failed joins the errors of the engines that failed. err is the error of an engine that needs at most most bytes, which the
// limit does not leave.
func firstThatTakes(
	ctx context.Context, engines []string, most float64, condition func(engine string) (*gppl.Posterior, error),
) (p conditioned, failed, err error) {
	for _, engine := range engines {
		p, err := condition(engine)
		if err == nil {
			return p, failed, nil
		}
		if ctx.Err() != nil {
			return nil, nil, err
		}
		if short := (*gppl.MemoryError)(nil); errors.As(err, &short) && short.Needed <= most {
			return nil, nil, err
		}
		if refused := (*gppl.Refusal)(nil); !errors.As(err, &refused) {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", engine, err))
		}
	}
	return nil, failed, nil
}
