//go:build openblas

package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/netlib/blas/netlib"
)

// Built with -tags openblas, all matrix products go to the system's OpenBLAS
// through cgo. The tiles are spread over the processors already, so run it with
// OPENBLAS_NUM_THREADS=1:
//
//	CGO_LDFLAGS=-lopenblas OPENBLAS_NUM_THREADS=1 go test -tags openblas ./pkg/gppl
func init() { blas64.Use(netlib.Implementation{}) }
