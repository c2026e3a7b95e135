package gppl_test

import (
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Roles survive composition.
func TestRoles(t *testing.T) {
	k := gppl.Add(gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}),
		gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}, gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1, PeriodicLengthscale: 1}, gppl.White{Variance: 1})
	var roles []gppl.Role
	for _, p := range (gppl.Model{Kernel: k, Noise: 1}).Params() {
		roles = append(roles, p.Role)
	}
	v, l, p, s, n := gppl.RoleVariance, gppl.RoleLengthscale, gppl.RolePeriod, gppl.RoleShape, gppl.RoleNoise
	if want := []gppl.Role{v, l, v, s, p, v, l, s, v, l, p, s, n, n}; !slices.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
}
