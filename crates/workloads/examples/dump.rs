use std::io::Write;
use triphammer_core::rows::{Cell, Rows};
use triphammer_core::value::write_decimal;
use triphammer_core::workload::{Workload, WorkloadSettings};
use triphammer_workloads::tproc_c::TprocC;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let scale: u32 = a[1].parse().unwrap();
    let dir = &a[2];
    let w = TprocC::new(&WorkloadSettings { scale, data_seed: 42, ..Default::default() }).unwrap();
    let mut rows = Rows::new();
    let start = std::time::SystemTime::now();
    let mut files = std::collections::BTreeMap::new();
    let mut n = 0;
    for part in w.parts() {
        for t in part.tables {
            let mut src = w.rows(&part, t);
            loop {
                rows.reset(t.columns.len());
                let more = src.fill(&mut rows);
                n += rows.len();
                if dir != "-" {
                    let f = files.entry(t.name).or_insert_with(|| std::io::BufWriter::new(std::fs::File::create(format!("{dir}/{}.tsv", t.name)).unwrap()));
                    for r in rows.iter() {
                        for c in 0..r.len() {
                            if c > 0 { f.write_all(b"\t").unwrap(); }
                            match r.cell(c) {
                                Cell::Null => f.write_all(b"\\N").unwrap(),
                                Cell::Int(v) => write!(f, "{v}").unwrap(),
                                Cell::Decimal { units, scale } => { let mut s = String::new(); write_decimal(&mut s, units, scale).unwrap(); f.write_all(s.as_bytes()).unwrap(); }
                                Cell::Timestamp(t) => write!(f, "{t}").unwrap(),
                                Cell::Text(s) => f.write_all(r.text_bytes(s)).unwrap(),
                                _ => unreachable!(),
                            }
                        }
                        f.write_all(b"\n").unwrap();
                    }
                }
                if !more { break; }
            }
        }
    }
    eprintln!("{n} rows in {:?}", start.elapsed());
}
