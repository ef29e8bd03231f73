//! Rebuilds the crate when a file under `sql/` comes or goes: the macro that embeds them follows
//! changes of the files it saw, but does not see new ones.

fn main() {
    println!("cargo::rerun-if-changed=sql");
}
