//! datagen: the files are those of dbgen, whole and in parts.

use std::fmt::Write as _;
use std::process::Command;

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use crate::program::{Program, finish};
use crate::rogue::watch_memory;

/// SHA-256 of the files at SF 0.01, as the text form of `tpchgen` itself has them, which is byte-identical with dbgen's.
/// DuckDB's own port of dbgen (1.5.5) has the same rows, but for addresses and comments.
const TPCH: [(&str, &str); 8] = [
    ("customer", "6b690cce995cb715861ebf2c77aa02c61406e3a0ddcd3326d1ecfa969b9163f8"),
    ("lineitem", "ee411d23efcd2943ef70489799e37dfc24543dbd03b461a88e16fd82a95765e4"),
    ("nation", "66f96949939fa8fdf1c4ffed1e5f6c2842fe11a14b51fdc6ed1e17460031e8c5"),
    ("orders", "07cc8b362fda6d0b503c4d6c5d228817548e0688a3b21b590c52bb47b7b79c0f"),
    ("part", "896e14465325110dd9cf05a16972028a58be0010959262176ecd97f4db1702f8"),
    ("partsupp", "5947b5ebab042b49148f82c1324ad122f7e0d98cfadcbef12da0a5e239e09e79"),
    ("region", "6022658d673924389b54dcb70fa8c3d6da1b0d7afa3c1c017bab62a019df404f"),
    ("supplier", "9dc1002ee774699a092ed83ba278caf466d62a15d7e35bb6ed9293475528734b"),
];

fn sha256(program: &Program, file: &str) -> String {
    let done = Command::new("sha256sum").arg(program.path(file)).output().unwrap();
    String::from_utf8(done.stdout).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn tbl_files_are_byte_for_byte_those_of_dbgen() {
    let program = Program::new();
    let printed = program.ok(&["datagen", "-w", "tproc-h", "--scale", "0.01", "-o", "made/here"]);
    assert!(printed.starts_with("TPROC-H with 0.01 SF in made/here: "), "{printed}");
    for (table, expected) in TPCH {
        assert_eq!(sha256(&program, &format!("made/here/{table}.tbl")), expected, "{table}");
    }
    let again = program.run(&["datagen", "-w", "tproc-h", "--scale", "0.01", "-o", "made/here"]);
    assert!(again.code == 2 && again.err.contains("region.tbl exists already"), "{}", again.err);
}

/// Compares a file with the rows that `tpchgen` itself writes.
fn same(program: &Program, table: &str, rows: impl Iterator<Item = impl std::fmt::Display>) {
    // Without -o, in a folder named after the workload.
    let file = std::fs::read_to_string(program.path(&format!("tproc-h/{table}.tbl"))).unwrap();
    let mut lines = file.lines();
    let mut expected = String::new();
    for (number, row) in rows.enumerate() {
        expected.clear();
        write!(expected, "{row}").unwrap();
        assert_eq!(lines.next(), Some(&*expected), "row {number} of {table}");
    }
    assert_eq!(lines.next(), None, "{table}");
}

/// A larger size, in several chunks; the rows of a tenth of a scale factor reach all of the pool of texts.
#[test]
fn tbl_files_of_several_chunks_are_those_of_the_generators_own_writer() {
    let program = Program::new();
    program.ok(&["datagen", "-w", "tproc-h", "--scale", "0.1"]);
    same(&program, "region", RegionGenerator::new(0.1, 1, 1).iter());
    same(&program, "nation", NationGenerator::new(0.1, 1, 1).iter());
    same(&program, "supplier", SupplierGenerator::new(0.1, 1, 1).iter());
    same(&program, "part", PartGenerator::new(0.1, 1, 1).iter());
    same(&program, "partsupp", PartSuppGenerator::new(0.1, 1, 1).iter());
    same(&program, "customer", CustomerGenerator::new(0.1, 1, 1).iter());
    same(&program, "orders", OrderGenerator::new(0.1, 1, 1).iter());
    same(&program, "lineitem", LineItemGenerator::new(0.1, 1, 1).iter());
}

/// The pool of texts takes 79 MB, and nothing grows with the data.
#[test]
fn the_client_needs_little_memory() {
    let program = Program::new();
    let mut child = program.start(&["datagen", "-w", "tproc-h", "--scale", "0.1"]);
    let peak_kib = watch_memory(&mut child);
    assert_eq!(finish(child).code, 0);
    assert!((20_000..150_000).contains(&peak_kib), "{peak_kib} KiB");
}

#[test]
fn parts_together_are_the_whole() {
    let program = Program::new();
    let args = ["datagen", "-w", "tproc-h", "--scale", "0.03"];
    let whole = program.json(&[&args[..], &["-o", "whole"]].concat());
    let parts = program.json(&[&args[..], &["-o", "parts", "--parts", "4"]].concat());
    assert_eq!((&whole["rows"], &whole["bytes"]), (&parts["rows"], &parts["bytes"]));
    assert_eq!((whole["files"].as_u64(), parts["files"].as_u64()), (Some(8), Some(2 + 3 * 6)));
    for (table, _) in TPCH {
        let read = |name: String| std::fs::read(program.path(&name)).unwrap_or_default();
        let together = (1..=4).flat_map(|part| read(format!("parts/{table}.tbl.{part}")));
        let together: Vec<u8> = together.collect();
        assert!(!together.is_empty() && together == read(format!("whole/{table}.tbl")), "{table}");
    }
}

#[test]
fn tproc_c_has_files_too() {
    let program = Program::new();
    program.ok(&["datagen", "--format", "csv", "--parts", "2", "-o", "c"]);
    let items = std::fs::read_to_string(program.path("c/item.csv.1")).unwrap();
    assert_eq!(items.lines().count(), 100_001);
    assert!(items.starts_with("i_id,i_im_id,i_name,i_price,i_data\n1,"), "{items:.80}");
    let orders = std::fs::read_to_string(program.path("c/orders.csv.2")).unwrap();
    assert_eq!(orders.lines().count(), 30_001);
    let open = orders.lines().filter(|line| line.split(',').nth(5) == Some("")).count();
    assert_eq!(open, 9_000, "orders that no carrier has are NULL there");
    assert!(!program.path("c/item.csv.2").exists() && !program.path("c/orders.csv.1").exists());
}

#[test]
fn what_cannot_be_written_is_rejected_with_the_reason() {
    let program = Program::new();
    std::fs::write(program.path("file"), "").unwrap();
    for (args, why) in [
        (&["--format", "orc"][..], "unknown format `orc`: expected tbl or csv"),
        (&["--parts", "3"], "must be at most 2, got 3"),
        (&["-w", "tproc-h", "--seed", "2"], "has no seed"),
        (&["-o", "file/below"], "writing file/below: Not a directory"),
    ] {
        let done = program.run(&[&["datagen"], args].concat());
        assert!(done.code == 2 && done.err.contains(why), "{args:?}: {}", done.err);
    }
}
