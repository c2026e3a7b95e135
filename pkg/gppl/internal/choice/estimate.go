// Package choice chooses among engines that compute the same: the cheapest that keeps a tolerance, by their estimates of an
// evaluation.
package choice

import (
	"fmt"
	"runtime"
	"strings"
)

// Estimate is what an engine expects of one evaluation of value and gradient.
type Estimate struct {
	Reason  Reason  // why the engine cannot do it, if it cannot
	Seconds float64 // of work, predicted
	Setup   float64 // seconds still to be paid once
	Bytes   float64 // that it keeps and works in, beside the data; what is there already counts too
	Err     float64 // bound on the error of the value, in nats
	// Moved is the part of Err that comes of a matrix A other than that of the model. To first order it does not change what the
	// mean explains (the coefficients are at their optimum), so that it grows with the form alone, not with what cancels in it.
	Moved float64

	Windowed bool // a window cuts the kernel: features have weights of both signs
}

// Reason says why an engine cannot do something; it is formatted only when it is read. The zero value is no reason.
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

// Because returns a reason whose format has room for a value.
func Because(format string, value float64) Reason { return Reason{format, value} }

// Cannot is the estimate of an engine that does not take a kernel.
func Cannot(why string) Estimate { return Estimate{Reason: Reason{Format: why}} }

// Within is the estimate under a limit of memory, in bytes: above it, the engine cannot do it.
func (f Estimate) Within(limit float64) Estimate {
	if !f.Reason.Given() && f.Bytes > limit {
		f.Reason = Because("it would take %.3g GB", f.Bytes/1e9)
	}
	return f
}

// EvaluationsAhead is the number of evaluations over which set-up is spread, whether or not it is done already: what an
// evaluation returns, and so its engine, does not depend on those before it.
const EvaluationsAhead = 30

// Cost is the time by which engines are compared.
func (f Estimate) Cost() float64 { return f.Seconds + f.Setup/EvaluationsAhead }

// DefaultMemory is the Memory of Limits unless a user gives another.
const DefaultMemory = 12 << 30

// Limits are what engines are chosen by, beside the tolerance.
type Limits struct {
	Engine  string  // the only one to choose; "" for any
	Memory  float64 // bytes that an evaluation may take
	Seconds float64 // that an evaluation may be predicted to take
}

// Limited is the estimate under the limits of memory and time.
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
