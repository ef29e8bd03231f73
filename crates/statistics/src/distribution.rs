//! Quantiles and tails of the distributions that the tests here use, from `statrs`.
