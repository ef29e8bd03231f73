//! What `triphammer report` can make of a stored job. A new format is one line in [`Format::ALL`] and one
//! arm in [`Format::render`].

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
    /// A run's seconds, one JSON object a line.
    JsonLines,
    /// A run's histograms as an HdrHistogram interval log.
    Hdr,
    /// What had to hold and whether it did, as JUnit XML.
    Junit,
    /// One page that holds all and draws itself.
    Html,
}

impl Format {
    /// Every format with its name and the ending of its files.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Text, "text", "txt"),
        (Self::Json, "json", "json"),
        (Self::Markdown, "markdown", "md"),
        (Self::Csv, "csv", "csv"),
        (Self::JsonLines, "jsonl", "jsonl"),
        (Self::Hdr, "hdr", "hdr"),
        (Self::Junit, "junit", "xml"),
        (Self::Html, "html", "html"),
    ];

    /// The format that a file's ending stands for.
    ///
    /// # Errors
    /// With the endings that stand for one.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let found = Self::ALL.iter().find(|(.., known)| *known == ending.to_lowercase());
        found.map(|(format, ..)| *format).ok_or_else(|| {
            let endings: Vec<_> =
                Self::ALL.iter().map(|(.., ending)| format!(".{ending}")).collect();
            format!(
                "the ending of {} stands for no format; give --format, or one of {}",
                path.display(),
                endings.join(", ")
            )
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).expect("ALL has every format").1
    }

    /// The ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).expect("ALL has every format").2
    }

    /// Whether jobs of a kind have something of this form.
    #[must_use]
    pub const fn is_of(self, kind: JobKind) -> bool {
        match self {
            Self::Text | Self::Json | Self::Html => true,
            Self::Junit => matches!(kind, JobKind::Run | JobKind::Check),
            Self::Markdown => kind.drives(),
            Self::Csv | Self::JsonLines | Self::Hdr => matches!(kind, JobKind::Run),
        }
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
        page: impl FnOnce(&Store, &StoredJob) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let refused = |error: StoreError| Failure::refuse(error.to_string());
        let text =
            || stored(job, charset).map(|text| printable(&text).into_owned()).map_err(refused);
        match self {
            Self::Text => text(),
            Self::Json => Ok(stored_json(job)),
            Self::Markdown => {
                let found = Document::stored(job).map_err(refused)?;
                found.as_ref().and_then(document_markdown).map_or_else(text, Ok)
            }
            Self::Csv => self.series(store, job, Layout::Csv),
            Self::JsonLines => self.series(store, job, Layout::JsonLines),
            Self::Hdr => {
                self.refuse_all_but_runs(job)?;
                let histograms = store.histograms(job.row.id, 0..u64::MAX).map_err(refused)?;
                Ok(hdr::hdr(job, &histograms))
            }
            Self::Junit => junit(job),
            Self::Html => page(store, job),
        }
    }

    fn series(self, store: &Store, job: &StoredJob, layout: Layout) -> Result<String, Failure> {
        self.refuse_all_but_runs(job)?;
        let refused = |error: StoreError| Failure::refuse(error.to_string());
        let seconds = store.seconds(job.row.id).map_err(refused)?;
        let series = store.series(job.row.id).map_err(refused)?;
        Ok(SeriesWriter::new(layout, &job.transactions).all(&seconds, &series))
    }

    fn refuse_all_but_runs(self, job: &StoredJob) -> Result<(), Failure> {
        if job.row.kind == JobKind::Run {
            return Ok(());
        }
        let (id, kind) = (job.row.id, job.row.kind.name());
        Err(Failure::refuse(format!(
            "job {id} is a {kind}: only runs have a {}",
            match self {
                Self::Hdr => "histogram log",
                _ => "series",
            }
        )))
    }
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
        Self::ALL.iter().find(|(_, name, _)| *name == text).map(|(format, ..)| *format).ok_or_else(
            || {
                let names: Vec<_> = Self::ALL.iter().map(|(_, name, _)| *name).collect();
                format!("no format is called `{text}`; there are {}", names.join(", "))
            },
        )
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
