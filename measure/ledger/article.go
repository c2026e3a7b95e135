package main

import (
	"context"
	"path/filepath"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/exhibit"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// article writes reproduction.md and its figures into a folder.
func article(e *experiment.Evidence, rows []experiment.Row, dir string) error {
	text, err := experiment.Article(rows)
	if err != nil {
		return err
	}
	for name, draw := range map[string]func() (*viz.Figure, error){
		"e1":       func() (*viz.Figure, error) { return exhibit.E1NotebookStrips(e.E1, e.Published) },
		"sunspots": func() (*viz.Figure, error) { return exhibit.SunspotsStrips(e.Sunspots, e.Published) },
	} {
		f, err := draw()
		if err != nil {
			return err
		}
		if err := f.SaveImages(filepath.Join(dir, "reproduction-"+name+".svg")); err != nil {
			return err
		}
	}
	return files.WriteBytes(context.Background(), filepath.Join(dir, "reproduction.md"), []byte(text))
}
