//! The report as a self-contained page: `ui/dist/report.html` with the data of a job, as the API
//! returns it. The page makes no network requests.

use serde::Serialize;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_store::{Scope, Store, StoreError, StoredJob};

use super::jobs::{JobDetail, ServerSettings};
use super::latency::{Heatmap, HeatmapParams, Percentiles};
use super::samples::JobSamples;
use super::series::{JobSeries, SeriesParams};
use crate::time::now;
use crate::ui;

/// Maximum points of the series: enough for the width of the page, and small enough to send.
const POINTS: u32 = 600;
/// Metrics of the chart of active sessions and its marks: those that `ui/src/lib/waits.ts` draws.
const SESSIONS_CHART: [&str; 4] = [
    "db.sessions.active",
    "postgresql.bgwriter.checkpoint.count",
    "postgresql.table.vacuum.count",
    "postgresql.autovacuum.workers",
];
/// The place for the job in the page.
const PLACE: [&str; 2] = ["<script id=\"job\" type=\"application/json\">", "</script>"];

/// Data of the page: `HtmlExport` in `ui/src/report/export.ts`.
#[derive(Debug, Serialize)]
struct HtmlExport {
    made_at: String,
    detail: JobDetail,
    series: Option<JobSeries>,
    /// What the chart of active sessions shows.
    samples: Option<JobSamples>,
    percentiles: Option<Percentiles>,
    heatmap: Option<Heatmap>,
    server: Option<ServerSettings>,
}

/// Renders a stored job as a self-contained page.
///
/// # Errors
/// When this program was built without its web interface, or the store cannot be read.
pub fn page(store: &Store, job: &StoredJob) -> Result<String, Failure> {
    page_at(store, job, now())
}

/// Renders a job of a bundle: as [`page`], as of the end of the job, so that the same job gives the
/// same page.
///
/// # Errors
/// As [`page`].
pub fn page_of_bundle(store: &Store, job: &StoredJob) -> Result<String, Failure> {
    let ended = job.row.ended_at.clone().unwrap_or_default();
    page_at(store, job, ended)
}

fn page_at(store: &Store, job: &StoredJob, made_at: String) -> Result<String, Failure> {
    let template = template()?;
    let json = json_at(store, job, made_at)?;
    fill(&template, &json).ok_or_else(other_version)
}

fn template() -> Result<String, Failure> {
    ui::report().ok_or_else(|| {
        Failure::refuse(
            "this program was built without its web page, which the HTML report needs; run \
             `make install` in the source directory, which builds both, or use another format",
        )
    })
}

fn other_version() -> Failure {
    Failure::refuse(
        "the web page in this program has another version; run `make install` in the source \
         directory, which builds both",
    )
}

fn json_at(store: &Store, job: &StoredJob, made_at: String) -> Result<String, Failure> {
    let export =
        HtmlExport::of(store, job, made_at).map_err(|error| Failure::refuse(error.to_string()))?;
    Ok(escaped(&serde_json::to_string(&export).expect("an export is plain data")))
}

/// What all pages that [`page`] renders have in common, for many pages that share it: the page of a job
/// then has an element `app`, and an element `job` with [the job](job_of_bundle).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAssets {
    /// The style sheet.
    pub style: String,
    /// The script, which draws the job when the page is complete (`defer`).
    pub script: String,
}

impl SharedAssets {
    /// Takes them from the template.
    ///
    /// # Errors
    /// When this program was built without its web interface, or with another version of it.
    pub fn of_program() -> Result<Self, Failure> {
        let template = template()?;
        let between = |element: &str| {
            let rest = template.split_once(&format!("<{element} "))?.1.split_once('>')?.1;
            rest.split_once(&format!("</{element}>")).map(|(text, _)| text)
        };
        let (style, script) = between("style").zip(between("script")).ok_or_else(other_version)?;
        // As a module, which a browser does not load from a file: names of its own, and strict.
        let script = format!("(()=>{{\"use strict\";{script}\n}})();\n");
        Ok(Self { style: style.to_owned(), script })
    }
}

/// The data of a page of a bundle's job: JSON that may stand in an element `script`.
///
/// # Errors
/// When the store cannot be read.
pub fn job_of_bundle(store: &Store, job: &StoredJob) -> Result<String, Failure> {
    json_at(store, job, job.row.ended_at.clone().unwrap_or_default())
}

impl HtmlExport {
    fn of(store: &Store, job: &StoredJob, made_at: String) -> Result<Self, StoreError> {
        let (id, names) = (job.row.id, &job.transactions);
        let is_run = job.row.kind == JobKind::Run;
        let points = SeriesParams { points: Some(POINTS), ..SeriesParams::default() };
        let series = is_run.then(|| JobSeries::of(store, job, &points));
        let samples = is_run.then(|| JobSamples::drawn(store, id, &SESSIONS_CHART, POINTS));
        let percentiles = is_run.then(|| Percentiles::of(store, id, names, Scope::Window));
        let heatmap = is_run.then(|| Heatmap::of(store, id, None, &HeatmapParams::default()));
        let server = is_run.then(|| ServerSettings::of(store, id));
        Ok(Self {
            made_at,
            series: series.transpose()?,
            samples: samples.transpose()?,
            percentiles: percentiles.transpose()?,
            heatmap: heatmap.transpose()?,
            server: server.transpose()?,
            detail: JobDetail::of(store, job.clone())?,
        })
    }
}

/// The job in a page that [`page`] rendered, as JSON; `None` if there is none.
#[must_use]
pub fn job_in(page: &str) -> Option<&str> {
    let [before, after] = PLACE;
    let (_, rest) = page.split_once(before)?;
    rest.split_once(after).map(|(json, _)| json)
}

/// JSON without `<`, which could end the element, and without line separators, which end a line in
/// scripts.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Inserts the escaped job into the template.
fn fill(template: &str, json: &str) -> Option<String> {
    let [before, after] = PLACE;
    let (head, rest) = template.split_once(&format!("{before}null{after}"))?;
    Some(format!("{head}{before}{json}{after}{rest}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_in_a_job_ends_the_element_that_holds_it() {
        let label = "</script><script>alert(1)</script><!-- \u{2028}\u{2029}";
        let json = serde_json::json!({ "label": label }).to_string();
        let template = format!("<p>{}null{}</p>", PLACE[0], PLACE[1]);
        let page = fill(&template, &escaped(&json)).unwrap();
        let inside = page.split_once(PLACE[0]).unwrap().1.rsplit_once("</script></p>").unwrap().0;
        assert!(!inside.contains(['<', '\u{2028}', '\u{2029}']), "{inside}");
        let back: Value = serde_json::from_str(inside).unwrap();
        assert_eq!(back["label"], label);
        assert_eq!(fill("<p></p>", &json), None);
    }
}
