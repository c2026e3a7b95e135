// Package choice chooses among engines that compute the same quantity: the cheapest that keeps a tolerance, by their estimates
// of an evaluation.
package choice

import (
	"fmt"
	"runtime"
	"strings"
)

// Estimate holds the cost and the error that an engine expects for one evaluation of value and gradient.
type Estimate struct {
	Reason  Reason  // why the engine cannot do it; zero if it can
	Seconds float64 // estimated seconds of work
	Setup   float64 // seconds of set-up, which is done once
	Bytes   float64 // memory beside the data, in bytes, including memory in use already
	Err     float64 // bound on the error of the value, in nats
	// Moved is the part of Err that comes from a matrix A other than the model's. To first order it does not change the part
	// that the mean explains (the coefficients are at their optimum), so it grows with the form alone, not with the terms that
	// cancel in it.
	Moved float64

	Windowed bool // a window cuts the kernel: features have weights of both signs
}

// Reason says why an engine cannot do something; it is formatted only when read. The zero value means no reason.
type Reason struct {
	Format string
	Value  float64
}

// Given reports whether there is a reason.
func (r Reason) Given() bool { return r != (Reason{}) }

func (r Reason) String() string {
	if strings.Contains(r.Format, "%") {
		return fmt.Sprintf(r.Format, r.Value)
	}
	return r.Format
}

// Because returns a reason whose format contains a verb for a value.
func Because(format string, value float64) Reason { return Reason{format, value} }

// Cannot returns the estimate of an engine that does not support a kernel.
func Cannot(why string) Estimate { return Estimate{Reason: Reason{Format: why}} }

// Within returns the estimate under a limit of memory, in bytes: above it, the engine cannot do the evaluation.
func (f Estimate) Within(limit float64) Estimate {
	if !f.Reason.Given() && f.Bytes > limit {
		f.Reason = Because("it would take %.3g GB", f.Bytes/1e9)
	}
	return f
}

// EvaluationsAhead is the number of evaluations over which the cost of set-up is spread, whether or not set-up is done: the
// result of an evaluation, and so its engine, must not depend on earlier ones.
const EvaluationsAhead = 30

// Cost returns the seconds by which engines are compared.
func (f Estimate) Cost() float64 { return f.Seconds + f.Setup/EvaluationsAhead }

// DefaultMemory is the Memory of Limits unless a user gives another.
const DefaultMemory = 12 << 30

// Limits restrict the choice of engines, beside the tolerance.
type Limits struct {
	Engine  string  // the only engine to choose; "" for any
	Memory  float64 // limit on the memory of an evaluation, in bytes
	Seconds float64 // limit on the estimated time of an evaluation, in seconds
}

// Limited returns the estimate under the limits of memory and time.
func (o *Limits) Limited(f Estimate) Estimate {
	if f = f.Within(o.Memory); !f.Reason.Given() && f.Cost() > o.Seconds {
		f.Reason = Because("it would take %.3g s", f.Cost())
	}
	return f
}

// FlopRate is the assumed speed of a core in matrix products, in flops a second. In WebAssembly, which has no assembly, products
// take eight to eleven times as long as on amd64, and a filter two to three times (BenchmarkNLL with engine=dense/n=1000 and with
// engine=auto/n=3319/irregular/kernel=Matern32; docs/engines.md has the commands). Only the ratio decides between engines.
var FlopRate = func() float64 {
	if runtime.GOARCH == "wasm" {
		return 9e9 / 4
	}
	return 9e9
}()
