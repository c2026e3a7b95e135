// Package dataset reads time series for Gaussian-process learning: recordings in the SILSO, EDF and CSV formats, each into a
// [Series], and finds or downloads the recordings that the experiments use.
//
//	co2 := dataset.CO2()                                        // shipped: works with no network
//	sun, err := dataset.Sunspots(ctx, dataset.Options{})        // found on disk, else downloaded
//	own, err := dataset.ReadCSVFile("tide.csv", dataset.CSVOptions{X: "date", Y: "level"})
//	std, scaling := own.Standardize()                           // y centred, unit sample standard deviation
//
// # Where a recording is looked for
//
// [Find] looks, in this order, at the explicit path in [Options], the folder that the environment variable GPPL_DATA names,
// the folder data/ under the current folder and under each folder above it that holds a go.mod, and last at the publisher,
// from whom it downloads into data/. data/README.md lists the recordings with their sources, licences and units.
//
// # Errors
//
// Whatever a file or a server contains, a reader returns an error and never panics; what it allocates is bounded by the size
// of what it reads, not by what a header claims. Misuse by the caller, such as an index out of range, panics with a message
// that names the argument.
package dataset
