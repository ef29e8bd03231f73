//! Renders a stored job for `triphammer report`. The formats are declared in `formats`; each is one
//! arm of [`render`] here.

use triphammer_document::series::{Layout, SeriesWriter};
use triphammer_settings::failure::Failure;
use triphammer_settings::formats::Format;
use triphammer_store::{Store, StoreError, StoredJob};

use super::observed_series::ObservedSeries;
use super::text::printable;
use super::{Charset, Report, hdr, junit, stored, stored_json};

/// Renders the job in this format.
struct FormatRequest<'a> {
    format: Format,
    store: &'a Store,
    job: &'a StoredJob,
    charset: Charset,
}

/// Renders a stored job in a format; `charset` is the character set of the reader. `page` renders
/// the HTML page, which is part of the web interface, a crate that depends on this one.
///
/// # Errors
/// When the job does not have this format, or cannot be read.
pub fn render(
    format: Format,
    store: &Store,
    job: &StoredJob,
    charset: Charset,
    page: impl Fn(&Store, &StoredJob) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let asked = &FormatRequest { format, store, job, charset };
    match format {
        Format::Text => text(asked),
        Format::Json => Ok(stored_json(job)),
        Format::Markdown => markdown(asked),
        Format::Csv => series(asked, Layout::Csv),
        Format::JsonLines => series(asked, Layout::JsonLines),
        Format::ObservedCsv => observed(asked, Layout::Csv),
        Format::ObservedJsonLines => observed(asked, Layout::JsonLines),
        Format::Hdr => histograms(asked),
        Format::Junit => junit(job),
        Format::Html => page(store, job),
    }
}

fn refused(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

fn text(asked: &FormatRequest<'_>) -> Result<String, Failure> {
    stored(asked.job, asked.charset).map(|text| printable(&text).into_owned()).map_err(refused)
}

fn markdown(asked: &FormatRequest<'_>) -> Result<String, Failure> {
    let found = asked.job.read_document().map_err(refused)?;
    found.as_ref().and_then(Report::markdown).map_or_else(|| text(asked), Ok)
}

fn histograms(asked: &FormatRequest<'_>) -> Result<String, Failure> {
    refuse_all_but_runs(asked)?;
    let histograms = asked.store.histograms(asked.job.row.id, 0..u64::MAX).map_err(refused)?;
    Ok(hdr::hdr(asked.job, &histograms))
}

fn series(asked: &FormatRequest<'_>, layout: Layout) -> Result<String, Failure> {
    refuse_all_but_runs(asked)?;
    let (store, job) = (asked.store, asked.job);
    let seconds = store.seconds(job.row.id).map_err(refused)?;
    let series = store.series(job.row.id).map_err(refused)?;
    Ok(SeriesWriter::new(layout, &job.transactions).all(&seconds, &series))
}

fn observed(asked: &FormatRequest<'_>, layout: Layout) -> Result<String, Failure> {
    refuse_all_but_runs(asked)?;
    let id = asked.job.row.id;
    let figures = ObservedSeries::read(asked.store, id).map_err(refused)?;
    figures.map(|figures| figures.write(layout)).ok_or_else(|| {
        let reason = "it ran with --no-observe, or ended before the first second";
        Failure::refuse(format!("job {id} has no observed figures: {reason}"))
    })
}

fn refuse_all_but_runs(asked: &FormatRequest<'_>) -> Result<(), Failure> {
    let row = &asked.job.row;
    if (asked.format.declared().of)(row.kind) {
        return Ok(());
    }
    let (id, kind) = (row.id, row.kind.noun());
    let what = match asked.format {
        Format::Hdr => "a histogram log",
        Format::ObservedCsv | Format::ObservedJsonLines => "observed figures",
        _ => "a series",
    };
    Err(Failure::refuse(format!("job {id} is a {kind}: only runs have {what}")))
}

fn junit(job: &StoredJob) -> Result<String, Failure> {
    let row = &job.row;
    if let Some(suite) = job.read_document().map_err(Failure::from)?.map(|found| found.junit()) {
        let none = || {
            let message = format!(
                "job {} is a {}: it has no requirements to report",
                row.id,
                row.kind.noun()
            );
            Failure::refuse(message)
        };
        return suite.map(|suite| suite.xml()).ok_or_else(none);
    }
    let document = job.document.as_ref();
    let reason = document.and_then(serde_json::Value::as_str).unwrap_or(row.status.name());
    Ok(junit::of_failure(row.kind.name(), &row.workload, reason).xml())
}
