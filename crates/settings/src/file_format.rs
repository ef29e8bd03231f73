//! The formats of the files, and their lines.

use std::io;

use triphammer_core::row_lines;
use triphammer_core::rows::Row;

/// The forms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// As `dbgen` writes them: each field ends with `|`, NULL is empty.
    Tbl,
    /// Comma-separated by RFC 4180, the first line with the names of the columns, NULL empty without quotes.
    Csv,
    /// Parquet, compressed with Snappy.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl FileFormat {
    /// Every format with the word that settings take, which ends the files' names too, and its meaning.
    pub const ALL: &[(Self, &'static str, &'static str)] = &[
        (Self::Tbl, "tbl", "fields that end with |, as dbgen writes them"),
        (Self::Csv, "csv", "comma-separated, with a line of names"),
        #[cfg(feature = "parquet")]
        (Self::Parquet, "parquet", "columns, compressed with Snappy"),
    ];

    /// The word that settings take, which also ends the files' names.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).expect("ALL has every format").1
    }

    /// Reads the word of a format.
    ///
    /// # Errors
    /// Lists the known words.
    pub fn read(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, word, _)| *word == text.trim());
        found.map(|(format, ..)| *format).ok_or_else(|| {
            if text.trim() == "parquet" {
                return "this program was built without Parquet; build it with `cargo build --release --features \
                        parquet`, or use tbl or csv"
                    .to_owned();
            }
            let words = Self::ALL.iter().map(|(_, word, _)| *word).collect::<Vec<_>>().join(" or ");
            format!("unknown format `{text}`: expected {words}")
        })
    }

    /// Appends a row with the end of its line, in a format of lines.
    ///
    /// # Errors
    /// When a value of the row cannot be read.
    pub fn put(self, out: &mut Vec<u8>, row: Row<'_>) -> io::Result<()> {
        match self {
            Self::Tbl => row_lines::put_tbl(out, row),
            _ => row_lines::put_csv(out, row),
        }
    }
}
