package dense

import "gonum.org/v1/gonum/floats"

// reflectEach does as Reflect, one result after the other.
func reflectEach(a, b []float64, k float64, x, y []float64) {
	floats.AddScaledTo(a, x, k, y)
	floats.AddScaledTo(b, y, k, x)
}
