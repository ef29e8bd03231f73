//! The documents of jobs and of the other commands: what was found, as it is stored, printed and read
//! again. They are computed by pure functions, without access to clocks, files or databases. The
//! document of a run is in [`result`].

pub mod any;
pub mod build;
pub mod capacity;
pub mod capture;
pub mod check;
pub mod compare;
pub mod datagen;
pub mod doctor;
pub mod drill;
pub mod history;
pub mod profile;
pub mod remove;
pub mod why;

pub(crate) use crate::result;
