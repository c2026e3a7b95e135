package mixed

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// Packet holds columns of C^½Φ that represent the cosines or the sines of a band.
type Packet struct {
	At, Count int  // place and number of its frequencies among the coefficients
	sin       bool // its waves are sines
	Features  []fourier.Feature
	First     int            // index of its first column among the term's
	U, Z      blas64.General // U and C^½U, Count×Rank
}

// Rank returns the number of columns.
func (p *Packet) Rank() int { return p.U.Cols }

// leastSaving is the least share of the columns of a band that packets must save to pay for their making.
const leastSaving = 0.15

// WidestPacket bounds the frequencies of a packet: finding their span takes their number cubed, without the speed of matrix
// products.
const WidestPacket = 256

// Packed estimates the columns of the bands of a term, given the ratio of the stretch to the period, and whether packets pay.
// A band that is narrower than the widest has less weight to resolve.
func Packed[B waves.BandLike](bands []B, share, eps float64) (columns float64, worth bool) {
	var whole, rank, widest float64
	for _, b := range bands {
		count, _ := both(waves.Band(b))
		widest = max(widest, count)
	}
	for _, b := range bands {
		count, sides := both(waves.Band(b))
		whole += sides * count
		rank += sides * min(count, count*share+(1.5-math.Log(eps)/5)*count*count/(widest*widest))
	}
	if rank > (1-leastSaving)*whole || widest > 2*WidestPacket {
		return whole, false
	}
	return rank, true
}

// both returns the number of frequencies of both signs about the middle of a band, and the number of columns for each.
func both(b waves.Band) (count, columns float64) {
	if b.From == 0 {
		return float64(2*b.To + 1), 1
	}
	return float64(b.Count()), 2
}

// Pack sets the columns to packets that represent the term between times at most length apart, except for the share left of
// its variance.
func (w *Term) Pack(ctx context.Context, length, left float64) {
	limit := left / float64(2*len(w.Bands))
	w.work = dense.Resize(w.work, len(w.Bands)+1)
	at := 0
	w.starts = w.starts[:0]
	for _, b := range w.Bands {
		w.starts = append(w.starts, at)
		at += b.Count()
	}
	turn := math.Pi * length / w.Period // half of the angle of one frequency over the stretch
	zero := 0
	if w.Bands[0].From == 0 {
		zero = 1 // frequency 0 has no sine
	}
	parallel.Within(ctx, len(w.Bands)+zero, func(i int) {
		if i == len(w.Bands) {
			w.work[i].span(w.Coef[1:w.Bands[0].To+1], turn, 1, false, true, limit)
			return
		}
		b, c := w.Bands[i], w.Coef[w.starts[i]:]
		c = c[:b.Count()]
		if b.From == 0 {
			w.work[i].span(c, turn, 0, true, false, limit)
			return
		}
		w.work[i].span(c, turn, -0.5*float64(b.To-b.From), true, true, limit)
	})
	for i, b := range w.Bands {
		s, count := &w.work[i], b.Count()
		w.add(Packet{At: w.starts[i], Count: count, U: s.u, Z: s.z}, b.From)
		switch {
		case b.From > 0:
			w.add(Packet{At: w.starts[i], Count: count, sin: true, U: s.u, Z: s.z}, b.From)
		case b.To > 0:
			s = &w.work[len(w.Bands)]
			w.add(Packet{At: 1, Count: b.To, sin: true, U: s.u, Z: s.z}, 1)
		}
	}
}

func (w *Term) add(p Packet, from int) {
	start := len(w.packed)
	for m := range p.Count {
		feature := fourier.Cos(from + m)
		if p.sin {
			feature = fourier.Sin(from + m)
		}
		w.packed = append(w.packed, feature)
	}
	p.Features = w.packed[start:len(w.packed):len(w.packed)]
	p.First = w.Size
	w.Size += p.Rank()
	w.Packets = append(w.Packets, p)
}

// spanning is the working memory for one U.
type spanning struct {
	u, z    blas64.General
	vectors []float64 // C^½φ at some times, minus the part that U explains
	left    []float64 // squares of their lengths
	columns []float64 // columns of U
}

// span sets u and z for waves with the weights c, with cosines, sines, or both, up to the limit. Wave m = 0, 1, … has the
// angle turn·(m + shift) at the end of the stretch.
func (s *spanning) span(c []float64, turn, shift float64, cos, sin bool, limit float64) {
	q := len(c)
	// Chebyshev's points on half of the stretch resolve q·turn, the highest angle; q·turn/2 points are needed.
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

// take adds the remainder of a vector as a column, and subtracts its projection from all vectors.
func (s *spanning) take(i, q int) {
	from := len(s.columns)
	s.columns = append(s.columns, s.vectors[i*q:][:q]...)
	own := dense.Vec(s.columns[from:])
	for before := 0; before < from; before += q { // removes the remains of earlier columns that rounding has left
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
