package main

import (
	"context"
	"path/filepath"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/exhibit"
	"github.com/projected-likelihood/gppl/pkg/experiment/ledger"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// article writes reproduction.md with its figures, and errata.md, into a folder.
func article(e *experiment.Evidence, rows []ledger.Row, results, dir string) error {
	text, err := ledger.Article(rows)
	if err != nil {
		return err
	}
	errata, err := ledger.ErrataPage(rows)
	if err != nil {
		return err
	}
	for name, draw := range drawings(e, results) {
		f, err := draw()
		if err != nil {
			return err
		}
		if err := f.SaveImages(filepath.Join(dir, "reproduction-"+name+".svg")); err != nil {
			return err
		}
	}
	if err := files.WriteBytes(context.Background(), filepath.Join(dir, "errata.md"), []byte(errata)); err != nil {
		return err
	}
	return files.WriteBytes(context.Background(), filepath.Join(dir, "reproduction.md"), []byte(text))
}

// drawings are the figures of the article by name, from the stored results in a folder.
func drawings(e *experiment.Evidence, results string) map[string]func() (*viz.Figure, error) {
	return map[string]func() (*viz.Figure, error){
		"figure1": func() (*viz.Figure, error) {
			spectra, err := theory.Read[theory.SpectrumResults](filepath.Join(results, "spectrum.json"))
			if err != nil {
				return nil, err
			}
			return exhibit.Figure1(spectra)
		},
		"figure2":  func() (*viz.Figure, error) { return exhibit.Figure2(e.E1) },
		"figure3":  func() (*viz.Figure, error) { return exhibit.Figure3(e.E2, e.Published, experiment.Paper) },
		"e1":       func() (*viz.Figure, error) { return exhibit.E1NotebookStrips(e.E1, e.Published) },
		"sunspots": func() (*viz.Figure, error) { return exhibit.SunspotsStrips(e.Sunspots, e.Published) },
	}
}
