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
    pub of: fn(JobKind) -> bool,
    /// Whether a command prints it by itself, without a stored job.
    pub is_printed: bool,
}

/// Every format.
pub static FORMATS: &[Declared] = &[
    Declared {
        format: Format::Text,
        name: "text",
        help: "what the command printed",
        ending: "txt",
        media_type: "text/plain; charset=utf-8",
        of: |_| true,
        is_printed: true,
    },
    Declared {
        format: Format::Json,
        name: "json",
        help: "the result document",
        ending: "json",
        media_type: "application/json",
        of: |_| true,
        is_printed: true,
    },
    Declared {
        format: Format::Markdown,
        name: "markdown",
        help: "for issues, wikis and change requests",
        ending: "md",
        media_type: "text/markdown; charset=utf-8",
        of: JobKind::drives,
        is_printed: true,
    },
    Declared {
        format: Format::Csv,
        name: "csv",
        help: "a run's seconds, comma-separated",
        ending: "csv",
        media_type: "text/csv; charset=utf-8",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    Declared {
        format: Format::JsonLines,
        name: "jsonl",
        help: "a run's seconds, one JSON object per line",
        ending: "jsonl",
        media_type: "application/jsonl",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    Declared {
        format: Format::Hdr,
        name: "hdr",
        help: "a run's histograms, as an HdrHistogram interval log",
        ending: "hdr",
        media_type: "text/plain; charset=utf-8",
        of: |kind| kind == JobKind::Run,
        is_printed: false,
    },
    Declared {
        format: Format::Junit,
        name: "junit",
        help: "what had to hold and whether it did, as JUnit XML",
        ending: "xml",
        media_type: "application/xml",
        of: |kind| matches!(kind, JobKind::Run | JobKind::Check),
        is_printed: false,
    },
    Declared {
        format: Format::Html,
        name: "html",
        help: "one page that holds everything and draws its own charts",
        ending: "html",
        media_type: "text/html; charset=utf-8",
        of: |_| true,
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
