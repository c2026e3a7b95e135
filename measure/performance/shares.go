package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The cost of an evaluation, by the counts that the engines' comments state. Numbers of frequencies and widths of bands are
// computed again here for SE, by the formulas of the engines' forecasts; they are correct to a few per cent.

// frequenciesPL returns M of the spectral PL with SE.
func frequenciesPL(n float64) float64 {
	eps := min(1e-8, max(2e-15, 0.3*1e-8*k*noise/n))
	return frequencies(eps)
}

// frequenciesNLL returns M of the spectral NLL with SE.
func frequenciesNLL() float64 { return frequencies(2e-11 * noise) }

func frequencies(eps float64) float64 {
	root := math.Sqrt(-2 * math.Log(eps))
	return math.Ceil(root/(2*math.Pi*l0)*(span+1.4*root*l0)) + 1
}

// bandwidth returns the mean half-width of the band of SE.
func bandwidth(n int) (float64, error) {
	d, err := dataOf(n)
	if err != nil {
		return 0, err
	}
	t := d.X.Coordinate(0)
	slices.Sort(t)
	reach := l0 * math.Sqrt(-2*math.Log(1e-17))
	count, j := 0, 0
	for i := range t {
		for t[j] < t[i]-reach {
			j++
		}
		count += i - j
	}
	return float64(count) / float64(n), nil
}

// nodes is the number of interpolation nodes in engine_interpolated.go.
const nodes = 30

func textShares(m rates, s []sweep, p plan) string {
	var rows [][]string
	add := func(sweep int, name, engine string, n float64, formula string, flops, bytes float64) {
		got, ok := s[sweep].find(engine, n)
		if !ok {
			return
		}
		cell := func(v, of float64, unit string) string {
			if v == 0 {
				return ""
			}
			rate := v / got.seconds / 1e9
			return fmt.Sprintf("%.2g %s = %.0f %%", rate, unit, 100*rate/of)
		}
		rows = append(rows, []string{name, engine, fmt.Sprintf("%g", n), formula, timeline.Seconds(got.seconds),
			cell(flops, m.gemm, "GF/s"), cell(bytes, m.triad, "GB/s")})
	}
	n := 4000.0
	last := p.sizes[len(p.sizes)-1]
	b, err := bandwidth(int(n))
	if err != nil {
		return err.Error()
	}
	mp, mn := frequenciesPL(n), frequenciesNLL()
	pn := 2*mn - 1
	packed := float64(k * (k + 1) / 2)
	add(plSE, "PL, SE", gppl.EngineDense, n, "2n²k + 4nk²", 2*n*n*k+4*n*k*k, 0)
	add(plSE, "PL, SE", gppl.EngineBanded, n, fmt.Sprintf("8nbk, b ≈ %.0f", b), 8*n*b*k, 0)
	add(plSE, "PL, SE", gppl.EngineSpectral, n, fmt.Sprintf("8Mk², M ≈ %.0f", mp), 8*mp*k*k, 0)
	add(plSE, "PL, SE", gppl.EngineInterpolated, n, fmt.Sprintf("2·%d·k², reading the nodes twice", nodes), 2*nodes*k*k,
		2*nodes*packed*8)
	add(plLaplace, "PL, Laplace", gppl.EngineStateSpace, n, "4nk², for K and ∂K", 4*n*k*k, 0)
	dense := 0.0
	for _, e := range s[nllSE].engines { // the largest n that was timed
		if e.engine == gppl.EngineDense {
			dense = max(dense, e.x)
		}
	}
	add(nllSE, "exact NLL, SE", gppl.EngineDense, dense, "n³", dense*dense*dense, 0)
	add(nllSE, "exact NLL, SE", gppl.EngineBanded, n, fmt.Sprintf("3nb², b ≈ %.0f", b), 3*n*b*b, 0)
	add(nllSE, "exact NLL, SE", gppl.EngineSpectral, n, fmt.Sprintf("⅔p³, p ≈ %.0f", pn), 2*pn*pn*pn/3, 0)
	const numbers = 2*2 + 2 + 2 + 3 // D² + D + 2, and 3 for a component, with D = 2
	add(nllMatern32, "exact NLL, Matérn 3/2", gppl.EngineStateSpace, last,
		fmt.Sprintf("%d numbers an observation, written and read", numbers), 0, 16*numbers*last)
	text := fmt.Sprintf("Only leading flops and bytes are counted, so the true shares are somewhat higher; 100 %% is %.1f GF/s "+
		"and %.1f GB/s, the better of start and end.\n\n", m.gemm, m.triad) +
		markdown([]string{"loss", "engine", "n", "operations", "time", "share of gonum's matrix product", "share of the memory"},
			"llrlrrr", rows)
	if got, ok := s[nllMatern32].find(gppl.EngineStateSpace, last); ok {
		text += fmt.Sprintf("\nThe state-space NLL takes %.0f ns per observation, forward and backward.\n", 1e9*got.seconds/last)
	}
	return text
}

// textFloor compares evaluations of PL whose cost no longer depends on n with the minimum that they require.
func textFloor(m rates, s sweep) string {
	var rows [][]string
	for _, e := range s.engines {
		k := e.x
		read := 2 * nodes * 8 * k * (k + 1) / 2 / m.triad / 1e9
		algebra := k * k * k / m.gemm / 1e9 * float64(runtime.GOMAXPROCS(0))
		rows = append(rows, []string{fmt.Sprint(k), timeline.Seconds(e.seconds), timeline.Seconds(read), timeline.Seconds(algebra),
			fmt.Sprintf("%.0f %%", 100*(read+algebra)/e.seconds)})
	}
	return markdown([]string{
		"k", "an evaluation of PL, interpolated",
		fmt.Sprintf("reading %d nodes of ½k(k+1) numbers twice, at the speed of memory", nodes),
		"k³ flops for L, L⁻¹ and S⁻¹, at the speed of gonum's matrix product on one processor", "share of these two",
	}, "rrrrr", rows)
}
