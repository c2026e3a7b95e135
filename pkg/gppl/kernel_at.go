package gppl

import "slices"

// kernelAt remembers a kernel at the parameters it was last asked for.
type kernelAt struct {
	family Kernel
	theta  []float64
	kernel Kernel
}

func (k *kernelAt) at(theta []float64) Kernel {
	if k.kernel == nil || !slices.Equal(theta, k.theta) {
		k.theta = append(k.theta[:0], theta...)
		k.kernel = k.family.WithParams(theta)
	}
	return k.kernel
}
