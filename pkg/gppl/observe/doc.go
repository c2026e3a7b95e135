// Package observe models observations that are not Gaussian, around the Gaussian process of package gppl:
//
//   - FitRobust: Student-t noise, for readings that are wrong now and then; FindOutliers tests whether there are any.
//   - FitLaplace: counts, shares and events, whose Likelihood is Poisson, NegBinomial, Binomial or one of your own, by Laplace's
//     approximation; Counts is the forecast, a distribution over whole numbers.
//   - Censored: Gaussian observations that are censored at bounds, such as percentages at 100 or rain at 0; expectation
//     propagation gives the Gaussian data to train and to predict with.
package observe
