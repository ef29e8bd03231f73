//! Boards of real bundles, and ranks of results that were made up from a real one.

use std::path::Path;

use tempfile::TempDir;
use triphammer_bundle::make::{Options, make};
use triphammer_document::JobId;
use triphammer_document::compare::Run;
use triphammer_runner::job::{Job, Order as JobOrder};
use triphammer_runner::watch::Silent;
use triphammer_settings::command::JobKind;
use triphammer_settings::target::NoSecrets;
use triphammer_settings::{Settings, Source};
use triphammer_store::Store;

use super::*;

/// A folder with a job store, bundles in `results`, and a site.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("results")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a job on the null database.
    fn run(&self, kind: JobKind, given: &[(&str, &str)]) -> JobId {
        let mut settings = Settings::new(kind);
        let usual = [
            ("target", "null:?service=1ms"),
            ("workload", "tpc-b"),
            ("rampup", "0s"),
            ("duration", "1s"),
            ("vus", "2"),
        ];
        for (name, value) in given.iter().chain(&usual) {
            settings.set(name, *value, Source::Flag);
        }
        let store = Some(self.path("jobs.sqlite"));
        let mut job = Job::new(JobOrder { store, ..JobOrder::new(settings, &NoSecrets) }).unwrap();
        job.run(&mut Silent).unwrap().job.unwrap()
    }

    fn bundle(&self, job: JobId, name: &str, anonymous: bool) {
        let store = Store::open_to_read(&self.path("jobs.sqlite")).unwrap();
        let options = Options { anonymous, key: None };
        let (bundle, _) = make(&store, &[job], options).unwrap();
        let path = self.path("results").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bundle).unwrap();
    }

    fn build(&self) -> Result<Built, String> {
        let (folder, site) = (self.path("results"), self.path("site"));
        let order = Order {
            folder: &folder,
            site: &site,
            title: "Tests",
            progress: &|_, _| {},
            is_stopped: &|| false,
        };
        build(order).map(Option::unwrap).map_err(|failure| failure.to_string())
    }

    fn page(&self, name: &str) -> String {
        std::fs::read_to_string(self.path("site").join(name)).unwrap()
    }
}

fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for item in std::fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    all.sort();
    all
}

#[test]
fn a_site_says_who_submits_what_was_verified_and_why_there_is_no_rank() {
    let place = Place::new();
    let label = "<script>alert(1)</script>";
    place.bundle(place.run(JobKind::Run, &[("label", label)]), "night.zip", false);
    let profile = [("vus", "1,2"), ("repeats", "1")];
    place.bundle(place.run(JobKind::Profile, &profile), "vendor/profile.zip", false);
    let toml = "submitter = \"<b>Ann</b> & Co\"\nkind = \"vendor\"\nfunded-by = \"\\\"Ex\\\"\"";
    std::fs::write(place.path("results/night.toml"), toml).unwrap();
    let built = place.build().unwrap();
    assert_eq!(built, Built { ranked: 0, unranked: 2, unverified: 0 });
    let index = place.page("index.html");
    for part in [
        "&lt;b&gt;Ann&lt;/b&gt; &amp; Co",
        "funded by &quot;Ex&quot;",
        ">vendor<",
        ">verified<",
        "a window of 1s is a first impression",
        "a profile: only runs have a rank",
        "results/vendor-profile/index.html",
    ] {
        assert!(index.contains(part), "{part}: {index}");
    }
    let page = place.page("results/night/index.html");
    for part in
        ["values were computed again, and agree", "It is not compared with others", "p95 ms"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    for (path, content) in files(&place.path("site")) {
        let is_page = path.extension().is_some_and(|ending| ending == "html");
        let content = String::from_utf8_lossy(&content);
        assert!(!is_page || !content.contains("<script>alert"), "{}", path.display());
    }
    let listing: serde_json::Value = serde_json::from_str(&place.page("board.json")).unwrap();
    assert_eq!(listing["results"][0]["submitter"], "<b>Ann</b> & Co");
    let before = files(&place.path("site"));
    place.build().unwrap();
    assert!(files(&place.path("site")) == before, "the same folder gives the same site");
}

/// Replaces text in a part of a bundle, and its hash.
fn edit(path: &Path, part: &str, from: &str, to: &str) {
    let script = "import sys, zipfile, json, hashlib\n\
                  path, part, old, new = sys.argv[1:]\n\
                  z = zipfile.ZipFile(path); parts = {n: z.read(n) for n in z.namelist()}; z.close()\n\
                  assert old.encode() in parts[part]\n\
                  parts[part] = parts[part].replace(old.encode(), new.encode(), 1)\n\
                  z = zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED)\n\
                  [z.writestr(zipfile.ZipInfo(n), parts[n], zipfile.ZIP_DEFLATED) for n in sorted(parts)]\n\
                  z.close()";
    let mut python = std::process::Command::new("python3");
    python.args(["-c", script]).arg(path).args([part, from, to]);
    assert!(python.status().unwrap().success());
}

#[test]
fn what_does_not_agree_is_listed_apart_and_nothing_of_it_is_published() {
    let place = Place::new();
    place.bundle(place.run(JobKind::Run, &[]), "a.zip", false);
    place.bundle(place.run(JobKind::Run, &[("seed", "2")]), "b.zip", false);
    let evil = "<script>alert(2)</script>";
    edit(&place.path("results/b.zip"), "report.html", "</body>", evil);
    edit(&place.path("results/b.zip"), "document.json", "\"tpm_client\":", "\"tpm_client\":1");
    let built = place.build().unwrap();
    assert_eq!((built.unranked, built.unverified), (1, 1));
    let index = place.page("index.html");
    let apart = index.split_once("these do not agree with themselves").unwrap().1;
    assert!(
        apart.contains("document.json, tpm_client: written") && apart.contains("claims"),
        "{apart}"
    );
    assert!(!place.path("site/results/b/report.html").exists());
    let page = place.page("results/b/index.html");
    assert!(page.contains("values differ") && page.contains("tpm_client"), "{page}");
    for (path, content) in files(&place.path("site")) {
        let is_bundle = path.ends_with("bundle.zip");
        assert!(
            is_bundle || !String::from_utf8_lossy(&content).contains(evil),
            "{}",
            path.display()
        );
    }
}

#[test]
fn what_cannot_be_on_a_board_is_refused_and_nothing_is_written() {
    let place = Place::new();
    let job = place.run(JobKind::Run, &[("label", "night")]);
    place.bundle(job, "a.zip", false);
    std::fs::write(place.path("results/README.md"), "x").unwrap();
    std::fs::write(place.path("results/photo.zip"), "x").unwrap();
    std::fs::write(place.path("results/a.toml"), "submitter = 1").unwrap();
    let refused = place.build().unwrap_err();
    assert!(
        refused.contains("photo.zip is not a bundle") && refused.contains("a.toml:"),
        "{refused}"
    );
    std::fs::remove_file(place.path("results/photo.zip")).unwrap();
    std::fs::remove_file(place.path("results/a.toml")).unwrap();
    // The same job, once with its names and once without.
    place.bundle(job, "b.zip", true);
    let refused = place.build().unwrap_err();
    assert!(refused.contains("b.zip has a job that a.zip has, too"), "{refused}");
    assert!(!place.path("site").exists());
    let names = std::fs::read_dir(place.folder.path()).unwrap();
    let mut names = names.map(|item| item.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.starts_with(".triphammer-board")), None, "nothing is left");
    std::fs::remove_file(place.path("results/b.zip")).unwrap();
    place.build().unwrap();
}

/// Results like a real one, each with these values of its runs and this scale, whose method is beyond
/// doubt and whose database does work.
fn entries(of: &[(&[f64], u32)]) -> Vec<Entry> {
    let place = Place::new();
    place.bundle(place.run(JobKind::Run, &[]), "a.zip", false);
    let site = Site::begin(&place.path("site")).unwrap();
    let found = folder::find(&place.path("results"), &place.path("site")).unwrap();
    let mut made = Vec::new();
    for (number, (values, scale)) in of.iter().enumerate() {
        let mut entry = Entry::examine(&found[0], &site).unwrap();
        entry.found.method.clear();
        entry.slug = format!("r{number}");
        entry.head.product = "SQLite".to_owned();
        let mut result = entry.runs.remove(0).result;
        result.workload.scale = (*scale).into();
        result.server.product.clone_from(&entry.head.product);
        let run = |value: &f64| {
            let mut result = result.clone();
            result.primary_metric.value = *value;
            Run { result, server_settings: Vec::new(), seconds: Some(Default::default()) }
        };
        entry.runs = values.iter().map(run).collect();
        made.push(entry);
    }
    made
}

#[test]
fn results_of_the_same_work_have_ranks_and_others_say_what_differs() {
    let (fast, near) = (&[201.0, 200.0, 199.0][..], &[198.0, 201.0, 200.0][..]);
    let entries = entries(&[
        (&[100.0, 101.0, 102.0], 1),
        (fast, 1),
        (near, 1),
        (&[300.0, 301.0], 10),
        (&[99.0], 1),
    ]);
    let board = Board::of(&entries);
    let order: Vec<Vec<usize>> = (board.classes.iter())
        .map(|class| class.ranked.iter().map(|ranked| ranked.entry).collect())
        .collect();
    assert_eq!(order, [vec![1, 2, 0, 4], vec![3]]);
    let class = &board.classes[0];
    let apart: Vec<bool> = class.ranked.iter().map(rank::Ranked::is_apart).collect();
    // The second is as good as the first, the third is slower, of the last there is one run only.
    assert_eq!(apart, [true, false, true, false]);
    let verdicts: Vec<rank::Shown> =
        class.ranked.iter().filter_map(|of| Some(of.comparisons.last()?.verdict)).collect();
    assert_eq!(verdicts, [rank::Shown::Same, rank::Shown::Different, rank::Shown::Unknown]);
    assert_eq!(class.ranked[3].comparisons[0].interval, None, "one run has no interval");
    let own = rank::key(&entries[3]);
    assert_eq!(class.apart_from(&own), ["scale 1 instead of 10"]);
    let page = page_of(&entries, 3, &board);
    assert!(
        page.contains("No other result of the same work") && page.contains("scale 1 instead of 10")
    );
    let page = page_of(&entries, 0, &board);
    assert!(page.contains("it has less, beyond ± 5.0 %") && page.contains("rank 3 of 4"), "{page}");
}

#[test]
fn the_null_database_and_small_sets_of_queries_have_no_rank() {
    use triphammer_core::query_plan::QueryTest;
    use triphammer_document::result::{AnswerComparison, QueriesResult};

    let mut entries = entries(&[
        (&[100.0], 1),
        (&[100.0, 101.0], 1),
        (&[100.0], 1),
        (&[100.0], 1),
        (&[100.0], 1),
    ]);
    // One run of several is enough.
    entries[1].runs[1].result.server.product = "null".to_owned();
    let sets = [(1_000, 61.0), (10, 61.0), (1_000, 0.34)];
    for (entry, (thousandths, seconds)) in entries[2..].iter_mut().zip(sets) {
        let result = &mut entry.runs[0].result;
        result.workload.scale_unit = "SF".to_owned();
        result.workload.scale = triphammer_core::Scale::from_thousandths(thousandths);
        result.durations.window_s = seconds;
        result.queries = Some(QueriesResult {
            test: QueryTest::Power,
            streams: 1,
            repeats: 1,
            query_timeout_s: None,
            figures: Vec::new(),
            repeat_figures: Vec::new(),
            queries: Vec::new(),
            steps: Vec::new(),
            answers: AnswerComparison::default(),
            engine_memory_bytes: None,
            plans: Vec::new(),
            usage_of: None,
            phases: Vec::new(),
        });
    }
    let board = Board::of(&entries);
    let reasons: Vec<String> =
        (0..entries.len()).map(|place| board.no_rank_because(place).join("; ")).collect();
    let wanted = [
        "",
        "the null database does no work",
        "",
        "data: 0.01 SF is a first impression; a rank needs at least 1 SF",
        "length: the set of queries took 340ms; a rank needs at least 1m",
    ];
    assert_eq!(reasons, wanted);
    assert_eq!(board.ranked(), 2);
}

#[test]
fn a_page_names_its_file_and_folds_the_clauses_of_a_standard() {
    use triphammer_document::doctor::SetupVerdict;
    use triphammer_document::method::MethodLine;

    let mut entries = entries(&[(&[100.0], 1)]);
    let line = |aspect: &str| MethodLine {
        job: None,
        aspect: aspect.to_owned(),
        verdict: SetupVerdict::Look,
        words: format!("words of {aspect}"),
    };
    entries[0].found.method = vec![line("TPC-C 2"), line("hosts"), line("TPC-C 8, 9")];
    let page = page_of(&entries, 0, &Board::of(&entries));
    assert!(page.contains("triphammer verify a.zip"), "{page}");
    let (shown, folded) = page.split_once("2 differences from TPC-C").unwrap();
    assert!(shown.contains("words of hosts") && !shown.contains("words of TPC-C"), "{page}");
    assert!(folded.contains("words of TPC-C 2") && folded.contains("TPC-C 8, 9"), "{page}");
}

fn page_of(entries: &[Entry], place: usize, board: &Board) -> String {
    let folder = TempDir::new().unwrap();
    let site = Site::begin(&folder.path().join("site")).unwrap();
    page::write(&site, "Tests", entries, board).unwrap();
    site.publish().unwrap();
    let path = folder.path().join("site").join(entries[place].file("index.html"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn prices_and_energies_are_sorted_and_filtered_within_their_kind() {
    use triphammer_document::energy::{Energy, EnergyFigures, EnergyOf, EnergySourceKind};
    use triphammer_document::price::{MeasuredRate, Payment, Price, PriceComponent, PriceList};

    let mut entries = entries(&[(&[100.0], 1), (&[100.0], 1)]);
    let of = [("EUR", EnergySourceKind::Rapl), ("USD", EnergySourceKind::PowerMetric)];
    for (entry, (currency, kind)) in entries.iter_mut().zip(of) {
        let result = &mut entry.runs[0].result;
        let server = PriceComponent {
            name: "server".into(),
            quantity: 1.0,
            price: 0.004,
            paid: Payment::Hour,
            source: "offer 7".into(),
        };
        let list = PriceList { currency: currency.into(), components: vec![server] };
        let counted = "transactions committed".to_owned();
        let rate = MeasuredRate { counted: counted.clone(), per_second: 100.0, interval: None };
        result.price = Some(Price::new(&list, &rate));
        let figures = EnergyFigures {
            of: EnergyOf::ServerHost,
            kind,
            counted,
            per_second: 100.0,
            watts: 60.0,
            joules_per_transaction: Some(0.6),
            primary_metric_per_watt: None,
            above_idle: None,
            client_cpu_share: None,
        };
        result.energy = Some(Energy { sources: vec![], figures: Some(figures), gaps: vec![] });
    }
    let folder = TempDir::new().unwrap();
    let site = Site::begin(&folder.path().join("site")).unwrap();
    page::write(&site, "Tests", &entries, &Board::of(&entries)).unwrap();
    site.publish().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join("site").join(name)).unwrap();
    let index = read("index.html");
    for part in [
        r#"select name="currency""#,
        r#"select name="source""#,
        r#"data-within="currency""#,
        "Price per million",
        r#"data-group="EUR""#,
        r#"data-currency="USD""#,
        r#"data-group="RAPL""#,
        "0.0111 EUR",
    ] {
        assert!(index.contains(part), "{part}: {index}");
    }
    let page = read(&entries[0].file("index.html"));
    assert!(page.contains("server: 0.00400 per hour") && page.contains("60.0 W by RAPL"), "{page}");
}
