package experiment

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
)

// figureFiles holds what scripts/read_figures.py read from the vector figures in the authors' repository. The head of each
// file describes its contents.
//
//go:embed figures/figure1.csv figures/figure2.csv figures/figure3.csv
var figureFiles embed.FS

// PublishedCurve is one curve, or one set of markers, of a figure of the paper.
type PublishedCurve struct {
	Panel string // design of Figure 1, optimiser of Figure 2, n of Figure 3
	Name  string // k, or K for its own spectrum; the method of Figures 2 and 3
	X, Y  []float64
}

// PublishedFigure returns the curves of Figure 1, 2 or 3: eigenvalues against their number, the variance of a noisy observation
// against x, the exact NLL against seconds.
func PublishedFigure(number int) ([]PublishedCurve, error) {
	file, err := figureFiles.Open(fmt.Sprintf("figures/figure%d.csv", number))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var curves []PublishedCurve
	for _, row := range rows[1:] {
		i := slices.IndexFunc(curves, func(c PublishedCurve) bool { return c.Panel == row[0] && c.Name == row[1] })
		if i < 0 {
			i = len(curves)
			curves = append(curves, PublishedCurve{Panel: row[0], Name: row[1]})
		}
		x, errX := strconv.ParseFloat(row[len(row)-2], 64)
		y, errY := strconv.ParseFloat(row[len(row)-1], 64)
		if errX != nil || errY != nil {
			return nil, fmt.Errorf("experiment: figure %d: %q is no point", number, row)
		}
		curves[i].X, curves[i].Y = append(curves[i].X, x), append(curves[i].Y, y)
	}
	return curves, nil
}

// mean is the mean of the curve over x, by the trapezoidal rule.
func (c PublishedCurve) mean() float64 {
	var area float64
	for i := 1; i < len(c.X); i++ {
		area += 0.5 * (c.Y[i] + c.Y[i-1]) * (c.X[i] - c.X[i-1])
	}
	return area / (c.X[len(c.X)-1] - c.X[0])
}

// Figure2Published returns the mean variance of each curve of Figure 2 divided by ML's. Keys are optimiser and method, such
// as "AdamVFE".
func Figure2Published() map[string]float64 {
	curves, err := PublishedFigure(2)
	if err != nil {
		panic(err) // the files are embedded
	}
	mean := map[string]float64{}
	for _, c := range curves {
		mean[c.Panel+c.Name] = c.mean()
	}
	ratio := map[string]float64{}
	for _, c := range curves {
		ratio[c.Panel+c.Name] = mean[c.Panel+c.Name] / mean[c.Panel+ML]
	}
	return ratio
}
