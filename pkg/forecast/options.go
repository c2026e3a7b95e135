package forecast

import "github.com/projected-likelihood/gppl/pkg/forecast/search"

// Options say how models are searched and trained. The zero value is recommended.
type Options = search.Options

// Progress reports how far a search, or a test of the past, has come.
type Progress = search.Progress
