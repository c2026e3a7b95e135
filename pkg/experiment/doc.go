// Package experiment defines the experiments of the paper as values.
//
// A [Survey] runs trials, of whatever type, on all processors and stores each result as soon as it is there, so that a run that
// was killed can be resumed. A [Trial] of the paper names the loss, the data and the training; its result is an [Outcome]. E1,
// E2, Sunspots and EEG list the trials of the paper's experiments, under its own protocol and under this project's. [Ledger]
// compares every published number and claim with what was stored.
package experiment
