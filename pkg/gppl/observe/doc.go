// Package observe has models of observations that are not Gaussian, around the Gaussian process of package gppl:
//
//   - FitRobust: Student-t noise, for readings that are wrong now and then; FindOutliers tests whether there are any.
//   - FitLaplace: counts, shares and events, whose Likelihood is Poisson, NegBinomial, Binomial or one of your own, by Laplace's
//     approximation; Counts is the forecast, a distribution over whole numbers.
//   - Warp: a transformation of the observations that makes them nearly Gaussian, such as the logarithm, Box–Cox or logit. Warped is
//     the forecast in the original unit.
package observe
