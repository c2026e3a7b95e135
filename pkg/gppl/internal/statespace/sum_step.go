package statespace

// One step of a sweep BySum: the transition of its state and an observation, in both directions.

// gain sets k = Ph/s for input i.
func (f *Filter) gain(i int) {
	d := f.dim
	cov := f.cov[i*d*d:][:d*d]
	for a := range d {
		f.k[a] = cov[a*d] * f.inv[i]
	}
}

// update sets k, and cov = P − s·k·kᵀ, the covariance after observation i.
func (f *Filter) update(cov []float64, i int) {
	f.gain(i)
	f.condition(cov, f.cov[i*f.dim*f.dim:], f.noiseAt(i))
}

// condition sets cov = P − s·k·kᵀ, where P is the covariance before an observation with this noise variance. Its first row and
// column are the noise variance times k. k must be set.
func (f *Filter) condition(cov, p []float64, noise float64) {
	d := f.dim
	for a, k := range f.k {
		row, h := cov[a*d:][:d], p[:d]
		for b, v := range p[a*d:][:d] {
			row[b] = v - k*h[b]
		}
		row[0] = noise * k
	}
	for a, k := range f.k {
		cov[a] = noise * k
	}
}

// move sets after = m + k·e: a mean after an observation. k must be set.
func (f *Filter) move(after, m []float64, e float64) {
	for a, k := range f.k {
		after[a] = m[a] + k*e
	}
}

// transitions sets block, q and phi for step i.
func (f *Filter) transitions(i int) {
	for c, comp := range f.cs {
		s := &f.steps[c]
		comp.transition(f.block[c], f.q[c], s.a[i], s.e[i], s.g[i])
	}
	f.assemble()
}

// jump sets block, q and phi for a gap, which may be infinite.
func (f *Filter) jump(gap float64) {
	for c, comp := range f.cs {
		comp.over(f.block[c], f.q[c], gap)
	}
	f.assemble()
}

// assemble sets phi from block, see embed. Its differences are between propagators, before they multiply anything large.
func (f *Filter) assemble() {
	d := f.dim
	for c, o := range f.first {
		n, b := f.cs[c].dim(), f.block[c]
		for i := range n {
			copy(f.phi[(o+i)*d+o:][:n], b[i*n:][:n])
		}
		if c > 0 {
			copy(f.phi[o:][:n], b[:n])
			f.phi[o] -= f.block[0][0]
		}
	}
}

// forth sets dst = Φx.
func (f *Filter) forth(dst, x []float64) {
	for i, end := range f.until {
		var v float64
		row := f.phi[i*f.dim:][:end]
		for j := i; j < end; j++ {
			v += row[j] * x[j]
		}
		dst[i] = v
	}
}

// back sets dst = Φᵀx.
func (f *Filter) back(dst, x []float64) {
	clear(dst)
	for i, end := range f.until {
		row, v := f.phi[i*f.dim:][:end], x[i]
		for j := i; j < end; j++ {
			dst[j] += row[j] * v
		}
	}
}

// spread sets cov = ΦPΦᵀ + Q. It uses x.
func (f *Filter) spread(cov, p []float64) {
	d := f.dim
	for i := range d { // x = PΦᵀ, row by row
		f.forth(f.x[i*d:][:d], p[i*d:][:d])
	}
	for i, end := range f.until { // Φx, the lower triangle
		row := cov[i*d:][:i+1]
		clear(row)
		for j := i; j < end; j++ {
			addScaled(row, f.phi[i*d+j], f.x[j*d:])
		}
	}
	mirror(cov, d)
	for c, o := range f.first {
		n, q := f.cs[c].dim(), f.q[c]
		for i := range n {
			for j := range n {
				cov[(o+i)*d+o+j] += q[i*n+j]
			}
			if c > 0 {
				cov[o+i] += q[i]
				cov[(o+i)*d] += q[i]
			}
		}
		if c > 0 {
			cov[0] += q[0]
		}
	}
}

// gather sets dst = ΦᵀNΦ; dst may be n. It uses x.
func (f *Filter) gather(dst, n []float64) {
	d := f.dim
	for i := range d { // x = NΦ, row by row
		f.back(f.x[i*d:][:d], n[i*d:][:d])
	}
	clear(dst)
	for j, end := range f.until { // Φᵀx, the lower triangle
		for i := j; i < end; i++ {
			addScaled(dst[i*d:][:i+1], f.phi[j*d+i], f.x[j*d:])
		}
	}
	mirror(dst, d)
}

// inform takes r from after observation i, of error e, to before it, and returns α_i. k must be set.
func (f *Filter) inform(r []float64, e float64, i int) (alpha float64) {
	alpha = e * f.inv[i]
	for a, k := range f.k {
		alpha -= k * r[a]
	}
	r[0] += alpha
	return alpha
}

// observe sets k, takes N from after observation i to before it and returns (A⁻¹)_ii.
func (f *Filter) observe(i int) (diag float64) {
	d := f.dim
	f.gain(i)
	is := f.inv[i]
	c := f.noiseAt(i) * is // 1 − k₁

	// u = N·k without N's first column; its own first entry is not used.
	head, first := f.n[:d], f.n[0]
	var cross, quad float64 // Σ k_a·N₁ₐ and Σ k_a·u_a over a > 1
	for a := 1; a < d; a++ {
		var u float64
		row := f.n[a*d:][:d]
		for b := 1; b < d; b++ {
			u += row[b] * f.k[b]
		}
		cross += f.k[a] * row[0]
		quad += f.k[a] * u
		f.w[a] = u
	}
	k := f.k[0]
	diag = is + k*(k*first+2*cross) + quad
	head[0] = is + c*(c*first-2*cross) + quad
	for a := 1; a < d; a++ {
		v := c*head[a] - f.w[a]
		head[a], f.n[a*d] = v, v
	}
	return diag
}
