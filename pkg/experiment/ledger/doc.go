// Package ledger judges what the paper printed by what this project stored. There are two kinds of rows, and a list of errata.
//
// Numbers are the entries of Tables 1 to 3 and the points of Figures 1 to 3, each once. One rule judges all that are random
// ([Row.number]): a published number is reproduced if it lies inside the interval in which 95 % of further draws of ours would
// lie, and not reproduced if that remains improbable after correction for all numbers. Runs that diverged, which end above where
// training began, are counted apart, and an interval whose ends differ by more than a factor of ten gives no verdict. Times are
// compared as one ratio for each pair of PL and VFE: machines and libraries differ, so only which of the two is faster counts.
//
// Claims are the statements on which the paper's conclusions rest, in its words, each with a rule in the code and with the
// evidence that would overturn it. Those that are random have a test over draws, corrected for all claims: what several settings
// of one draw show is counted once. A claim about every kernel or every n must hold for each, not for their mean. A claim that
// rests on others follows from their verdicts.
//
// Errata are misprints and settings of the authors' code, which overturn no claim by themselves. docs/errata.md is made from
// them.
package ledger
