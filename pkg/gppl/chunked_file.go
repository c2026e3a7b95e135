package gppl

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
)

// pairBytes is the size of an observation in a file.
const pairBytes = 16

// FileChunks returns the chunks of a file of pairs t, y, each a little-endian float64: what
// WriteChunks writes, and
//
//	np.column_stack([t, y]).astype("<f8").tofile(path)
//
// The file is opened again for every pass.
func FileChunks(path string) Chunks {
	return func() iter.Seq2[Chunk, error] {
		return func(yield func(Chunk, error) bool) {
			in, err := os.Open(path)
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			defer in.Close()
			const rows = 1 << 13
			bytes := make([]byte, rows*pairBytes)
			chunk := Chunk{make([]float64, rows), make([]float64, rows)}
			for {
				n, err := io.ReadFull(in, bytes)
				if err == io.EOF {
					return
				}
				if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
					yield(Chunk{}, err)
					return
				}
				if n%pairBytes != 0 {
					yield(Chunk{}, fmt.Errorf("%s ends in the middle of a pair: its size is no multiple of %d bytes", path, pairBytes))
					return
				}
				part := Chunk{chunk.T[:n/pairBytes], chunk.Y[:n/pairBytes]}
				for i := range part.T {
					part.T[i] = math.Float64frombits(binary.LittleEndian.Uint64(bytes[i*pairBytes:]))
					part.Y[i] = math.Float64frombits(binary.LittleEndian.Uint64(bytes[i*pairBytes+8:]))
				}
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// WriteChunks writes a series in the format that FileChunks reads, so that a text file is
// parsed once and not in every pass. It checks nothing; NewChunked does.
func WriteChunks(w io.Writer, series iter.Seq2[Chunk, error]) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var pair [pairBytes]byte
	for chunk, err := range series {
		if err != nil {
			return err
		}
		if len(chunk.T) != len(chunk.Y) {
			return fmt.Errorf("gppl: WriteChunks: %d times and %d observations", len(chunk.T), len(chunk.Y))
		}
		for i, t := range chunk.T {
			binary.LittleEndian.PutUint64(pair[:], math.Float64bits(t))
			binary.LittleEndian.PutUint64(pair[8:], math.Float64bits(chunk.Y[i]))
			if _, err := out.Write(pair[:]); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
