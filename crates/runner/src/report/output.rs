//! What `triphammer report` can make of a stored job. A new format is a word in [`Format`] and one entry
//! in [`FORMATS`].

use std::path::Path;

use super::series::{Layout, SeriesWriter};
use super::text::printable;
use super::{Charset, document_markdown, hdr, junit, stored, stored_json};
use crate::failure::Failure;
use crate::job::Document;
use crate::result::JobKind;
use crate::store::{Store, StoreError, StoredJob};

/// A form of a stored job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As its command printed it.
    Text,
    /// The document.
    Json,
    /// For issues, wikis and change requests.
    Markdown,
    /// A run's seconds, comma-separated.
    Csv,
    /// A run's seconds, one JSON object per line.
    JsonLines,
    /// A run's histograms as an HdrHistogram interval log.
    Hdr,
    /// What had to hold and whether it did, as JUnit XML.
    Junit,
    /// One page that holds all and draws itself.
    Html,
}

/// What is known of a format: everything that names or offers formats reads this.
#[derive(Debug)]
pub struct Declared {
    /// The format.
    pub format: Format,
    /// Its name.
    pub name: &'static str,
    /// The ending of its files.
    pub ending: &'static str,
    /// What a browser is told that it is.
    pub media_type: &'static str,
    /// The jobs that have it.
    pub of: &'static [JobKind],
    render: fn(&Asked<'_>) -> Result<String, Failure>,
}

/// What is asked for.
struct Asked<'a> {
    format: &'static Declared,
    store: &'a Store,
    job: &'a StoredJob,
    charset: Charset,
    page: &'a Page<'a>,
}

/// Makes the HTML page.
type Page<'a> = dyn Fn(&Store, &StoredJob) -> Result<String, Failure> + 'a;

/// Jobs that measured something.
const MEASURED: &[JobKind] = &[JobKind::Run, JobKind::Profile, JobKind::Capacity, JobKind::Compare];
/// Those that have seconds.
const RUNS: &[JobKind] = &[JobKind::Run];

/// Every format.
pub static FORMATS: &[Declared] = &[
    Declared {
        format: Format::Text,
        name: "text",
        ending: "txt",
        media_type: "text/plain; charset=utf-8",
        of: &JobKind::ALL,
        render: text,
    },
    Declared {
        format: Format::Json,
        name: "json",
        ending: "json",
        media_type: "application/json",
        of: &JobKind::ALL,
        render: |asked| Ok(stored_json(asked.job)),
    },
    Declared {
        format: Format::Markdown,
        name: "markdown",
        ending: "md",
        media_type: "text/markdown; charset=utf-8",
        of: MEASURED,
        render: |asked| {
            let found = Document::stored(asked.job).map_err(refused)?;
            found.as_ref().and_then(document_markdown).map_or_else(|| text(asked), Ok)
        },
    },
    Declared {
        format: Format::Csv,
        name: "csv",
        ending: "csv",
        media_type: "text/csv; charset=utf-8",
        of: RUNS,
        render: |asked| series(asked, Layout::Csv),
    },
    Declared {
        format: Format::JsonLines,
        name: "jsonl",
        ending: "jsonl",
        media_type: "application/jsonl",
        of: RUNS,
        render: |asked| series(asked, Layout::JsonLines),
    },
    Declared {
        format: Format::Hdr,
        name: "hdr",
        ending: "hdr",
        media_type: "text/plain; charset=utf-8",
        of: RUNS,
        render: |asked| {
            refuse_all_but_runs(asked)?;
            let job = asked.job;
            let histograms = asked.store.histograms(job.row.id, 0..u64::MAX).map_err(refused)?;
            Ok(hdr::hdr(job, &histograms))
        },
    },
    Declared {
        format: Format::Junit,
        name: "junit",
        ending: "xml",
        media_type: "application/xml",
        of: &[JobKind::Run, JobKind::Check],
        render: |asked| junit(asked.job),
    },
    Declared {
        format: Format::Html,
        name: "html",
        ending: "html",
        media_type: "text/html; charset=utf-8",
        of: &JobKind::ALL,
        render: |asked| (asked.page)(asked.store, asked.job),
    },
];

impl Format {
    /// The format for a file name extension.
    ///
    /// # Errors
    /// With the extensions of the formats.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let found = FORMATS.iter().find(|known| known.ending == ending.to_lowercase());
        found.map(|known| known.format).ok_or_else(|| {
            let endings: Vec<_> =
                FORMATS.iter().map(|known| format!(".{}", known.ending)).collect();
            format!(
                "the ending of {} is an unknown format; give --format, or one of {}",
                path.display(),
                endings.join(", ")
            )
        })
    }

    /// What is known of it.
    ///
    /// # Panics
    /// When it is not in [`FORMATS`]: a defect.
    #[must_use]
    pub fn declared(self) -> &'static Declared {
        FORMATS.iter().find(|known| known.format == self).expect("every format is declared")
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declared().name
    }

    /// The ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        self.declared().ending
    }

    /// A stored job in this form; `charset` is what its reader can show. `page` makes the HTML page: that is
    /// part of the web interface, which stands on this crate.
    ///
    /// # Errors
    /// When the job has nothing of that form, or cannot be read.
    pub fn render(
        self,
        store: &Store,
        job: &StoredJob,
        charset: Charset,
        page: impl Fn(&Store, &StoredJob) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let format = self.declared();
        (format.render)(&Asked { format, store, job, charset, page: &page })
    }
}

fn refused(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

fn text(asked: &Asked<'_>) -> Result<String, Failure> {
    stored(asked.job, asked.charset).map(|text| printable(&text).into_owned()).map_err(refused)
}

fn series(asked: &Asked<'_>, layout: Layout) -> Result<String, Failure> {
    refuse_all_but_runs(asked)?;
    let (store, job) = (asked.store, asked.job);
    let seconds = store.seconds(job.row.id).map_err(refused)?;
    let series = store.series(job.row.id).map_err(refused)?;
    Ok(SeriesWriter::new(layout, &job.transactions).all(&seconds, &series))
}

fn refuse_all_but_runs(asked: &Asked<'_>) -> Result<(), Failure> {
    let row = &asked.job.row;
    if asked.format.of.contains(&row.kind) {
        return Ok(());
    }
    let (id, kind) = (row.id, row.kind.name());
    let what = if asked.format.format == Format::Hdr { "histogram log" } else { "series" };
    Err(Failure::refuse(format!("job {id} is a {kind}: only runs have a {what}")))
}

fn junit(job: &StoredJob) -> Result<String, Failure> {
    let row = &job.row;
    if let Some(suite) =
        Document::stored(job).map_err(Failure::from_store)?.map(|found| junit::of(&found))
    {
        let none = || {
            let message = format!("job {} is a {}: nothing had to hold", row.id, row.kind.name());
            Failure::refuse(message)
        };
        return suite.map(|suite| suite.xml()).ok_or_else(none);
    }
    let document = job.document.as_ref();
    let reason = document.and_then(serde_json::Value::as_str).unwrap_or(row.status.name());
    Ok(junit::of_failure(row.kind.name(), &row.workload, reason).xml())
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|known| known.name == text);
        found.map(|known| known.format).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|known| known.name).collect();
            format!("no format is called `{text}`; there are {}", names.join(", "))
        })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
