//! Rebuilds the crate when a file under `sql/` is added or removed: the macro that embeds them
//! tracks changes of known files, but does not notice new ones.

fn main() {
    println!("cargo::rerun-if-changed=sql");
}
