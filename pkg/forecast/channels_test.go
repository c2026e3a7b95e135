package forecast

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// channelsFile is a table in which an index observes f, and a velocity f and its derivative; f is a sum of waves with periods
// near 23.
func channelsFile(t *testing.T, n int) (path string, f, slope func(x float64) float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 1))
	type wave struct{ rate, phase, size float64 }
	var waves []wave
	for range 10 {
		waves = append(waves, wave{2 * math.Pi / 23 * (1 + 0.12*rnd.NormFloat64()), 6.28 * rnd.Float64(), 0.45 * rnd.NormFloat64()})
	}
	f = func(x float64) (sum float64) {
		for _, w := range waves {
			sum += w.size * math.Cos(w.rate*x+w.phase)
		}
		return sum
	}
	slope = func(x float64) (sum float64) {
		for _, w := range waves {
			sum -= w.size * w.rate * math.Sin(w.rate*x+w.phase)
		}
		return sum
	}
	var b strings.Builder
	b.WriteString("time,value,instrument,error\n")
	for range n {
		x := 150 * rnd.Float64()
		fmt.Fprintf(&b, "%.6f,%.6f,index,0.01\n", x, 0.2*f(x)-4.9+0.02*rnd.NormFloat64())
		fmt.Fprintf(&b, "%.6f,%.6f,velocity,0.5\n", x+0.01, 3*f(x+0.01)+20*slope(x+0.01)+120+rnd.NormFloat64())
	}
	path = filepath.Join(t.TempDir(), "rv.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, f, slope
}

// TestFitChannels finds that a velocity sees a derivative, and what it sees, in units of the file.
func TestFitChannels(t *testing.T) {
	path, f, slope := channelsFile(t, 60)
	c, err := ReadChannels(path, "instrument", "", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(c.Names, c.Counts()) != "[index velocity] [60 60]" || c.Column != "instrument" {
		t.Fatal(c.Names, c.Counts(), c.Column)
	}
	a, err := FitChannels(t.Context(), c, ChannelOptions{Kernels: []string{"SHO"}})
	if err != nil {
		t.Fatal(err)
	}
	best := a.Best()
	if best.View != "derivative" || len(a.Fits) != 3 || a.Fits[1].BIC < best.BIC+50 {
		t.Errorf("%+v", a.Fits)
	}
	index, velocity := best.Model.Channels[0], best.Model.Channels[1]
	if ratio := velocity.Slope / velocity.Value; !(math.Abs(ratio-20./3) < 1.5) || !(math.Abs(index.Slope/index.Value) < 1) {
		t.Errorf("%+v", best.Model.Channels)
	}
	for i, want := range []float64{-4.9, 120} {
		if o := best.Offsets[i]; !(math.Abs(o.Value-want) < 5*o.StdErr+0.1*math.Abs(best.Model.Channels[i].Value)) {
			t.Errorf("offset %+v, want %v", o, want)
		}
	}
	if sd := math.Sqrt(velocity.Noise); !(sd > 0.5 && sd < 1.5) || !(index.Noise < 0.05*0.05) {
		t.Errorf("noise %v and %v", math.Sqrt(index.Noise), sd)
	}
	for i, v := range a.Fits[0].Model.Kernel.Params() {
		if v.Name == "period" && math.Abs(v.Value-23) > 3 || v.Name == "variance" && (v.Value != 1 || !math.IsNaN(best.StdErr[i])) {
			t.Errorf("%s %v ± %v", v.Name, v.Value, best.StdErr[i])
		}
	}
	x := []float64{40, 75, 110}
	all, err := a.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		for j, want := range []float64{0.2*f(x[i]) - 4.9, 3*f(x[i]) + 20*slope(x[i]) + 120} {
			if p := all[j]; !(math.Abs(p.Mean[i]-want) < 5*math.Sqrt(p.Latent[i])) || p.Noisy[i] <= p.Latent[i] {
				t.Errorf("%s at %v: %v ± %v, want %v", p.Channel, x[i], p.Mean[i], math.Sqrt(p.Latent[i]), want)
			}
		}
	}
	ahead, err := a.Forecast(4)
	if err != nil || len(ahead) != 2 || len(ahead[1].When) != 4 {
		t.Fatal(ahead, err)
	}
	var out, parts bytes.Buffer
	if err := a.WriteChannels(&out, ahead); err != nil || strings.Count(out.String(), "\n") != 9 ||
		!strings.HasPrefix(out.String(), "time,instrument,mean,") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := a.WriteComponents(&parts); err != nil || strings.Count(parts.String(), "\n") != 121 ||
		!strings.HasPrefix(parts.String(), "time,instrument,value,mean,sd_mean,f,sd_f,slope,sd_slope\n") {
		t.Errorf("%v\n%.200s", err, parts.String())
	}
}

// TestChannelUnits: another unit of y changes units alone, and instruments of one quantity keep their offsets.
func TestChannelUnits(t *testing.T) {
	build := func(unit float64) *Channels {
		r := rand.New(rand.NewPCG(8, 8))
		c := &Channels{Column: "tel", Names: []string{"A", "B"}}
		var x, y []float64
		for i := range 80 {
			x = append(x, float64(i)+0.3*r.Float64())
			of := i % 2
			c.Of = append(c.Of, of)
			y = append(y, unit*(2*math.Sin(x[i]/4)+float64(of)*30+0.3*float64(1+of)*r.NormFloat64()))
		}
		s, err := NewSeries(Axis{Name: "x"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		c.Series = s
		return c
	}
	const unit = 1e6
	var fits [2]*ChannelFit
	for i, u := range []float64{1, unit} {
		a, err := FitChannels(t.Context(), build(u), ChannelOptions{Kernels: []string{"Matern52"}, Views: []string{"same"}})
		if err != nil {
			t.Fatal(err)
		}
		fits[i] = a.Best()
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-3*math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	n, h := 80., 2.
	near("NLL", fits[1].NLL, fits[0].NLL+(n-h)*math.Log(unit))
	for c := range 2 {
		near("noise", fits[1].Model.Channels[c].Noise, fits[0].Model.Channels[c].Noise*unit*unit)
		near("offset", fits[1].Offsets[c].Value, fits[0].Offsets[c].Value*unit)
	}
	near("variance", fits[1].Model.Kernel.Params()[0].Value, fits[0].Model.Kernel.Params()[0].Value*unit*unit)
	if d := fits[0].Offsets[1].Value - fits[0].Offsets[0].Value; math.Abs(d-30) > 0.5 {
		t.Errorf("offsets differ by %v, want 30", d)
	}
	if a, b := fits[0].Model.Channels[0].Noise, fits[0].Model.Channels[1].Noise; !(b > 2*a) {
		t.Errorf("noise variances %v and %v", a, b)
	}
}

// TestReadChannelsErrors: each error names the column and what is wrong.
func TestReadChannelsErrors(t *testing.T) {
	for want, text := range map[string]string{
		`"tel" has one text, "A"`:        "x,y,tel\n1,2,A\n2,3,A\n3,1,A\n4,2,A\n5,5,A\n",
		`channel "B" has 2 observations`: "x,y,tel\n1,2,A\n2,3,B\n3,1,A\n4,2,A\n5,5,B\n",
		`instrument`:                     "x,y,t\n1,2,A\n2,3,B\n3,1,A\n4,2,A\n5,5,B\n",
	} {
		path := filepath.Join(t.TempDir(), "c.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		column := "tel"
		if want == "instrument" {
			column = "instrument"
		}
		if _, err := ReadChannels(path, column, "", ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestExposedChannel: exposures are longer than the scale of f; its variance and scale are still learnt. A model that takes
// averages for values at one time learns neither.
func TestExposedChannel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	const fine, long, n = 40, 2.0, 150 // steps of a walk within an exposure
	var b strings.Builder
	b.WriteString("t,flux,length\n")
	state, x := rnd.NormFloat64(), 0.
	for range n {
		var sum float64
		for range fine { // Laplace of variance 1 and lengthscale 2
			keep := math.Exp(-long / fine / 2)
			state = keep*state + math.Sqrt(1-keep*keep)*rnd.NormFloat64()
			sum += state
		}
		fmt.Fprintf(&b, "%.6f,%.6f,%g\n", x+long/2, 5+sum/fine+0.05*rnd.NormFloat64(), long)
		x += long
	}
	path := filepath.Join(t.TempDir(), "lc.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var nll [3]float64
	for i, exposure := range []string{"length", "2", ""} {
		c, err := ReadChannels(path, "", exposure, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := FitChannels(t.Context(), c, ChannelOptions{Kernels: []string{"Laplace"}})
		if err != nil {
			t.Fatal(err)
		}
		nll[i] = a.Best().NLL
		v := a.Best().Model.Kernel.Params()[0].Value
		if se := a.Best().StdErr[0]; exposure != "" && !(math.Abs(v-1) < 4*se && se < 0.7) {
			t.Errorf("exposure %q: variance %v ± %v, want 1", exposure, v, se)
		}
		if _, err := a.Forecast(3); err != nil {
			t.Error(err)
		}
	}
	if math.Abs(nll[0]-nll[1]) > 1e-3 || !(nll[0] < nll[2]) {
		t.Errorf("NLL %v", nll)
	}
	for exposure, want := range map[string]string{"2.5": "overlap", "-1": "the exposure is -1", "none": "none"} {
		c, err := ReadChannels(path, "", exposure, ReadOptions{})
		if err == nil {
			_, err = FitChannels(t.Context(), c, ChannelOptions{Kernels: []string{"Laplace"}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("exposure %q: %v", exposure, err)
		}
	}
}
