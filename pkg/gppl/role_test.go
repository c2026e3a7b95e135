package gppl_test

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// Roles survive composition.
func TestRoles(t *testing.T) {
	k := gppl.Add(gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}),
		gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}, gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1,
			PeriodicLengthscale: 1}, gppl.White{Variance: 1})
	var roles []gppl.Role
	for _, p := range (gppl.Model{Kernel: k, Noise: 1}).Params() {
		roles = append(roles, p.Role)
	}
	v, l, p, s, n := gppl.RoleVariance, gppl.RoleLengthscale, gppl.RolePeriod, gppl.RoleShape, gppl.RoleNoise
	if want := []gppl.Role{v, l, v, s, p, v, l, s, v, l, p, s, n, n}; !slices.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
}

// tide is a kernel whose period has another name; only its role says what it is.
type tide struct{ gppl.Periodic }

func (k tide) Params() []gppl.Param {
	p := k.Periodic.Params()
	p[2].Name = "time between high waters"
	return p
}
func (k tide) WithParams(theta []float64) gppl.Kernel {
	return tide{k.Periodic.WithParams(theta).(gppl.Periodic)}
}

// TestRolesStart: start values are the same under another name.
func TestRolesStart(t *testing.T) {
	x, y := make([]float64, 200), make([]float64, 200)
	for i := range x {
		x[i] = float64(i)
		y[i] = math.Sin(2*math.Pi*x[i]/12.4) + 0.1*math.Cos(37*x[i])
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	periodic := gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}
	want := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: periodic, Noise: 1}, d))(t).Kernel.(gppl.Periodic)
	got := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: tide{periodic}, Noise: 1}, d))(t).Kernel.(tide)
	if got.Periodic != want || math.Abs(want.Period-12.4) > 0.2 {
		t.Errorf("start %v, under the usual name %v", got.Periodic, want)
	}
}
