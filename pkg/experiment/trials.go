package experiment

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// The trials of each experiment at both scales. Stores are named after the notebooks.

// quasiNewton is the protocol of this project.
var quasiNewton = Optimiser{Method: "L-BFGS"}

// draw is a source of n of the points of a draw from SE.
func draw(lengthscale float64, of, n int, seed int) Source {
	return Source{Name: "draw", N: n, Seed: uint64(seed), Lengthscale: lengthscale, Of: of}
}

// three returns the trials of ML, VFE and PL (Sphere) of one order.
func three(t Trial, order int) []Trial {
	ml, vfe, pl := t, t, t
	ml.Loss, vfe.Loss, pl.Loss = ML, VFE, PL
	vfe.Order, pl.Order, pl.Design = order, order, "Sphere"
	ml.Seed = 0
	return []Trial{ml, vfe, pl}
}

// The paper's optimisers of E1. Its BFGS has a learning rate of 5e-3; ours has a line search instead.
var (
	e1BFGS = Optimiser{Method: "BFGS", Iterations: 50, Tolerance: 1e-2}
	e1Adam = Optimiser{Method: "Adam", Rate: 0.1, Iterations: 2000, Tolerance: 1e-2}
)

// notebookOptimisers are the optimisers of the authors' notebook of E1, by their names in the paper.
var notebookOptimisers = map[string]Optimiser{
	"BFGS": {Method: TorchLBFGS, Rate: 5e-3, Iterations: 50, Tolerance: 1e-2},
	"Adam": {Method: TorchAdam, Rate: 0.1, Iterations: 2000, Tolerance: 1e-2},
}

// E1 compares optimisers on 1000 observations of SE with l = 20. Paper: ML, VFE and PL with k = m = 100, as in the text, by BFGS
// and by Adam, with the dense engine. GPPL: the same losses by L-BFGS to the optimum.
func E1(s scales.Scale) (trials []Trial) {
	seeds := scales.Pick(s, 20, 2)
	n, k := scales.Pick(s, 1000, 120), scales.Pick(s, 100, 20)
	for seed := 1; seed <= seeds; seed++ {
		base := Trial{Protocol: Paper, Source: draw(20, 2*n, n, seed), Kernel: "SE", Seed: uint64(seed), Engine: "dense"}
		for _, o := range []Optimiser{e1BFGS, e1Adam} {
			t := base
			t.Optimiser = o
			trials = append(trials, three(t, k)...)
		}
		best := base
		best.Protocol, best.Optimiser, best.Engine = GPPL, quasiNewton, ""
		trials = append(trials, three(best, k)...)
		adam := base
		adam.Optimiser = e1Adam
		diagonal := three(adam, k)[2]
		diagonal.Authors.Diagonal = 1e-4
		trials = append(trials, diagonal)
	}
	return trials
}

// NotebookOrder is the k = m of the authors' notebook of E1.
func NotebookOrder(s scales.Scale) int { return scales.Pick(s, 40, 8) }

// nested is the number of draws of the projections for each draw of the data where both vary.
func nested(s scales.Scale) int { return scales.Pick(s, 5, 2) }

// E1Notebook is E1 with the settings of the authors' notebook: noise variance ln 1.1, k = m = 40, PyTorch's optimisers, Repulsive
// projections (k of 400), the repulsion of inducing inputs, and what they add to diagonals. Further trials are variants with one
// option less or more; PL with several Sphere projections for each draw of the data; VFE and PL with the k = m = 100 of the text,
// in double and in single precision; and all three losses by L-BFGS to the optimum. ML and VFE with the notebook's settings are
// repeated on twenty further draws, for Figure 2.
func E1Notebook(s scales.Scale) (trials []Trial) {
	for seed := 1; seed <= scales.Pick(s, 20, 2); seed++ {
		trials = append(trials, notebookE1(s, seed)...)
	}
	for seed := notebookDraws + 1; seed <= notebookDraws+scales.Pick(s, 20, 1); seed++ {
		for _, t := range notebookE1(s, seed) {
			if notebookE1Confirming(t) {
				trials = append(trials, t)
			}
		}
	}
	return trials
}

// notebookDraws is the number of draws of E1 with the settings of the notebook. ML and VFE have twenty more, for Figure 2.
const notebookDraws = 20

// notebookE1Confirming selects the trials of ML and VFE with all settings of the notebook on further draws.
func notebookE1Confirming(t Trial) bool {
	return t.Source.Seed > notebookDraws && t.Loss != PL &&
		(notebookSettings("BFGS", t.Loss)(t) || notebookSettings("Adam", t.Loss)(t))
}

func notebookE1(s scales.Scale, seed int) (trials []Trial) {
	n, k := scales.Pick(s, 1000, 120), NotebookOrder(s)
	source := draw(20, 2*n, n, seed)
	source.Noise = AuthorsNoise
	base := Trial{Protocol: Paper, Source: source, Kernel: "SE", Seed: uint64(seed)}
	for _, name := range []string{"BFGS", "Adam"} {
		t := base
		t.Optimiser = notebookOptimisers[name]
		all := three(t, k)
		ml, vfe, pl := all[0], all[1], all[2]
		ml.Authors.Diagonal = MLDiagonal
		vfe.Authors.Repel = true
		pl.Authors.Diagonal, pl.Design = PLDiagonal, PoolDesign
		trials = append(trials, ml, vfe, pl)
	}
	adam := base
	adam.Optimiser = notebookOptimisers["Adam"]
	vfe, pl := three(adam, k)[1], three(adam, k)[2]
	pl.Authors.Diagonal = PLDiagonal
	noisy, single := vfe, vfe
	noisy.Authors.NoiseInGram = true
	single.Authors.Float32 = true
	trials = append(trials, vfe, noisy)
	for i := range nested(s) {
		pl.Seed = uint64(100*seed + i)
		trials = append(trials, pl)
	}
	if seed <= scales.Pick(s, 5, 1) {
		other := pl
		other.Seed, other.Authors.Float32 = uint64(100*seed), true
		trials = append(trials, single, other)
	}
	if seed <= scales.Pick(s, 5, 1) {
		trials = append(trials, textOrder(s, adam)...)
	}
	best := base
	best.Protocol, best.Optimiser = GPPL, quasiNewton
	trials = append(trials, three(best, k)...)
	return trials
}

// textOrder returns VFE and PL with k = m = 100, as in the text, by the authors' code: in double precision, and in the single
// precision in which E1 ran.
func textOrder(s scales.Scale, adam Trial) (trials []Trial) {
	all := three(adam, scales.Pick(s, 100, 20))
	vfe, pl := all[1], all[2]
	vfe.Authors.Repel, pl.Authors.Diagonal = true, PLDiagonal
	for _, t := range []Trial{vfe, pl} {
		single := t
		single.Authors.Float32 = true
		trials = append(trials, t, single)
	}
	return trials
}

// e2Adam is the paper's optimiser of E2.
var e2Adam = Optimiser{Method: "Adam", Rate: 0.01, Iterations: 2001, Tolerance: 1e-3}

// E2Sizes and E2Orders are the values of n, and of k = m, in E2.
func E2Sizes(s scales.Scale) []int {
	return scales.Pick(s, []int{500, 1000, 1500, 2000, 3000, 4000}, []int{100, 200})
}
func E2Orders(s scales.Scale) []int { return scales.Pick(s, []int{50, 100, 150}, []int{10, 20}) }

// E2 varies the number of observations of SE with l = 5, and the order. It has data of two kinds:
//
//   - Noise variance ln 1.1, as in the authors' data, on draws 11 to 20. Paper: Adam; VFE on six draws, ML and PL on ten.
//     GPPL: L-BFGS to the optimum, PL on ten draws, ML on draws 1 to 20.
//   - Noise variance 0.1, as in the text, on draws 1 to 10. Paper: PL on ten, ML on three. GPPL: all three on ten.
//     Rules of the ledger were chosen on these draws and are judged on the others.
//
// VFE by L-BFGS has at most 250 iterations. The cost of a dense evaluation is measured for each size and order. For the sizes at
// which the authors' log has most failed factorisations, VFE of the largest order is also run in single precision, as their code
// computed it, and again in double precision on the same draws with the same settings, which isolates the effect of the
// precision.
func E2(s scales.Scale) (trials []Trial) {
	sizes, seeds := E2Sizes(s), scales.Pick(s, 10, 2)
	of := sizes[len(sizes)-1]
	for seed := 1; seed <= seeds; seed++ {
		for _, n := range sizes {
			trials = append(trials, e2At(s, draw(5, of, n, seed), seed)...)
		}
	}
	for seed := 1; seed <= 2*seeds; seed++ {
		for _, n := range sizes {
			source := draw(5, of, n, seed)
			source.Noise = AuthorsNoise
			if seed > seeds {
				trials = append(trials, e2At(s, source, seed-seeds)...)
				continue
			}
			ml := Trial{Protocol: GPPL, Source: source, Kernel: "SE", Optimiser: quasiNewton, Loss: ML}
			trials = append(trials, ml)
			if seed <= e2Few(s) && n <= scales.Pick(s, 2000, 100) && n != 1500 {
				single := Trial{Protocol: Paper, Source: source, Kernel: "SE", Seed: source.Seed, Loss: VFE, Order: slices.Max(E2Orders(s))}
				single.Optimiser, single.Authors = e2Adam, Authors{Float32: true, Repel: true}
				single.Optimiser.Method = TorchAdam
				double := single // the same draw and settings
				double.Authors.Float32 = false
				trials = append(trials, single, double)
			}
		}
	}
	return trials
}

// e2Few is the number of draws of trials that take long.
func e2Few(s scales.Scale) int { return scales.Pick(s, 3, 1) }

// e2At returns the trials of one source, the i-th of its kind.
func e2At(s scales.Scale, source Source, i int) (trials []Trial) {
	stated := source.Noise == 0 // the noise variance of the text
	for _, t := range byOrder(Trial{Source: source, Kernel: "SE", Seed: source.Seed}, E2Orders(s)) {
		best := t
		best.Protocol, best.Optimiser = GPPL, quasiNewton
		if t.Loss == VFE {
			best.Optimiser.Iterations = 250 // the last inducing inputs need thousands to settle, and gain nothing
		}
		if stated || t.Loss != VFE {
			trials = append(trials, best)
		}
		draws := e2Few(s)
		switch {
		case !stated && t.Loss == ML:
			draws = scales.Pick(s, 10, 1)
		case !stated && t.Loss == VFE:
			draws = scales.Pick(s, 6, 1)
		}
		if t.Loss == PL || i <= draws && (t.Loss == ML || !stated) {
			t.Protocol, t.Optimiser = Paper, e2Adam
			trials = append(trials, t)
		}
		if stated && i == 1 {
			t.Protocol, t.Optimiser, t.Engine = Paper, Optimiser{Method: Evaluate}, "dense"
			trials = append(trials, t)
		}
	}
	return trials
}

// byOrder returns one trial of ML, and VFE and PL for each order.
func byOrder(t Trial, orders []int) (trials []Trial) {
	for i, k := range orders {
		all := three(t, k)
		if i > 0 {
			all = all[1:]
		}
		trials = append(trials, all...)
	}
	return trials
}

// KernelNames are the kernels of E3, in the paper's order.
var KernelNames = []string{"SE", "Laplace", "RQ", "LocPer"}

var sunspotAdam = Optimiser{Method: "Adam", Rate: 0.25, Iterations: 2001, Tolerance: 1e-3}

// SunspotOrder and EEGOrder are k = m for the sunspots and the EEG.
func SunspotOrder(s scales.Scale) int { return scales.Pick(s, 100, 20) }
func EEGOrder(s scales.Scale) int     { return scales.Pick(s, 500, 30) }

// optionStarts is the number of draws of k-means on which VFE is run with the authors' options on the sunspots. With Laplace VFE
// always takes all 2001 steps; it has one draw and no repulsion.
var optionStarts = map[string]int{"SE": 3, "Laplace": 1, "RQ": 3, "LocPer": 2}

// asAuthorsStarts is the number of draws of k-means from which VFE is trained on the sunspots step by step as in the authors'
// code.
func asAuthorsStarts(kernel string) int {
	if kernel == "Laplace" {
		return 1
	}
	return 3
}

// Sunspots are the four kernels on the monthly series. Paper: Adam; PL on thirty draws of the projections, ten of them with each
// option; VFE on three draws of k-means, and with either or both of the authors' options (see optionStarts); PL and VFE as the
// authors' notebook trained them, PL with its Ω, VFE from our own centres. GPPL: L-BFGS. The cost of a dense evaluation is
// measured for each. The last trials are the Whittle likelihood, which the paper does not have, and ML from random starts.
func Sunspots(s scales.Scale) (trials []Trial) {
	source := Source{Name: "sunspots", N: scales.Pick(s, 3319, 240)}
	order := SunspotOrder(s)
	draws := scales.Pick(s, 10, 2)
	for _, kernel := range KernelNames {
		notebook := Trial{Protocol: Paper, Source: source, Kernel: kernel, Loss: PL, Design: NotebookDesign, Order: order,
			Seed: notebookSeed, Optimiser: sunspotAdam, Authors: Authors{Diagonal: PLDiagonal}}
		notebook.Optimiser.Method = TorchAdam
		trials = append(trials, notebook)
		for seed := 1; seed <= 3*draws; seed++ {
			for _, t := range three(Trial{Source: source, Kernel: kernel, Seed: uint64(seed)}, order) {
				if t.Loss == ML && seed > 1 || t.Loss == VFE && seed > 3 {
					continue
				}
				paper, best := t, t
				paper.Protocol, paper.Optimiser = Paper, sunspotAdam
				best.Protocol, best.Optimiser = GPPL, quasiNewton
				trials = append(trials, paper)
				if seed > draws {
					continue // the other draws are for the comparison with published figures: PL with the paper's stopping rule only
				}
				if t.Loss != VFE || seed == 1 {
					trials = append(trials, best)
				}
				if t.Loss == VFE && seed <= optionStarts[kernel] {
					for _, a := range []Authors{{NoiseInGram: true}, {Repel: true}, {NoiseInGram: true, Repel: true}} {
						with := paper
						with.Authors = a
						if kernel != "Laplace" || !a.Repel {
							trials = append(trials, with)
						}
					}
					if seed == 1 {
						with := best
						with.Authors.NoiseInGram = true
						trials = append(trials, with)
					}
				}
				if t.Loss == PL {
					with := paper
					with.Authors.Diagonal = 1e-4
					like := paper // the tolerance times k/n, because PL sums k terms
					like.Optimiser.Tolerance *= float64(order) / float64(source.N)
					trials = append(trials, with, like)
				}
				if seed == 1 {
					paper.Optimiser, paper.Engine = Optimiser{Method: Evaluate}, "dense"
					trials = append(trials, paper)
				}
			}
		}
	}
	for _, kernel := range []string{"SE", "RQ", "LocPer", "Laplace"} { // Laplace takes longest
		for seed := 1; seed <= asAuthorsStarts(kernel); seed++ {
			t := Trial{Protocol: Paper, Source: source, Kernel: kernel, Loss: VFE, Order: order, Seed: uint64(seed),
				Optimiser: sunspotAdam, Authors: Authors{NoiseInGram: kernel != "SE", Repel: true}}
			t.Optimiser.Method = TorchAdam
			trials = append(trials, t)
		}
	}
	return slices.Concat(trials, sunspotsByWhittle(s, source), restarts(s, source))
}

// restarts are trainings of ML from random starts, whose lowest end is the optimum of a kernel ([Optimum]).
func restarts(s scales.Scale, source Source) (trials []Trial) {
	for _, kernel := range KernelNames {
		t := Trial{Protocol: GPPL, Source: source, Kernel: kernel, Loss: ML, Optimiser: quasiNewton}
		for t.Start = 1; t.Start <= randomStarts(s); t.Start++ {
			trials = append(trials, t)
		}
	}
	return trials
}

var eegAdam = Optimiser{Method: "Adam", Rate: 0.05, Iterations: 2001, Tolerance: 1e-3}

// EEG are the four kernels on samples of the recording. Paper: Adam, PL with k = 500 and VFE with m = 500, on three samples.
// GPPL, on the first sample: L-BFGS, PL and ML.
func EEG(s scales.Scale) (trials []Trial) {
	order := EEGOrder(s)
	for seed := uint64(1); seed <= scales.Pick[uint64](s, 3, 1); seed++ {
		source := Source{Name: "eeg", N: scales.Pick(s, 8000, 200), Seed: seed}
		for _, kernel := range KernelNames {
			for _, t := range three(Trial{Source: source, Kernel: kernel, Seed: seed}, order) {
				paper, best := t, t
				paper.Protocol, paper.Optimiser = Paper, eegAdam
				best.Protocol, best.Optimiser = GPPL, quasiNewton
				if t.Loss == VFE {
					paper.Optimiser.Iterations = scales.Pick(s, eegAdam.Iterations, 200)
				}
				if t.Loss != ML {
					trials = append(trials, paper)
				}
				if t.Loss != VFE && seed == 1 {
					trials = append(trials, best)
				}
			}
		}
	}
	return trials
}

// AccurateSources are the draws on which PL must be as accurate as ML.
func AccurateSources(s scales.Scale) []Source {
	if s == scales.Smoke {
		return []Source{draw(20, 240, 120, 0), draw(5, 240, 240, 0)}
	}
	return []Source{draw(20, 2000, 1000, 0), draw(5, 4000, 1000, 0), draw(5, 4000, 2000, 0), draw(5, 4000, 4000, 0)}
}

// AccurateSeeds is the number of draws of each source; the first has calibrationSeeds.
func AccurateSeeds(s scales.Scale) int    { return scales.Pick(s, 100, 3) }
func calibrationSeeds(s scales.Scale) int { return scales.Pick(s, 200, 5) }

// Accurate compares fits that choose their own loss and projections with ML and with the paper's PL (Sphere, k = 100), each
// trained to its optimum.
func Accurate(s scales.Scale) (trials []Trial) {
	k := scales.Pick(s, 100, 20)
	for i, source := range AccurateSources(s) {
		for seed := 1; seed <= calibrationSeeds(s); seed++ {
			source.Seed = uint64(seed)
			base := Trial{Protocol: GPPL, Source: source, Kernel: "SE"}
			auto, projected, ml, pl := base, base, base, base
			auto.Loss, projected.Loss, ml.Loss, pl.Loss = Auto, AutoProjected, ML, PL
			ml.Optimiser, pl.Optimiser = quasiNewton, quasiNewton
			pl.Design, pl.Order, pl.Seed = "Sphere", k, uint64(seed)
			switch {
			case seed <= AccurateSeeds(s):
				trials = append(trials, auto, projected, ml, pl)
			case i == 0:
				trials = append(trials, projected)
			}
			if seed == 1 && source.N >= 2000 {
				ml.Engine = "dense"
				trials = append(trials, ml)
			}
		}
	}
	for _, kernel := range KernelNames {
		base := Trial{Protocol: GPPL, Source: Source{Name: "sunspots", N: scales.Pick(s, 3319, 240)}, Kernel: kernel}
		auto, projected, ml := base, base, base
		auto.Loss, projected.Loss, ml.Loss, ml.Optimiser = Auto, AutoProjected, ML, quasiNewton
		trials = append(trials, auto, projected, ml)
	}
	return trials
}

// CurveDesigns and CurveOrders are the designs and k of the curves of excess against k.
var CurveDesigns = []string{"Sphere", "Localised", "One-hot", "Spectral"}

func CurveOrders(s scales.Scale) []int {
	return scales.Pick(s, []int{50, 100, 150, 200, 300}, []int{10, 20, 40})
}

// CurveSources are the draws of the curves.
func CurveSources(s scales.Scale) []Source {
	if s == scales.Smoke {
		return []Source{draw(5, 240, 120, 0)}
	}
	return []Source{draw(5, 4000, 1000, 0), draw(5, 4000, 3000, 0)}
}

// Curves varies k by design, with the residual energy and without, over five draws.
func Curves(s scales.Scale) (trials []Trial) {
	for _, source := range CurveSources(s) {
		for seed := 1; seed <= scales.Pick(s, 5, 2); seed++ {
			source.Seed = uint64(seed)
			ml := Trial{Protocol: GPPL, Source: source, Kernel: "SE", Loss: ML, Optimiser: quasiNewton}
			trials = append(trials, ml)
			for _, design := range CurveDesigns {
				for _, k := range CurveOrders(s) {
					for _, loss := range []string{PL, Residual} {
						t := ml
						t.Loss, t.Design, t.Order, t.Seed = loss, design, k, uint64(seed)
						trials = append(trials, t)
					}
				}
			}
		}
	}
	return trials
}

// Named returns the trials of the named experiment: e1, e1-notebook, e2, sunspots, eeg, accurate or curves.
func Named(name string, s scales.Scale) ([]Trial, bool) {
	lists := map[string]func(scales.Scale) []Trial{"e1": E1, "e1-notebook": E1Notebook, "e2": E2, "sunspots": Sunspots, "eeg": EEG,
		"accurate": Accurate, "curves": Curves}
	list, ok := lists[name]
	if !ok {
		return nil, false
	}
	return list(s), true
}
