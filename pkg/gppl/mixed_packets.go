package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// The waves of a band are nearly dependent on the stretch of time T that the data take of their period P: of q neighbouring
// frequencies about qT/P + 7 combinations count (Landau and Widom 1980). With φ(t) the waves at t, relative to the middle of
// the stretch and of the band, and U orthonormal, the combinations UᵀC^½φ leave
//
//	k(t, t′) − φ(t)ᵀC^½UUᵀC^½φ(t′),  at most max_t |(I − UUᵀ)C^½φ(t)|²,
//
// a covariance, for all pairs within the stretch. U spans the C^½φ(t) at a few t, each of which is where most was left: a
// Cholesky factor of the kernel with pivots, whose residual is known. It is the same for the cosines and the sines of a band,
// but for one that begins at 0: the pairs ±m are one frequency there.

// packet is columns of Φ that stand for cosines or sines of a band.
type packet struct {
	at, count int  // its frequencies among the coefficients
	sin       bool // its waves are sines
	features  []fourier.Feature
	first     int            // of its columns among those of the term
	u         blas64.General // U, count×rank
	z         blas64.General // C^½U
}

// rank returns the number of columns.
func (p *packet) rank() int { return p.u.Cols }

// slopeShare is the share of eps that packets may leave. A derivative, diag(UVUᵀ)/c, lacks products of what they keep with what they leave: it errs
// by the root. With half of eps in place of this share, derivatives in a period were 1.8 times their bound off (TestRandomMeans, case 971).
const slopeShare = 5e-5

// leastSaving is the share of the columns of a band that packets must save to be worth their making.
const leastSaving = 0.15

// widestPacket bounds the frequencies of a packet: to span them takes their number cubed, without the speed of matrix products.
const widestPacket = 256

// packed estimates the columns of the bands of a term, given the length of the stretch over the period, and whether packets
// are worth it. A band that is narrower than the widest has less weight to resolve.
func packed(bands []Band, share, eps float64) (columns float64, worth bool) {
	var whole, rank, widest float64
	for _, b := range bands {
		count, _ := b.both()
		widest = max(widest, count)
	}
	for _, b := range bands {
		count, sides := b.both()
		whole += sides * count
		rank += sides * min(count, count*share+(1.5-math.Log(eps)/5)*count*count/(widest*widest))
	}
	if rank > (1-leastSaving)*whole || widest > 2*widestPacket {
		return whole, false
	}
	return rank, true
}

// both returns the number of frequencies of both signs that a band has about its middle, and how many columns each takes.
func (b Band) both() (count, columns float64) {
	if b.From == 0 {
		return float64(2*b.To + 1), 1
	}
	return float64(b.To - b.From + 1), 2
}

// pack sets the packets of a term whose waves are to represent it between times that are at most length apart, within eps times
// its variance.
func (w *waveTerm) pack(f *mixedFactor, length, eps float64) {
	w.packets, w.packed = w.packets[:0], w.packed[:0]
	limit := eps * variance(w.kernel) / float64(2*len(w.bands))
	w.work = dense.Resize(w.work, len(w.bands)+1)
	at := 0
	w.starts = w.starts[:0]
	for _, b := range w.bands {
		w.starts = append(w.starts, at)
		at += b.To - b.From + 1
	}
	turn := math.Pi * length / w.period // half of the angle of one frequency over the stretch
	zero := 0
	if w.bands[0].From == 0 {
		zero = 1 // its sines are by themselves
	}
	parallel.Within(f.ctx, len(w.bands)+zero, func(i int) {
		if i == len(w.bands) {
			w.work[i].span(w.coef[1:w.bands[0].To+1], turn, 1, false, true, limit)
			return
		}
		b, c := w.bands[i], w.coef[w.starts[i]:]
		c = c[:b.To-b.From+1]
		if b.From == 0 {
			w.work[i].span(c, turn, 0, true, false, limit)
			return
		}
		w.work[i].span(c, turn, -0.5*float64(b.To-b.From), true, true, limit)
	})
	for i, b := range w.bands {
		s := &w.work[i]
		tampered("mixed packets", s.z.Data)
		w.add(packet{at: w.starts[i], count: b.To - b.From + 1, u: s.u, z: s.z}, b.From)
		switch {
		case b.From > 0:
			w.add(packet{at: w.starts[i], count: b.To - b.From + 1, sin: true, u: s.u, z: s.z}, b.From)
		case b.To > 0:
			s = &w.work[len(w.bands)]
			w.add(packet{at: 1, count: b.To, sin: true, u: s.u, z: s.z}, 1)
		}
	}
}

func (w *waveTerm) add(p packet, from int) {
	start := len(w.packed)
	for m := range p.count {
		feature := fourier.Cos(from + m)
		if p.sin {
			feature = fourier.Sin(from + m)
		}
		w.packed = append(w.packed, feature)
	}
	p.features = w.packed[start:len(w.packed):len(w.packed)]
	p.first = w.size
	w.size += p.rank()
	w.packets = append(w.packets, p)
}

// spanning is the working memory of one U.
type spanning struct {
	u, z    blas64.General
	vectors []float64 // C^½φ at some times, less what U explains
	left    []float64 // the squares of their lengths
	columns []float64 // of U
}

// span sets u and z for waves of the weights c: at the angle turn·(m + shift), m = 0, 1, …, of the end of the stretch, with
// cosines, sines, or both, up to the limit.
func (s *spanning) span(c []float64, turn, shift float64, cos, sin bool, limit float64) {
	q := len(c)
	// Chebyshev's points on half of the stretch resolve q·turn/2 of them, q·turn the highest angle.
	times := 8 + int(1.5*float64(q)*turn/math.Pi) + q/8
	s.vectors, s.left, s.columns = s.vectors[:0], s.left[:0], s.columns[:0]
	for i := range times {
		at := turn * math.Sin(0.5*math.Pi*float64(i+1)/float64(times))
		if cos {
			s.sample(c, func(m float64) float64 { return math.Cos(at * (m + shift)) })
		}
		if sin {
			s.sample(c, func(m float64) float64 { return math.Sin(at * (m + shift)) })
		}
	}
	rank := 0
	for ; rank < q; rank++ {
		most := 0
		for i, l := range s.left {
			if l > s.left[most] {
				most = i
			}
		}
		if s.left[most] <= limit {
			break
		}
		s.take(most, q)
	}
	s.u, s.z = dense.Reshape(s.u, q, rank), dense.Reshape(s.z, q, rank)
	for i, v := range c {
		root := math.Sqrt(v)
		for k := range rank {
			u := s.columns[k*q+i]
			s.u.Data[i*rank+k], s.z.Data[i*rank+k] = u, root*u
		}
	}
}

// sample adds the vector C^½φ with entries wave(m).
func (s *spanning) sample(c []float64, wave func(m float64) float64) {
	var square float64
	for m, v := range c {
		x := math.Sqrt(v) * wave(float64(m))
		s.vectors = append(s.vectors, x)
		square += x * x
	}
	s.left = append(s.left, square)
}

// take adds what is left of a vector as a column, and removes it from all vectors.
func (s *spanning) take(i, q int) {
	from := len(s.columns)
	s.columns = append(s.columns, s.vectors[i*q:][:q]...)
	own := dense.Vec(s.columns[from:])
	for before := 0; before < from; before += q { // what rounding has left of the others
		u := dense.Vec(s.columns[before:][:q])
		blas64.Axpy(-blas64.Dot(u, own), u, own)
	}
	blas64.Scal(1/blas64.Nrm2(own), own)
	for j := range s.left {
		v := dense.Vec(s.vectors[j*q:][:q])
		blas64.Axpy(-blas64.Dot(own, v), own, v)
		s.left[j] = blas64.Dot(v, v)
	}
}

// waveRows is the working memory of the waves of a term at some times.
type waveRows struct {
	waves blas64.General // cosines, then sines
	rows  blas64.General // columns of Φ
	work  []float64
}

// fill sets dst to the columns of C^½Φ of a term, a row each, at the points from, from+1, ….
func (w *waveTerm) fill(dst blas64.General, points *fourier.Points, from int, room *waveRows) {
	if len(w.packets) == 0 {
		points.FeatureRows(dst, from, w.features)
		for a, root := range w.root {
			blas64.Scal(root, dense.Row(dst, a))
		}
		return
	}
	at := 0
	next := 0
	for _, b := range w.bands {
		count := b.To - b.From + 1
		room.waves = dense.Reshape(room.waves, 2*count, dst.Cols)
		cos, sin := dense.Rows(room.waves, 0, count), dense.Rows(room.waves, count, count)
		room.work = points.Run(cos, sin, from, b.From, room.work)
		for ; next < len(w.packets) && w.packets[next].at < at+count; next++ {
			p := &w.packets[next]
			waves := cos
			if p.sin {
				waves = sin
			}
			if p.rank() > 0 {
				dense.Gemm(blas.Trans, blas.NoTrans, 1, p.z, dense.Rows(waves, p.at-at, p.count), 0, dense.Rows(dst, p.first, p.rank()))
			}
		}
		at += count
	}
}

// packetSlopes adds the derivatives in the coefficients: with V = ½(I − T⁻¹ − UUᵀ), of the columns of a packet,
// diag(U V Uᵀ)/c. It is an error if a block of T⁻¹ has not the diagonal that is known.
func (f *mixedFactor) packetSlopes(w *waveTerm) error {
	for i := range w.packets {
		p := &w.packets[i]
		rank, first := p.rank(), w.first+p.first
		if rank == 0 {
			continue
		}
		f.block = dense.Reshape(f.block, rank, rank)
		f.inverseBlock(f.block, first)
		tampered("mixed block", f.block.Data)
		for a := range rank {
			d := f.block.Data[a*rank+a]
			if err := verify("a block of an inverse", d, f.diag[first+a], gradientTrust*math.Abs(d)); err != nil {
				return err
			}
			f.block.Data[a*rank+a] -= 1
		}
		u := dense.Rows(f.u, first, rank)
		dense.Gemm(blas.NoTrans, blas.Trans, -0.5, u, u, -0.5, f.block)
		f.along = dense.Reshape(f.along, p.count, rank)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, p.u, f.block, 0, f.along)
		for m := range p.count {
			if c := w.coef[p.at+m]; c > 0 {
				w.slope[p.at+m] += blas64.Dot(dense.Row(p.u, m), dense.Row(f.along, m)) / c
			}
		}
	}
	return nil
}

// inverseBlock sets dst to rows and columns of T⁻¹ from the given one on.
func (f *mixedFactor) inverseBlock(dst blas64.General, first int) {
	p, count := f.features(), dst.Cols
	f.strip = dense.Reshape(f.strip, dense.Tile, count)
	beta := 0.0
	for i := first / dense.Tile; i < dense.Blocks(p); i++ {
		strip := dense.Rows(f.strip, 0, dense.Width(p, i))
		for a := range strip.Rows {
			own := dense.Row(strip, a).Data
			for k := 0; k < count; {
				j, c := (first+k)/dense.Tile, (first+k)%dense.Tile
				width := min(count-k, dense.Tile-c)
				if j > i {
					clear(own[k:])
					break
				}
				t := f.inverse.At(i, j)
				copy(own[k:k+width], t.Data[a*t.Stride+c:])
				if j == i { // above the diagonal the tile is not L⁻¹
					clear(own[k+max(0, min(width, a+1-c)) : k+width])
				}
				k += width
			}
		}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, strip, strip, beta, dst)
		beta = 1
	}
}
