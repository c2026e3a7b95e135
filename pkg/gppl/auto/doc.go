// Package auto searches for the optimum of a likelihood. It finds the scales and periods from which to train a kernel, chooses
// the loss, and reports which parts of the result are in doubt. The likelihood of a Gaussian process has many optima, and
// gppl.Fit ends at the nearest.
//
//   - Fit does everything: it searches, chooses the exact likelihood or a number of projections, trains, and reports doubts.
//   - FindStarts searches only. Starts.Train then trains any likelihood as Fit does.
//   - FitSums trains from sums over any amount of data (sums.Sums), without a search.
//   - StartFrom and LikelyPeriods read start values off the data in O(n log n), without evaluating a likelihood.
//
// # What is searched, in which order
//
//  1. Scales: every octave of lengthscales from the spacing of x to its range, and the periods that a periodogram shows, with
//     their doubles, halves and combs of harmonics. At irregular x that is a Lomb–Scargle periodogram with a floating mean
//     (Zechmeister and Kürster 2009), which shows periods below the mean spacing.
//  2. Screening: the profile likelihood of up to 240 kernels at these scales, each with several noise variances.
//  3. Training: the best of each scale for a few evaluations, the best of those for more (successive halving).
//  4. Changes of the best: other scales, neighbouring periods, terms that trade places or come back, less noise. Those that come
//     near are trained.
//  5. Beyond 400 observations, steps 2 to 4 see parts of the data, and then the periodogram of all (Whittle's likelihood).
//  6. The likelihood of all data, from what these found: Fit's own training, or yours from FindStarts.
//  7. Aliases: at irregular x, the periods that look nearly the same at these times as the one that was found.
//
// A kernel that depends on position (gppl.ChangePoint) is not searched.
//
// # What is in doubt
//
// Converged means that the search found nothing better, not that nothing better exists. The status is gppl.Doubtful, and the
// warnings say why, if a parameter was driven to the end of what x can show, if the noise vanished, if another period fits about
// as well, if the signal is no more than chance explains, if the curvature does not determine a parameter, or if the search ended
// while it still found better optima. Result.Search says what was searched.
//
// # Cost
//
// The search takes some thousand likelihoods of at most 400 observations, or of three parts of 128 each, and O(n log n) for
// periodograms: seconds, whatever n is. It is the same on every machine and any number of processors: no decision depends on the
// clock.
package auto
