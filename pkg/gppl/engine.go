package gppl

// Engines do the arithmetic behind the losses for one set of inputs. They see
// a kernel's covariances and nothing of how they are used; a loss sees an
// engine and nothing of how it computes.

// exactEngine answers for A = K + σ²I.
type exactEngine interface {
	// factorise prepares A for the calls below. The jitter is what had to be
	// added to the diagonal.
	factorise(k Kernel, noise float64) (jitter float64, err error)
	// logDet returns log|A|.
	logDet() float64
	// solve sets dst = A⁻¹b.
	solve(dst, b []float64)
	// contract sets grad[p] = ½⟨A⁻¹ − ααᵀ, ∂A/∂log θ_p⟩ for the parameters of
	// the factorised kernel and, last, for log σ².
	contract(grad, alpha []float64)
	name() string
}

// projectedEngine answers for S₀ = ΩᵀKΩ, noise apart.
type projectedEngine interface {
	// gram sets s (k×k, row-major, symmetric) to ΩᵀKΩ.
	gram(s []float64, k Kernel)
	// contract sets grad[p] = ⟨V, Ωᵀ(∂K/∂log θ_p)Ω⟩ for symmetric V (k×k).
	contract(grad, v []float64, k Kernel)
	name() string
}

// newExactEngine and newProjectedEngine are the one place where an engine is
// chosen.
func newExactEngine(x Inputs) exactEngine { return newDenseExact(x) }

func newProjectedEngine(x Inputs, p *Projection) projectedEngine {
	return newDenseProjected(x, p)
}
