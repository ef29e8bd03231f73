//! The report formats, each declared once: name, file extension, media type, the jobs that have it,
//! and a description. Command line, help, server and guide use this list. The rendering is in
//! the crate `report`.

use std::path::Path;

use crate::command::JobKind;

/// A format of a stored job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The full report as plain text.
    Text,
    /// The result document.
    Json,
    /// For issues, wikis and pull requests.
    Markdown,
    /// The seconds of a run, comma-separated.
    Csv,
    /// The seconds of a run, one JSON object per line.
    JsonLines,
    /// What was observed in each second of a run, comma-separated.
    ObservedCsv,
    /// What was observed in each second of a run, one JSON object per line.
    ObservedJsonLines,
    /// The histograms of a run, as an HdrHistogram interval log.
    Hdr,
    /// Requirements and checks with their results, as JUnit XML.
    Junit,
    /// A self-contained web page with charts.
    Html,
}

/// Declaration of a format.
#[derive(Debug)]
pub struct FormatDeclaration {
    /// The declared format.
    pub format: Format,
    /// Name in `--format`.
    pub name: &'static str,
    /// Description for the guide.
    pub help: &'static str,
    /// File name extension, without the dot. It may contain one.
    pub ending: &'static str,
    /// Media type, for HTTP responses.
    pub media_type: &'static str,
    /// Whether a kind of job has it.
    pub of: fn(JobKind) -> bool,
    /// Whether a command can print it directly, without a stored job.
    pub is_printed: bool,
}

/// Declarations of all formats.
pub static FORMATS: &[FormatDeclaration] = &[
    FormatDeclaration {
        format: Format::Text,
        name: "text",
        help: "the full report as plain text",
        ending: "txt",
        media_type: "text/plain; charset=utf-8",
        of: |_| true,
        is_printed: true,
    },
    FormatDeclaration {
        format: Format::Json,
        name: "json",
        help: "the result document",
        ending: "json",
        media_type: "application/json",
        of: |_| true,
        is_printed: true,
    },
    FormatDeclaration {
        format: Format::Markdown,
        name: "markdown",
        help: "for issues, wikis and pull requests",
        ending: "md",
        media_type: "text/markdown; charset=utf-8",
        of: |kind| kind.drives() || kind.has_own_load(),
        is_printed: true,
    },
    FormatDeclaration {
        format: Format::Csv,
        name: "csv",
        help: "the seconds of a run, comma-separated",
        ending: "csv",
        media_type: "text/csv; charset=utf-8",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::JsonLines,
        name: "jsonl",
        help: "the seconds of a run, one JSON object per line",
        ending: "jsonl",
        media_type: "application/jsonl",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::ObservedCsv,
        name: "observed-csv",
        help: "the observed figures of each second of a run, comma-separated",
        ending: "observed.csv",
        media_type: "text/csv; charset=utf-8",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::ObservedJsonLines,
        name: "observed-jsonl",
        help: "the observed figures of each second of a run, one JSON object per line",
        ending: "observed.jsonl",
        media_type: "application/jsonl",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::Hdr,
        name: "hdr",
        help: "the histograms of a run, as an HdrHistogram interval log",
        ending: "hdr",
        media_type: "text/plain; charset=utf-8",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::Junit,
        name: "junit",
        help: "requirements and checks with their results, as JUnit XML",
        ending: "xml",
        media_type: "application/xml",
        of: |kind| kind.has_own_load() || matches!(kind, JobKind::Run | JobKind::Check),
        is_printed: false,
    },
    FormatDeclaration {
        format: Format::Html,
        name: "html",
        help: "a self-contained web page with charts",
        ending: "html",
        media_type: "text/html; charset=utf-8",
        of: |_| true,
        is_printed: false,
    },
];

impl Format {
    /// The format for a file name extension; of several that fit, the longest.
    ///
    /// # Errors
    /// Lists the extensions of the formats.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.to_lowercase();
        let fits = |known: &&FormatDeclaration| {
            name.strip_suffix(known.ending).is_some_and(|stem| stem.ends_with('.'))
        };
        let found = FORMATS.iter().filter(fits).max_by_key(|known| known.ending.len());
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

    /// Declaration of the format.
    ///
    /// # Panics
    /// When it is missing in [`FORMATS`], which is a defect.
    #[must_use]
    pub fn declared(self) -> &'static FormatDeclaration {
        FORMATS.iter().find(|known| known.format == self).expect("every format is declared")
    }

    /// Name in `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declared().name
    }

    /// File name extension, without the dot.
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
