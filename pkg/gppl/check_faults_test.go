package gppl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// faults are what goes wrong in a formula: a wrong sign, a factor, a term dropped.
var faults = map[string]func(x []float64, at int){
	"wrong sign":   func(x []float64, _ int) { scaleBy(x, -1) },
	"factor 1.001": func(x []float64, _ int) { scaleBy(x, 1.001) },
	"dropped":      func(x []float64, _ int) { clear(x) },
	"half dropped": func(x []float64, _ int) { clear(x[len(x)/2:]) },
	"entry spoilt": func(x []float64, at int) { x[at%len(x)] += 1 + x[0] }, // one of many: caught where it is looked at
}

func scaleBy(x []float64, f float64) {
	for i := range x {
		x[i] *= f
	}
}

// TestFaultsAreCaught spoils each intermediate result of the spectral and the
// interpolated engines: what is returned is right, by another engine, or an error.
func TestFaultsAreCaught(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes half a minute")
	}
	defer func() { verify.Tamper = nil }()
	rnd := rand.New(rand.NewPCG(5, 5))
	d := benchData(t, 120)
	p, err := NewProjection(t.Context(), Sphere{}, d.X, 25, 1)
	if err != nil {
		t.Fatal(err)
	}
	kernels := []Kernel{SE{1, 90}, LocPer{1, 300, 130, 1}, SE{1, 150}, Add(SE{1, 90}, Periodic{0.5, 1, 150}, White{0.1})}
	for _, stage := range []string{"spectral h", "spectral diag", "spectral q", "series adjoint", "projected q", "projected gram",
		"interpolated slope", "interpolated weight", "VFE q"} {
		for _, fault := range []string{"wrong sign", "factor 1.001", "dropped", "half dropped", "entry spoilt"} {
			tried, caught := 0, 0
			tries := testkit.Size(0, 7, 20)
			if stage[0] == 'i' { // each builds a panel
				tries = testkit.Size(0, 2, 4)
			}
			for range tries {
				k := kernels[rnd.IntN(len(kernels))]
				opt := WithEngine(EngineSpectral)
				if stage[0] == 'i' {
					k, opt = SE{1, 150}, WithEngine(EngineInterpolated)
				}
				m := Model{Kernel: k, Noise: []float64{0.01, 0.1, 1}[rnd.IntN(3)]}
				var losses []Loss
				if stage[0] != 'V' {
					if stage[0] != 'p' && stage[0] != 'i' {
						l, err := NewExact(t.Context(), m, d, opt)
						if err != nil {
							t.Fatal(err)
						}
						losses = append(losses, l)
					}
					if stage[1] != 'p' {
						l, err := NewProjected(t.Context(), m, d, p, opt)
						if err != nil {
							t.Fatal(err)
						}
						losses = append(losses, l)
					}
				} else {
					l, err := NewVFE(t.Context(), m, d, d.X.Slice(0, 6), VFEOptions{}, opt)
					if err != nil {
						t.Fatal(err)
					}
					losses = append(losses, l)
				}
				for _, l := range losses {
					theta := Values(l.Params())
					for i := range m.Params() {
						theta[i] *= 1 + 0.1*rnd.Float64()
					}
					grad := make([]float64, len(theta))
					verify.Tamper = nil
					if _, err := l.ValueGrad(t.Context(), grad, theta); err != nil {
						t.Fatalf("%v, %v: %v without a fault", l, k, err)
					}
					hit := false
					verify.Tamper = func(what string, x []float64) {
						if what == stage {
							faults[fault](x, rnd.IntN(len(x)))
							hit = true
						}
					}
					_, err := l.ValueGrad(t.Context(), grad, theta)
					verify.Tamper = nil
					if !hit {
						continue
					}
					tried++
					var u verify.Failed
					if errors.As(err, &u) {
						caught++
					} else if err != nil {
						t.Errorf("%s, %s: %v", stage, fault, err)
					}
				}
			}
			line := fmt.Sprintf("%-20s %-14s %d of %d", stage, fault, caught, tried)
			t.Log(line)
			if whole := fault != "entry spoilt" && fault != "half dropped"; whole && (tried == 0 || caught < tried*95/100) {
				t.Errorf("%s caught", line)
			}
		}
	}
}

// TestFaultGoesToNextEngine: a spoilt answer is counted, and another engine's
// returned.
func TestFaultGoesToNextEngine(t *testing.T) {
	defer func() { verify.Tamper = nil }()
	d := benchData(t, 150)
	m := Model{Kernel: SE{1, 60}, Noise: 0.1}
	p, err := NewProjection(t.Context(), Sphere{}, d.X, 25, 1)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := NewExact(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := NewProjected(t.Context(), m, d, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Loss{exact, projected} {
		theta := Values(l.Params())
		want, got := make([]float64, 3), make([]float64, 3)
		if _, err := l.ValueGrad(t.Context(), want, theta); err != nil {
			t.Fatal(err)
		}
		if r := l.Report(); r.Engine != EngineSpectral || r.Fallbacks != 0 {
			t.Fatalf("%v: %+v", l, r)
		}
		verify.Tamper = func(what string, x []float64) {
			if what == "spectral diag" || what == "projected q" {
				scaleBy(x, 1.001)
			}
		}
		_, err := l.ValueGrad(t.Context(), got, theta)
		verify.Tamper = nil
		if err != nil {
			t.Fatal(err)
		}
		nearVector(t, "gradient by the next engine", got, want, 1e-7)
		if r := l.Report(); r.Fallbacks == 0 || r.Engine == EngineSpectral {
			t.Errorf("%v: %+v", l, r)
		}
	}
}

// TestKnownErrorsFaultsAreCaught spoils the derivative in the noise variance with known errors.
func TestKnownErrorsFaultsAreCaught(t *testing.T) {
	defer func() { verify.Tamper = nil }()
	d := benchData(t, 300)
	d.Errors = make([]float64, d.Len())
	for i := range d.Errors {
		d.Errors[i] = 0.1 * float64(1+i%5)
	}
	l, err := NewExact(t.Context(), Model{Kernel: SE{1, 40}, Noise: 0.1}, d, WithEngine(EngineSpectral))
	if err != nil {
		t.Fatal(err)
	}
	theta, grad := Values(l.Params()), make([]float64, 3)
	if _, err := l.ValueGrad(t.Context(), grad, theta); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"spectral traces", "spectral fitted", "spectral part"} {
		for name, fault := range faults {
			if name == "half dropped" || name == "entry spoilt" { // a check looks at one of many
				continue
			}
			verify.Tamper = func(what string, x []float64) {
				if what == stage {
					fault(x, 0)
				}
			}
			if _, err := l.ValueGrad(t.Context(), grad, theta); !errors.As(err, new(verify.Failed)) {
				t.Errorf("%s, %s: %v", stage, name, err)
			}
		}
	}
}
