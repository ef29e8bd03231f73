//! TPROC-C on real databases: the same inputs leave the same rows and give the same outputs in both
//! modes and on every database, the checks hold after that and find what is planted, and concurrent
//! transactions on the same rows are safe.

mod checks;
mod meeting;
mod same;
mod site;
