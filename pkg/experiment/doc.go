// Package experiment defines the experiments of the paper as values.
//
// A [Trial] says what is trained, on what and how. A [Runner] runs trials on all processors and stores each [Outcome] in a
// [Store] as soon as it is done, so that a run that was killed can be resumed. E1, E2, Sunspots and EEG list the trials of the
// paper's experiments, under its own protocol and under this project's. [Ledger] compares every published number and claim with
// what was stored.
package experiment
