package gppl_test

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// TestKernelOfOnesOwn holds the documentation's kernel to what it advises.
func TestKernelOfOnesOwn(t *testing.T) { gppltest.CheckKernel(t, Wave{Variance: 1.3, Period: 2.1}) }
