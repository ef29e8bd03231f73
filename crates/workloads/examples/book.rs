use triphammer_workloads::{books, tproc_c::TprocC};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let b = books::book::<TprocC>(&a[1], false).unwrap();
    match a[2].as_str() {
        "scripts" => for k in &a[3..] { for s in b.scripts(k) { println!("{}", s.sql); } },
        _ => for s in b.statements() { println!("-- {}\n{};\n", s.name, s.sql); },
    }
}
