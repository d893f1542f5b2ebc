"""Parts of the Gaussian process: covariance functions, hyper-parameters, likelihood, and experts for many runs."""
