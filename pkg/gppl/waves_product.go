package gppl

// waverOf returns the kernel as waves: a Waver itself, or SE times Periodic, which is a LocPer with parameters in another order.
func waverOf(k Kernel) (Waver, bool) {
	if w, ok := k.(Waver); ok {
		return w, true
	}
	p, ok := k.(Product)
	if !ok || len(p.parts) != 2 {
		return nil, false
	}
	for i, part := range p.parts {
		se, smooth := part.(SE)
		periodic, turns := p.parts[1-i].(Periodic)
		if smooth && turns {
			return carriedPeriodic{
				Product: p, as: LocPer{se.Variance * periodic.Variance, se.Lengthscale, periodic.Period, periodic.Lengthscale},
				smooth: p.offset[i], turns: p.offset[1-i],
			}, true
		}
	}
	return nil, false
}

// carriedPeriodic is SE times Periodic.
type carriedPeriodic struct {
	Product
	as            LocPer
	smooth, turns int // of the first parameters of SE and Periodic
}

func (k carriedPeriodic) Bands(dst []Band, span, eps float64) (float64, []Band) {
	return k.as.Bands(dst, span, eps)
}

func (k carriedPeriodic) Coefficients(dst []float64, period float64, bands []Band) {
	k.as.Coefficients(dst, period, bands)
}

func (k carriedPeriodic) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	var own [4]float64 // variance, lengthscale, period, periodic lengthscale
	k.as.ContractCoefficients(own[:], w, period, bands)
	grad[k.smooth] += own[0]
	grad[k.smooth+1] += own[1]
	grad[k.turns] += own[0]
	grad[k.turns+1] += own[3]
	grad[k.turns+2] += own[2]
}

func (k carriedPeriodic) PeriodParam() int { return -1 }
