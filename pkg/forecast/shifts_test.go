package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// unchanging are series without a change: paths of kernels, and noise with heavy tails.
var unchanging = []string{"noise", "SE", "Matern32", "AR", "walk", "walk of t", "t noise"}

// unchanged draws a series of a kind, whose noise or innovations have a standard deviation of 0.3 (SE, Matern32) or about 1.
func unchanged(kind string, n int, rng *rand.Rand) []float64 {
	y, scale := make([]float64, n), 10*float64(1+rng.IntN(5))
	waves := func(frequency func() float64) {
		const many = 200
		for range many {
			f, phase := frequency()/scale, 2*math.Pi*rng.Float64()
			for i := range y {
				y[i] += math.Sqrt(2./many) * math.Cos(f*float64(i)+phase)
			}
		}
		for i := range y {
			y[i] += 0.3 * rng.NormFloat64()
		}
	}
	student := func() float64 {
		const nu = 3
		var chi float64
		for range nu {
			z := rng.NormFloat64()
			chi += z * z
		}
		return rng.NormFloat64() / math.Sqrt(chi/nu)
	}
	level, phi := 0.0, []float64{0.3, 0.7, 0.9}[rng.IntN(3)]
	switch kind {
	case "SE": // its spectrum is normal
		waves(rng.NormFloat64)
	case "Matern32": // its spectrum is Student's with three degrees of freedom
		waves(student)
	default:
		for i := range y {
			switch kind {
			case "noise":
				y[i] = rng.NormFloat64()
			case "AR":
				level = phi*level + rng.NormFloat64()
				y[i] = level
			case "walk":
				level += rng.NormFloat64()
				y[i] = level
			case "walk of t":
				level += student()
				y[i] = level
			case "t noise":
				y[i] = math.Sin(2*math.Pi*float64(i)/scale) + student()
			}
		}
	}
	return y
}

// found returns the changes that a fit of values at 0, 1, … finds.
func found(t *testing.T, y []float64) []ShiftSize {
	t.Helper()
	shifts, err := automatic(t, testseries.Steps(t, len(y), 0, func(i int) float64 { return y[i] }),
		Options{Log: "never", Shifts: shiftsReported}).Shifts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return shifts
}

// TestNoShifts: a change is found in at most 2 % of the series that have none.
func TestNoShifts(t *testing.T) {
	alarms, all := 0, 0
	for n, series := range map[int]int{100: testkit.Size(4, 12, 100), 300: testkit.Size(1, 3, 60), 1000: testkit.Size(0, 0, 10),
		3000: testkit.Size(0, 0, 5)} {
		for _, kind := range unchanging {
			for seed := range uint64(series) {
				all++
				if shifts := found(t, unchanged(kind, n, rand.New(rand.NewPCG(seed, uint64(n))))); len(shifts) > 0 {
					alarms++
					t.Logf("%s, n = %d, seed %d: %+v", kind, n, seed, shifts)
				}
			}
		}
	}
	t.Logf("%d of %d", alarms, all)
	if most := 0.02*float64(all) + 1; float64(alarms) > most {
		t.Errorf("changes were seen in %d of %d series without any", alarms, all)
	}
}

// TestNile: the flow of the Nile at Aswan fell when its first dam was begun (Cobb 1978); with this change in the mean, no trend
// remains.
func TestNile(t *testing.T) {
	flow := []float64{1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
		1100, 1210, 1150, 1250, 1260,
		1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764,
		821, 768, 845, 864, 862, 698,
		845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
		744, 749, 838, 1050, 918, 986,
		797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740}
	shifts := found(t, flow) // the series begins in 1871
	if len(shifts) != 1 || shifts[0].X != 1899-1871 || shifts[0].Kind != "level" || math.Abs(shifts[0].Size+243) > 20 {
		t.Errorf("%+v", shifts)
	}
}

// TestShiftsFound: a step of four standard deviations of the noise, and a kink, are found where they are.
func TestShiftsFound(t *testing.T) {
	series := testkit.Size(4, 7, 50)
	for _, c := range []struct {
		kind, change string
		n            int
		size         float64 // size of the step, or of the kink at the end
		near         float64
		least        float64 // share that is found
	}{{"noise", "level", 100, 4, 2, 0.7}, {"noise", "level", 300, 4, 2, 0.9}, {"SE", "level", 300, 1.2, 2, 0.4},
		{"noise", "slope", 300, 30, 20, 0.7}} {
		hits := 0
		for seed := range uint64(series) {
			rng := rand.New(rand.NewPCG(seed, 9))
			y := unchanged(c.kind, c.n, rng)
			at := c.n/4 + rng.IntN(c.n/2)
			for i := at; i < c.n; i++ {
				if c.change == "level" {
					y[i] += c.size
				} else {
					y[i] += c.size * float64(i-at) / float64(c.n-at)
				}
			}
			for _, s := range found(t, y) {
				size := c.size
				if c.change == "slope" {
					size /= float64(c.n - at)
				}
				if s.Kind == c.change && math.Abs(s.X-float64(at)) <= c.near && math.Abs(s.Size-size) < 4*s.StdErr && !s.Used {
					hits++
					break
				}
			}
		}
		t.Logf("%s of n = %d: %d of %d changes of %s", c.kind, c.n, hits, series, c.change)
		if float64(hits) < c.least*float64(series) {
			t.Errorf("%s of n = %d: only %d of %d changes of %s were found", c.kind, c.n, hits, series, c.change)
		}
	}
}

// TestShiftsStuck: the constant values of a stuck sensor are no change of level, and do not hide one.
func TestShiftsStuck(t *testing.T) {
	const from, to = 100, 140 // ends of the run
	for _, n := range []int{300, 600} {
		for _, step := range []float64{0, 6} {
			y := unchanged("noise", n, rand.New(rand.NewPCG(3, uint64(n))))
			for i := from; i < n; i++ {
				if y[i] += step; i < to {
					y[i] = 3.21
				}
			}
			shifts := found(t, y)
			if step == 0 && len(shifts) > 0 {
				t.Errorf("n = %d: %+v", n, shifts)
			}
			if step > 0 && (len(shifts) != 1 || shifts[0].X < from || shifts[0].X > to ||
				math.Abs(shifts[0].Size-step) > 4*shifts[0].StdErr) {
				t.Errorf("n = %d with a step: %+v", n, shifts)
			}
		}
	}
}

// TestShiftsMissed: if the search for changes failed, the series does not count as one without changes.
func TestShiftsMissed(t *testing.T) {
	a := automatic(t, testseries.Steps(t, 60, 1, func(int) float64 { return 50 }), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.withFound(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	a.unsought = errors.New("no factor")
	if shifts, err := a.Shifts(context.Background()); shifts != nil || !errors.Is(err, a.unsought) {
		t.Errorf("%v, %v", shifts, err)
	}
}

// TestShiftsTrainLate: with many observations the scan comes first; a model is trained on the latest only if it finds something.
func TestShiftsTrainLate(t *testing.T) {
	const n = cheapShifts + 100
	for _, step := range []float64{0, 9} {
		y := unchanged("noise", n, rand.New(rand.NewPCG(3, 3)))
		a := testkit.Must(Fit(t.Context(), testseries.Steps(t, n, 0, func(i int) float64 { return y[i] + step*float64(i/(n/2)) }),
			Options{Log: "never"}))(t)
		_, best, err := a.searchShifts(t.Context())
		if err != nil || math.IsNaN(best.value) != (step == 0) || len(best.shifts) != map[bool]int{true: 1}[step > 0] {
			t.Errorf("step %g: %v, the value is %v, %v", step, best.shifts, best.value, err)
		}
	}
}

// BenchmarkFitShifts is the automatic fit with changes used, reported and not looked for, in series without and with a change.
func BenchmarkFitShifts(b *testing.B) {
	for _, n := range []int{100, 400, 1000, 2000} {
		for name, step := range map[string]float64{"none": 0, "step": 5} {
			y := unchanged("SE", n, rand.New(rand.NewPCG(7, uint64(n))))
			for i := n / 2; i < n; i++ {
				y[i] += step
			}
			s := testseries.Steps(b, n, 0, func(i int) float64 { return y[i] })
			for _, mode := range []string{"never", shiftsReported, ShiftsUsed} {
				b.Run(fmt.Sprintf("n=%d/%s/%s", n, name, mode), func(b *testing.B) {
					for b.Loop() {
						a, err := Fit(context.Background(), s, Options{Log: "never", Shifts: mode})
						if err != nil {
							b.Fatal(err)
						}
						if _, err := a.Shifts(context.Background()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// TestKinkBesideOutliers: most kinks in noise with three outliers are found. A model that was learnt without the kink describes it
// as a slow curve, so the search also looks beside simpler models: without Simpler 23 are found, without SeasonsAlone 18.
func TestKinkBesideOutliers(t *testing.T) {
	const n, size, far, draws, least = 200, 20, 12, 30, 26
	hits := 0
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(1000+seed, 12))
		y := unchanged("noise", n, rng)
		at := n/3 + rng.IntN(n/3)
		for i := at; i < n; i++ {
			y[i] += size * float64(i-at) / float64(n-at)
		}
		for k := range 3 {
			y[rng.IntN(n)] += far * float64(1-2*(k%2))
		}
		if slices.ContainsFunc(found(t, y), func(s ShiftSize) bool {
			return s.Kind == "slope" && math.Abs(s.X-float64(at)) <= n/10
		}) {
			hits++
		}
	}
	if hits < least {
		t.Errorf("%d of %d kinks beside outliers were found, want %d", hits, draws, least)
	}
}

// TestOutliers: single observations that are far off are listed with their probabilities, and are not changes of level. With
// Student-t noise the list has the observations whose weight is reduced.
func TestOutliers(t *testing.T) {
	far := map[int]bool{40: true, 70: true}
	s := testseries.Steps(t, 120, 1, func(i int) float64 {
		if far[i] {
			return 75
		}
		return 50 + 3*math.Sin(float64(i)/8)
	})
	for _, robust := range []bool{false, true} {
		if robust {
			s.Student = &series.Student{}
		}
		a := automatic(t, s, Options{})
		o, err := a.Outliers(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range o.List {
			if !far[one.Index] && !robust || one.Y != s.Y[one.Index] || !(one.Probability < 0.05) {
				t.Errorf("robust %v: %+v", robust, one)
			}
		}
		if again, err := a.Outliers(context.Background()); again != o || err != nil {
			t.Errorf("robust %v: looked for again (%v)", robust, err)
		}
		if len(o.List) < len(far) || o.Of != 120 || o.Heavy == robust {
			t.Errorf("robust %v: %+v", robust, o)
		}
		if shifts, err := a.Shifts(context.Background()); err != nil || len(shifts) > 0 {
			t.Errorf("robust %v: changes %+v (%v)", robust, shifts, err)
		}
	}
}

// TestSpikes: two changes of level that undo one another and have one observation between them are an outlier; other pairs stay.
func TestSpikes(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	level := func(at, size float64) ShiftSize { return ShiftSize{X: at, Kind: "level", Size: size} }
	slope := ShiftSize{X: 4, Kind: "slope", Size: -1}
	for _, test := range []struct{ all, want []ShiftSize }{
		{[]ShiftSize{level(3, 5), level(4, -4)}, nil},
		{[]ShiftSize{level(1, 5), level(3, 5), level(4, -4), level(8, 1)}, []ShiftSize{level(1, 5), level(8, 1)}},
		{[]ShiftSize{level(3, 5), level(4, 4)}, []ShiftSize{level(3, 5), level(4, 4)}},
		{[]ShiftSize{level(3, 5), level(5, -4)}, []ShiftSize{level(3, 5), level(5, -4)}},
		{[]ShiftSize{level(3, 5), slope}, []ShiftSize{level(3, 5), slope}},
	} {
		if got := withoutSpikes(test.all, x); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v", test.all, got)
		}
	}
}

// TestLeave: a search for changes that leaves out observations also leaves out their known errors.
func TestLeave(t *testing.T) {
	s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, []float64{0, 1, 2, 3, 4, 5}, []float64{10, 11, 12, 13, 14, 15}))(t)
	s.Errors = []float64{0.1, 1.1, 2.1, 3.1, 4.1, 5.1}
	search := shiftSearch{a: &Analysis{Series: s}, n: 4}
	search.leave(func(i int) bool { return i == 1 || i == 3 })
	left := search.a.Series
	if search.n != 3 || !slices.Equal(left.X, []float64{0, 2, 4, 5}) || !slices.Equal(left.Y, []float64{10, 12, 14, 15}) ||
		!slices.Equal(left.Errors, []float64{0.1, 2.1, 4.1, 5.1}) || len(s.Errors) != 6 {
		t.Errorf("%d are looked through of %v, %v with errors %v", search.n, left.X, left.Y, left.Errors)
	}
}
