package gppl

import (
	"fmt"
	"strings"
)

// forecast is what an engine expects of one evaluation of value and gradient.
type forecast struct {
	reason  reason  // why the engine cannot do it, if it cannot
	seconds float64 // of work, predicted
	setup   float64 // seconds still to be paid once
	bytes   float64 // that it keeps and works in, beside the data; what is there already counts too
	err     float64 // bound on the error of the value, in nats

	windowed bool // a window cuts the kernel: features have weights of both signs
}

// reason says why an engine cannot do something; it is formatted only when it is read.
// The zero value is no reason.
type reason struct {
	format string
	value  float64
}

func (r reason) String() string {
	if strings.Contains(r.format, "%") {
		return fmt.Sprintf(r.format, r.value)
	}
	return r.format
}

// cannot is the forecast of an engine that does not take a kernel.
func cannot(why string) forecast { return forecast{reason: reason{format: why}} }

// within is the forecast under a limit of memory, in bytes: above it, the engine cannot do it.
func (f forecast) within(limit float64) forecast {
	if f.reason == (reason{}) && f.bytes > limit {
		f.reason = reason{"it would take %.3g GB", f.bytes / 1e9}
	}
	return f
}

// MemoryError is the error of work that was refused before it began, since its forecast of memory is above a limit.
type MemoryError struct {
	What          string  // that would take it: "the dense engine"
	Needed, Limit float64 // bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("gppl: %s would take %s of memory, and the limit is %s", e.What, FormatBytes(e.Needed), FormatBytes(e.Limit))
}

// FormatBytes writes a number of bytes with three digits, as in 3.2 GB.
func FormatBytes(bytes float64) string {
	unit := "bytes"
	for _, larger := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		if bytes < 999.5 {
			break
		}
		bytes, unit = bytes/1e3, larger
	}
	return fmt.Sprintf("%.3g %s", bytes, unit)
}

// flopRate is what a core is reckoned to do in matrix products, in flops a
// second, and pairSeconds what evaluating one covariance and its derivatives
// takes. They only have to be right to a factor: engines differ by powers of n.
const (
	flopRate    = 9e9
	pairSeconds = 12e-9
)

// evaluationsAhead is the number of evaluations over which set-up is spread.
const evaluationsAhead = 30

func (f forecast) cost() float64 { return f.seconds + f.setup/evaluationsAhead }

// rounding is the measured error of factorising A = K + σ²I, per observation:
// the condition v/σ² times the rounding of one operation, with a margin.
func rounding(v, noise float64) float64 { return 16 * 0x1p-53 * (1 + v/noise) }

// gramRounding is the same for S, whose entries are at most s, per projection.
func gramRounding(s, noise float64) float64 { return 2 * 0x1p-53 * (1 + s/noise) }

// phases is the contribution of rounded distances to an error bound, per term: the phase
// πr/p of a periodic kernel has the relative error of r, and so the absolute one of
// 2⁻⁵³·πr/p. norm is that of a matrix of such errors, over one of them. 6 is measured:
// errors add up to 2.4 in the value, and to 4 in the derivative in the period, where
// they hardly vary from one distance to the next.
func phases(k Kernel, span, noise, norm float64) float64 {
	s := steepness(k, span)
	if s <= 8 { // within what rounding allows already
		return 0
	}
	return 6 * 0x1p-53 * s * norm * variance(k) / noise
}
