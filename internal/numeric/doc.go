// Package numeric has numerics of a few lines that statistics need everywhere and packages math and gonum lack: which numbers are
// finite, quantiles, integrals, the minimum of a function of one variable, and second derivatives by differences of gradients.
package numeric
