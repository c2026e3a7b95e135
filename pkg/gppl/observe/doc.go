// Package observe models observations that are not Gaussian, around the Gaussian process of package gppl:
//
//   - FitRobust: Student-t noise, for readings that are wrong now and then; FindOutliers tests whether there are any.
//   - FitLaplace: counts, shares and events, whose Likelihood is Poisson, NegBinomial, Binomial or one of your own, by Laplace's
//     approximation; Counts is the forecast, a distribution over whole numbers.
//   - Censored: Gaussian observations whose values end at bounds, such as per cent at 100 or rain of exactly 0, by expectation
//     propagation: the Gaussian data to train and to predict with.
package observe
