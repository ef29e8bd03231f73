//! Boards with the real program: files, exit codes, signatures of submitters.

use std::process::Command;

use crate::program::Program;

/// A run of the null database.
const RUN: [&str; 10] =
    ["run", "null:?service=2ms", "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "1s"];

#[test]
fn a_board_is_written_replaced_and_never_put_over_other_files() {
    let program = Program::new();
    program.ok(&RUN);
    std::fs::create_dir(program.path("results")).unwrap();
    program.ok(&["bundle", "last", "-o", "results/a.zip"]);
    let out = program.ok(&["board", "results", "-o", "site", "--title", "Ours & theirs"]);
    assert!(
        out.contains("wrote site/index.html: 0 results with a rank, 1 result without one"),
        "{out}"
    );
    let index = std::fs::read_to_string(program.path("site/index.html")).unwrap();
    assert!(index.contains("<title>Ours &amp; theirs</title>"), "{index}");
    // The bundle can be downloaded as it is.
    let verified = program.ok(&["verify", "site/results/a/bundle.zip"]);
    assert!(verified.contains("Everything agrees."), "{verified}");
    program.ok(&["board", "results", "-o", "site"]);
    std::fs::write(program.path("site/CNAME"), "x").unwrap();
    let refused = program.run(&["board", "results", "-o", "site"]);
    assert!(refused.code == 2 && refused.err.contains("has CNAME"), "{refused:?}");
    for (folder, reason) in [("nowhere", "is not a folder"), ("site", "has no bundle")] {
        let refused = program.run(&["board", folder, "-o", "other"]);
        assert!(refused.code == 2 && refused.err.contains(reason), "{refused:?}");
    }
    assert!(!program.path("other").exists());
}

#[test]
fn the_key_that_a_submitter_names_must_have_signed() {
    let program = Program::new();
    program.ok(&RUN);
    std::fs::create_dir(program.path("results")).unwrap();
    for key in ["own", "other"] {
        let mut keygen = Command::new("ssh-keygen");
        let path = program.path("results").join(key);
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
        assert!(keygen.status().unwrap().success(), "apt-get install openssh-client");
    }
    program.ok(&["bundle", "last", "-o", "results/a.zip", "--sign", "results/own"]);
    let label = |key: &str| {
        let text = format!("submitter = \"Ann\"\nkind = \"community\"\nsigner = \"{key}.pub\"\n");
        std::fs::write(program.path("results/a.toml"), text).unwrap();
        program.run(&["board", "results"])
    };
    assert_eq!(label("own").code, 0);
    let page = std::fs::read_to_string(program.path("site/results/a/index.html")).unwrap();
    assert!(page.contains("the key that the submitter names"), "{page}");
    let refused = label("other");
    assert!(refused.code == 2 && refused.err.contains("signed by another key"), "{refused:?}");
}
