//! The formats of reports, each declared once: name, ending, media type, the jobs that have it, and
//! what it is in a line. Command line, help, server and guide read this list. How a format is written is in
//! `report::output`.

use std::path::Path;

use crate::command::JobKind;

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

/// What is known of a format.
#[derive(Debug)]
pub struct Declared {
    /// The format.
    pub format: Format,
    /// Its name.
    pub name: &'static str,
    /// What it is, for the guide.
    pub help: &'static str,
    /// The ending of its files.
    pub ending: &'static str,
    /// What a browser is told that it is.
    pub media_type: &'static str,
    /// The jobs that have it.
    pub of: &'static [JobKind],
    /// Whether a command prints it by itself, without a stored job.
    pub is_printed: bool,
}

/// Jobs that measured something.
const MEASURED: &[JobKind] = &[JobKind::Run, JobKind::Profile, JobKind::Capacity, JobKind::Compare];
/// Those that have seconds.
const RUNS: &[JobKind] = &[JobKind::Run];

/// Every format.
pub static FORMATS: &[Declared] = &[
    Declared {
        format: Format::Text,
        name: "text",
        help: "the text that the command printed",
        ending: "txt",
        media_type: "text/plain; charset=utf-8",
        of: &JobKind::ALL,
        is_printed: true,
    },
    Declared {
        format: Format::Json,
        name: "json",
        help: "the result document",
        ending: "json",
        media_type: "application/json",
        of: &JobKind::ALL,
        is_printed: true,
    },
    Declared {
        format: Format::Markdown,
        name: "markdown",
        help: "for issues, wikis and pull requests",
        ending: "md",
        media_type: "text/markdown; charset=utf-8",
        of: MEASURED,
        is_printed: true,
    },
    Declared {
        format: Format::Csv,
        name: "csv",
        help: "the seconds of a run, comma-separated",
        ending: "csv",
        media_type: "text/csv; charset=utf-8",
        of: RUNS,
        is_printed: false,
    },
    Declared {
        format: Format::JsonLines,
        name: "jsonl",
        help: "the seconds of a run, one JSON object per line",
        ending: "jsonl",
        media_type: "application/jsonl",
        of: RUNS,
        is_printed: false,
    },
    Declared {
        format: Format::Hdr,
        name: "hdr",
        help: "the histograms of a run, as an HdrHistogram interval log",
        ending: "hdr",
        media_type: "text/plain; charset=utf-8",
        of: RUNS,
        is_printed: false,
    },
    Declared {
        format: Format::Junit,
        name: "junit",
        help: "requirements and checks with their results, as JUnit XML",
        ending: "xml",
        media_type: "application/xml",
        of: &[JobKind::Run, JobKind::Check],
        is_printed: false,
    },
    Declared {
        format: Format::Html,
        name: "html",
        help: "a self-contained web page with charts",
        ending: "html",
        media_type: "text/html; charset=utf-8",
        of: &JobKind::ALL,
        is_printed: false,
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
                "unknown file extension in {}; give --format, or use one of {}",
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
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|known| known.name == text);
        found.map(|known| known.format).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|known| known.name).collect();
            format!("unknown format `{text}`; use one of {}", names.join(", "))
        })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
