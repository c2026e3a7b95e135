// Package experiment has the experiments of the paper as values.
//
// A [Trial] says what is trained on what and how; a [Runner] does many of them on all processors and stores each [Outcome] as it
// ends, in a [Store] from which a run that was killed goes on and from which reports are made. E1, E2, Sunspots and EEG list the
// trials of the paper's experiments, under its own protocol and under this project's; [Ledger] holds every published number and
// claim against what was stored.
package experiment
