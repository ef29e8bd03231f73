//! Warns if the program is built without its page, which cargo alone cannot build.

use std::path::Path;

fn main() {
    let page = "../../ui/dist/index.html";
    if Path::new(page).exists() {
        println!("cargo::rerun-if-changed={page}");
    } else {
        println!("cargo::rerun-if-changed=../../ui");
        println!(
            "cargo::warning=the page of `triphammer serve` is not built, so the program will be without it: \
             `make install` builds both"
        );
    }
}
