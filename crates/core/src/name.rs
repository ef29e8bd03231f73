//! Names that are widely shared.

/// A name or a title: cheap to clone, whether it was compiled in or read from a file.
pub type Name = smol_str::SmolStr;
